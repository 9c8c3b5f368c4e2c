import type { NamedModel } from '@signalbox/dialects/common'
import { bringsTools, unpricedToolOf } from '@signalbox/dialects/common'
import type { Model } from '@signalbox/dialects/protocol'
import { type DialectName, dialectFor, innerDialect } from '@signalbox/dialects/protocol'
import { quoted } from './check-routing.ts'
import type { NativeNeed } from './media-needs.ts'
import { refusedMedia } from './media-rules.ts'
import { type Needs, type RoutingQuery, restrictsModels } from './needs.ts'
import { dataPolicyOf, lacksAbility, maxInputTokensOf, mayOpenStored, meetsDataPolicy, priceAboveLimit, quirksOf } from './offer-facts.ts'
import type { Candidate, ExclusionCode } from './plan.ts'

export interface ExclusionRule {
  readonly code: ExclusionCode
  /** The field of the request that the rule reads. */
  readonly param?: string | ((candidate: Candidate, query: RoutingQuery) => string | undefined)
  /** What the client can do, unless the reason says it. */
  readonly suggestion?: string | ((candidate: Candidate, query: RoutingQuery) => string | undefined)
  /** Whether the rule is relevant to this request. Most requests need few rules, and the others are skipped for all candidates. */
  readonly applies: (query: RoutingQuery) => boolean
  /** Whether the rule excludes this candidate. */
  readonly excludes: (candidate: Candidate, query: RoutingQuery) => boolean
  /** Whether the same offer can pass with another account at the provider. */
  readonly dependsOnAccount?: true
  /** The reason, as part of the message. */
  readonly reason: string | ((candidate: Candidate, query: RoutingQuery) => string)
}

/**
 * The exclusion rules in order: the first rule that excludes a candidate gives its reason. If no candidate is left, the request fails
 * with the code of the first rule in this order.
 */
export const exclusionRules: readonly ExclusionRule[] = [
  {
    code: 'input_requires_responses_endpoint',
    param: (_, { needs }) => nativeOf(innerDialect, needs)?.param,
    suggestion: 'Remove it, or choose a model that is available through POST /v1/responses.',
    applies: ({ needs }) => nativeOf(innerDialect, needs) !== undefined,
    excludes: ({ offer }) => offer.api !== innerDialect,
    reason: ({ offer }, { needs }) => otherDialectReason(nativeOf(innerDialect, needs), offer.api),
  },
  {
    code: 'response_api_only',
    param: (_, { needs }) => foreignNative(innerDialect, needs)?.param,
    suggestion: 'Send the request to POST /v1/responses, which supports it.',
    applies: ({ needs, responsesOnly }) => needs.natives.length > 0 && responsesOnly.size > 0,
    excludes: ({ model }, { needs, responsesOnly }) => responsesOnly.has(model) && foreignNative(innerDialect, needs) !== undefined,
    reason: (_, { needs }) => responsesOnlyReason(foreignNative(innerDialect, needs)),
  },
  {
    code: 'non_streaming_not_supported',
    param: 'stream',
    suggestion: 'Set `stream: true`.',
    applies: ({ needs }) => !needs.stream,
    excludes: ({ offer }) => offer.delivery === 'stream_only',
    reason: 'it supports streaming only: set `stream: true`',
  },
  {
    code: 'capability_mismatch',
    param: ({ offer }, { needs }) => foreignNative(offer.api, needs)?.param,
    suggestion: 'Remove it, or choose a model that is available through that API.',
    applies: ({ needs }) => needs.natives.length > 0,
    excludes: ({ offer }, { needs }) => foreignNative(offer.api, needs) !== undefined,
    reason: ({ offer }, { needs }) => otherDialectReason(foreignNative(offer.api, needs), offer.api),
  },
  {
    code: 'operation_not_allowed',
    param: (_, { needs }) => needs.storedField,
    suggestion: (_, { demands }) =>
      demands.no_stored_fields
        ? 'Send the data itself. The app can allow it for a user or session (`providerStorage`).'
        : 'Send the data itself, use a provider key of the workspace, or have the operator allow it (`providerStorage` of the provider).',
    applies: ({ needs }) => needs.storedField !== undefined,
    excludes: (candidate, { demands }) => demands.no_stored_fields === true || !mayOpenStored(candidate),
    reason: (_, { needs, demands }) =>
      demands.no_stored_fields
        ? `\`${needs.storedField}\` names something stored at the provider, which this user may not use`
        : `\`${needs.storedField}\` names something stored at the provider, and the account there is the operator's`,
  },
  {
    code: 'operation_not_allowed',
    param: ({ offer }, { needs }) => unpricedToolOf(needs.prompt, offer),
    suggestion: 'Remove the tool, or use a provider key of the workspace.',
    applies: ({ needs: { prompt } }) => prompt.native !== undefined || prompt.extensions !== undefined || bringsTools(prompt),
    excludes: ({ credential, offer, provider }, { needs }) =>
      provider.unpricedTools === 'refuse' && credential.owner !== 'workspace' && unpricedToolOf(needs.prompt, offer) !== undefined,
    reason: ({ offer }, { needs }) =>
      `\`${unpricedToolOf(needs.prompt, offer)}\` makes the provider run a tool whose calls have no known price or cannot be counted, and the operator refuses such tools`,
  },
  {
    code: 'capability_mismatch',
    param: (_, { needs }) => needs.prefill?.param,
    suggestion: 'End with a user message that says how to go on, or choose a model that continues an assistant message.',
    applies: ({ needs }) => needs.prefill !== undefined,
    excludes: (candidate, { needs: { prefill } }) =>
      prefill?.dialect === candidate.offer.api &&
      quirksOf(candidate).noPrefill === true &&
      dialectFor(candidate.provider, candidate.offer)?.definesPrefill === true,
    reason: (_, { needs }) => `it does not continue an assistant message, and \`${needs.prefill?.param}\` is one at the end`,
  },
  {
    code: 'capability_mismatch',
    param: 'stream',
    suggestion: 'Remove `stream`.',
    applies: ({ needs }) => needs.stream,
    excludes: ({ offer }) => offer.delivery === 'whole_only',
    reason: 'it does not support streaming',
  },
  {
    code: 'tool_choice_required_not_supported',
    param: 'tool_choice',
    suggestion: 'Set `tool_choice: "auto"`.',
    applies: ({ needs }) => needs.toolChoiceRequired,
    excludes: candidate => quirksOf(candidate).refuses?.includes('tool_choice_required') === true,
    reason: 'it does not support `tool_choice: "required"`',
  },
  {
    code: 'capability_mismatch',
    param: 'tools',
    applies: ({ needs }) => needs.tools,
    excludes: candidate => lacksAbility(candidate, 'tools'),
    reason: 'it does not support tools',
  },
  {
    code: 'capability_mismatch',
    param: 'tools',
    applies: ({ needs }) => needs.tools,
    excludes: candidate => candidate.offer.api !== innerDialect && quirksOf(candidate).toolsInResponses === true,
    reason: ({ offer }) => `the model takes tools in the dialect "${innerDialect}" alone, and its provider is asked in "${offer.api}"`,
  },
  {
    code: 'capability_mismatch',
    param: (candidate, query) => refusedMedia(candidate, query)?.param,
    suggestion: (candidate, query) => refusedMedia(candidate, query)?.suggestion,
    applies: ({ needs }) => needs.media.length > 0,
    excludes: (candidate, query) => refusedMedia(candidate, query) !== undefined,
    reason: (candidate, query) => refusedMedia(candidate, query)?.reason ?? '',
  },
  {
    code: 'capability_mismatch',
    param: 'text.format',
    applies: ({ needs }) => needs.structuredOutput,
    excludes: candidate => lacksAbility(candidate, 'structured_output'),
    reason: 'it does not support structured output',
  },
  {
    code: 'capability_mismatch',
    param: 'text.format',
    applies: ({ needs }) => needs.jsonMode,
    // An offer that supports structured outputs also supports JSON mode.
    excludes: candidate => lacksAbility(candidate, 'json_mode') && lacksAbility(candidate, 'structured_output'),
    reason: 'it does not support JSON mode',
  },
  {
    code: 'context_length_exceeded',
    param: 'input',
    suggestion: 'Shorten the prompt, or choose a model with a larger context window.',
    applies: ({ needs }) => !needs.documents,
    // The estimate is on the high side, so only prompts that are clearly too long are excluded. The provider decides about the others.
    excludes: (candidate, { needs }) => needs.inputTokens > 2 * maxInputTokensOf(candidate),
    reason: (candidate, { needs }) =>
      `the prompt is about ${needs.inputTokens} tokens long, and its context window is ${maxInputTokensOf(candidate)} tokens`,
  },
  {
    code: 'routing_constraint_unsatisfiable',
    applies: ({ demands }) => restrictsModels(demands),
    excludes: ({ model }, { demands }) => !isNamedIn(model, demands.allowed_models) || !isNamedIn(model, demands.caller_models),
    reason: ({ model }, { demands }) =>
      isNamedIn(model, demands.allowed_models)
        ? 'the session of the caller does not allow the model'
        : "the workspace's settings do not allow the model",
  },
  {
    code: 'routing_constraint_unsatisfiable',
    param: (candidate, query) => forbiddenToolModel(candidate, query)?.path,
    suggestion: 'Leave the model of the tool out, or name one that is allowed.',
    applies: ({ demands, toolModels }) => toolModels.length > 0 && restrictsModels(demands),
    excludes: (candidate, query) => forbiddenToolModel(candidate, query) !== undefined,
    reason: (candidate, query) => {
      const { path, name, by } = forbiddenToolModel(candidate, query) ?? {}
      return `${by} not allow the model ${quoted(name ?? '')} that \`${path}\` names`
    },
  },
  {
    code: 'routing_constraint_unsatisfiable',
    applies: ({ demands }) => demands.allowed_providers !== undefined || demands.blocked_providers !== undefined,
    excludes: ({ provider: { id } }, { demands: { allowed_providers, blocked_providers } }) =>
      allowed_providers?.includes(id) === false || blocked_providers?.includes(id) === true,
    reason: "the workspace's settings do not allow the provider",
  },
  {
    code: 'routing_constraint_unsatisfiable',
    applies: ({ demands }) => demands.own_keys_only === true,
    excludes: ({ credential }) => credential.owner !== 'workspace',
    reason:
      'the workspace only uses its own provider keys (`own_keys_only` in its settings), and this credential belongs to the operator: add a key for the provider, replace a rejected key, or turn the setting off',
  },
  {
    code: 'routing_constraint_unsatisfiable',
    dependsOnAccount: true,
    applies: ({ demands }) => demands.data_policy_required !== undefined,
    excludes: (candidate, { demands }) => !meetsDataPolicy(candidate, demands.data_policy_required),
    reason: (candidate, { demands }) =>
      `its data policy is "${dataPolicyOf(candidate)}", and the workspace's settings require "${demands.data_policy_required}"`,
  },
  {
    code: 'routing_constraint_unsatisfiable',
    param: 'gateway.routing.only',
    applies: ({ routing }) => routing.only !== undefined,
    excludes: ({ provider }, { routing }) => routing.only?.includes(provider.id) === false,
    reason: 'it is not in `gateway.routing.only`',
  },
  {
    code: 'routing_constraint_unsatisfiable',
    param: 'gateway.routing.ignore',
    applies: ({ routing }) => routing.ignore !== undefined,
    excludes: ({ provider }, { routing }) => routing.ignore?.includes(provider.id) === true,
    reason: 'it is in `gateway.routing.ignore`',
  },
  {
    code: 'routing_constraint_unsatisfiable',
    param: 'gateway.routing.data_policy',
    suggestion: 'Relax `gateway.routing.data_policy`, or choose a model that is offered under that policy.',
    dependsOnAccount: true,
    applies: ({ routing }) => routing.data_policy !== undefined,
    excludes: (candidate, { routing }) => !meetsDataPolicy(candidate, routing.data_policy),
    reason: (candidate, { routing }) =>
      `its data policy is "${dataPolicyOf(candidate)}", and \`gateway.routing.data_policy\` requires "${routing.data_policy}"`,
  },
  {
    code: 'routing_constraint_unsatisfiable',
    param: 'gateway.routing.max_price',
    suggestion: 'Raise `gateway.routing.max_price` of the request, or of the routing defaults of its workspace.',
    applies: ({ routing }) => routing.max_price !== undefined,
    excludes: (candidate, query) => priceAboveLimit(candidate, query) !== undefined,
    reason: (candidate, query) => `it may cost ${priceAboveLimit(candidate, query)}, more than \`gateway.routing.max_price\` allows`,
  },
  {
    code: 'routing_failed',
    applies: () => true,
    excludes: ({ offer }) => offer.price === undefined,
    reason: 'its price is unknown: set `price` on the offer, 0 if it is free',
  },
]

/** The first part of the input that only this dialect can express. */
const nativeOf = (dialect: DialectName, { natives }: Needs): NativeNeed | undefined => natives.find(native => native.dialect === dialect)

/** The first part of the input that only another dialect can express. */
const foreignNative = (dialect: DialectName, { natives }: Needs): NativeNeed | undefined =>
  natives.find(native => native.dialect !== dialect)

const otherDialectReason = (native: NativeNeed | undefined, spoken: string): string =>
  `\`${native?.param}\` is only supported by the dialect "${native?.dialect}", and this offer uses "${spoken}"`

const responsesOnlyReason = (native: NativeNeed | undefined): string =>
  `it is only available through POST /v1/responses, and \`${native?.param}\` is only supported by the dialect "${native?.dialect}"`

/** Whether a list has a model's id or one of its aliases. True without a list. */
const isNamedIn = ({ id, aliases = [] }: Model, names: readonly string[] | undefined): boolean =>
  names === undefined || [id, ...aliases].some(name => names.includes(name))

interface ForbiddenModel extends NamedModel {
  /** What forbids it, as the start of a reason. */
  readonly by: string
}

/** The first model that a tool of the request names and that the workspace or the caller may not use at this candidate. */
function forbiddenToolModel(candidate: Candidate, { demands, toolModels, find }: RoutingQuery): ForbiddenModel | undefined {
  const lists = [
    { by: "the workspace's settings do", names: demands.allowed_models },
    { by: 'the session of the caller does', names: demands.caller_models },
  ]
  for (const { by, names } of lists) {
    if (names === undefined) continue
    const allowed = namesAt(candidate, names, find)
    const forbidden = toolModels.find(({ name }) => !allowed.has(name))
    if (forbidden) return { ...forbidden, by }
  }
  return undefined
}

/** The names of models in a tool at the provider of a candidate: those of the gateway, and those that the provider sells them under. */
function namesAt({ provider }: Candidate, names: readonly string[], find: RoutingQuery['find']): ReadonlySet<string> {
  const allowed = new Set(names)
  for (const name of names) {
    const model = find(name)
    if (!model) continue
    for (const alias of [model.id, ...(model.aliases ?? [])]) allowed.add(alias)
    for (const offer of model.offers) if (offer.provider === provider.id) allowed.add(offer.model)
  }
  return allowed
}
