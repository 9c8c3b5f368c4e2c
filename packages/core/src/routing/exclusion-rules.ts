import type { NamedModel } from '@signalbox/dialects/common'
import { unpricedToolOf } from '@signalbox/dialects/common'
import type { Model } from '@signalbox/dialects/protocol'
import { type DialectName, innerDialect } from '@signalbox/dialects/protocol'
import { quoted } from './check-routing.ts'
import type { NativeNeed } from './media-needs.ts'
import { refusedMedia } from './media-rules.ts'
import { type Demands, type Needs, need, type RoutingQuery } from './needs.ts'
import { dataPolicyOf, lacksAbility, maxInputTokensOf, mayOpenStored, meetsDataPolicy, priceAboveLimit, speaksAll } from './offer-facts.ts'
import type { Candidate, ExclusionCode } from './plan.ts'

export interface ExclusionRule {
  readonly code: ExclusionCode
  /** The field of the request that the rule reads. */
  readonly param?: string | ((candidate: Candidate, query: RoutingQuery) => string | undefined)
  /** What the client can do, unless the reason says it. */
  readonly suggestion?: string | ((candidate: Candidate, query: RoutingQuery) => string | undefined)
  /** The need of a request for which the rule exists. */
  readonly need: number
  /** Whether it may exclude the candidate, by what is the same for all requests of a workspace. Default: it may. */
  readonly lacks?: (candidate: Candidate, demands: Demands) => boolean
  /** Whether it excludes a candidate that lacks it. Default: it does. */
  readonly excludes?: (candidate: Candidate, query: RoutingQuery) => boolean
  /** Whether the same offer can pass with another account at the provider. */
  readonly dependsOnAccount?: true
  /** The reason, as part of the message. */
  readonly reason: string | ((candidate: Candidate, query: RoutingQuery) => string)
}

// A request has few needs, and an offer lacks little, so both are kept as bits: a candidate that lacks nothing of what a request needs is
// not excluded, and no rule is evaluated for it.

/**
 * The exclusion rules in order: the first rule that excludes a candidate gives its reason. If no candidate is left, the request fails
 * with the code of the first rule in this order.
 */
export const exclusionRules: readonly ExclusionRule[] = [
  {
    code: 'input_requires_responses_endpoint',
    param: (_, { needs }) => nativeOf(innerDialect, needs)?.param,
    suggestion: 'Remove it, or choose a model that is available through POST /v1/responses.',
    need: need.responsesInput,
    lacks: ({ offer }) => offer.api !== innerDialect,
    reason: ({ offer }, { needs }) => otherDialectReason(nativeOf(innerDialect, needs), offer.api),
  },
  {
    code: 'response_api_only',
    param: (_, { needs }) => foreignNative(innerDialect, needs)?.param,
    suggestion: 'Send the request to POST /v1/responses, which supports it.',
    need: need.nativeInput,
    excludes: ({ model }, { needs, responsesOnly }) => responsesOnly.has(model) && foreignNative(innerDialect, needs) !== undefined,
    reason: (_, { needs }) => responsesOnlyReason(foreignNative(innerDialect, needs)),
  },
  {
    code: 'non_streaming_not_supported',
    param: 'stream',
    suggestion: 'Set `stream: true`.',
    need: need.whole,
    lacks: ({ offer }) => offer.delivery === 'stream_only',
    reason: 'it supports streaming only: set `stream: true`',
  },
  {
    code: 'capability_mismatch',
    param: ({ offer }, { needs }) => foreignNative(offer.api, needs)?.param,
    suggestion: 'Remove it, or choose a model that is available through that API.',
    need: need.nativeInput,
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
    need: need.storedField,
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
    need: need.providerTools,
    lacks: ({ credential, provider }) => provider.unpricedTools === 'refuse' && credential.owner !== 'workspace',
    excludes: ({ offer }, { needs }) => unpricedToolOf(needs.prompt, offer) !== undefined,
    reason: ({ offer }, { needs }) =>
      `\`${unpricedToolOf(needs.prompt, offer)}\` makes the provider run a tool whose calls have no known price or cannot be counted, and the operator refuses such tools`,
  },
  {
    code: 'capability_mismatch',
    param: (_, { needs }) => needs.prefill?.param,
    suggestion: 'End with a user message that says how to go on, or choose a model that continues an assistant message.',
    need: need.prefill,
    lacks: ({ quirks, dialect }) => quirks.noPrefill === true && dialect?.definesPrefill === true,
    excludes: ({ offer }, { needs }) => needs.prefill?.dialect === offer.api,
    reason: (_, { needs }) => `it does not continue an assistant message, and \`${needs.prefill?.param}\` is one at the end`,
  },
  {
    code: 'capability_mismatch',
    param: 'stream',
    suggestion: 'Remove `stream`.',
    need: need.stream,
    lacks: ({ offer }) => offer.delivery === 'whole_only',
    reason: 'it does not support streaming',
  },
  {
    code: 'tool_choice_required_not_supported',
    param: 'tool_choice',
    suggestion: 'Set `tool_choice: "auto"`.',
    need: need.toolChoiceRequired,
    lacks: ({ quirks }) => quirks.refuses?.includes('tool_choice_required') === true,
    reason: 'it does not support `tool_choice: "required"`',
  },
  {
    code: 'capability_mismatch',
    param: 'tools',
    need: need.tools,
    lacks: candidate => lacksAbility(candidate, 'tools'),
    reason: 'it does not support tools',
  },
  {
    code: 'capability_mismatch',
    param: 'tools',
    need: need.tools,
    lacks: ({ offer, quirks }) => offer.api !== innerDialect && quirks.toolsInResponses === true,
    reason: ({ offer }) => `the model takes tools in the dialect "${innerDialect}" alone, and its provider is asked in "${offer.api}"`,
  },
  {
    code: 'capability_mismatch',
    param: (candidate, query) => refusedMedia(candidate, query)?.param,
    suggestion: (candidate, query) => refusedMedia(candidate, query)?.suggestion,
    need: need.media,
    excludes: (candidate, query) => refusedMedia(candidate, query) !== undefined,
    reason: (candidate, query) => refusedMedia(candidate, query)?.reason ?? '',
  },
  {
    code: 'capability_mismatch',
    param: 'text.format',
    need: need.structuredOutput,
    lacks: candidate => lacksAbility(candidate, 'structured_output'),
    reason: 'it does not support structured output',
  },
  {
    code: 'capability_mismatch',
    param: 'text.format',
    need: need.jsonMode,
    // An offer that supports structured outputs also supports JSON mode.
    lacks: candidate => lacksAbility(candidate, 'json_mode') && lacksAbility(candidate, 'structured_output'),
    reason: 'it does not support JSON mode',
  },
  {
    code: 'context_length_exceeded',
    param: 'input',
    suggestion: 'Shorten the prompt, or choose a model with a larger context window.',
    need: need.contextWindow,
    lacks: candidate => Number.isFinite(maxInputTokensOf(candidate)),
    excludes: (candidate, { needs }) => needs.inputTokens > 2 * maxInputTokensOf(candidate),
    reason: (candidate, { needs }) =>
      `the prompt is about ${needs.inputTokens} tokens long, and its context window is ${maxInputTokensOf(candidate)} tokens`,
  },
  {
    code: 'routing_constraint_unsatisfiable',
    need: need.allowance,
    lacks: ({ model }, { allowed_models }) => !isNamedIn(model, allowed_models),
    reason: "the workspace's settings do not allow the model",
  },
  {
    code: 'routing_constraint_unsatisfiable',
    need: need.callerModels,
    excludes: ({ model }, { demands }) => !isNamedIn(model, demands.caller_models),
    reason: 'the session of the caller does not allow the model',
  },
  {
    code: 'routing_constraint_unsatisfiable',
    param: (candidate, query) => forbiddenToolModel(candidate, query)?.path,
    suggestion: 'Leave the model of the tool out, or name one that is allowed.',
    need: need.toolModels,
    excludes: (candidate, query) => forbiddenToolModel(candidate, query) !== undefined,
    reason: (candidate, query) => {
      const { path, name, by } = forbiddenToolModel(candidate, query) ?? {}
      return `${by} not allow the model ${quoted(name ?? '')} that \`${path}\` names`
    },
  },
  {
    code: 'routing_constraint_unsatisfiable',
    need: need.allowance,
    lacks: ({ provider: { id } }, { allowed_providers, blocked_providers }) =>
      allowed_providers?.includes(id) === false || blocked_providers?.includes(id) === true,
    reason: "the workspace's settings do not allow the provider",
  },
  {
    code: 'routing_constraint_unsatisfiable',
    need: need.allowance,
    lacks: ({ credential }, { own_keys_only }) => own_keys_only === true && credential.owner !== 'workspace',
    reason:
      'the workspace only uses its own provider keys (`own_keys_only` in its settings), and this credential belongs to the operator: add a key for the provider, replace a rejected key, or turn the setting off',
  },
  {
    code: 'routing_constraint_unsatisfiable',
    dependsOnAccount: true,
    need: need.allowance,
    lacks: (candidate, { data_policy_required }) => !meetsDataPolicy(candidate, data_policy_required),
    reason: (candidate, { demands }) =>
      `its data policy is "${dataPolicyOf(candidate)}", and the workspace's settings require "${demands.data_policy_required}"`,
  },
  {
    code: 'routing_constraint_unsatisfiable',
    param: 'gateway.routing.only',
    need: need.only,
    excludes: ({ provider }, { routing }) => routing.only?.includes(provider.id) === false,
    reason: 'it is not in `gateway.routing.only`',
  },
  {
    code: 'routing_constraint_unsatisfiable',
    param: 'gateway.routing.ignore',
    need: need.ignore,
    excludes: ({ provider }, { routing }) => routing.ignore?.includes(provider.id) === true,
    reason: 'it is in `gateway.routing.ignore`',
  },
  {
    code: 'routing_constraint_unsatisfiable',
    param: 'gateway.routing.data_policy',
    suggestion: 'Relax `gateway.routing.data_policy`, or choose a model that is offered under that policy.',
    dependsOnAccount: true,
    need: need.dataPolicy,
    lacks: candidate => !meetsDataPolicy(candidate, 'zdr'),
    excludes: (candidate, { routing }) => !meetsDataPolicy(candidate, routing.data_policy),
    reason: (candidate, { routing }) =>
      `its data policy is "${dataPolicyOf(candidate)}", and \`gateway.routing.data_policy\` requires "${routing.data_policy}"`,
  },
  {
    code: 'routing_constraint_unsatisfiable',
    param: 'gateway.routing.max_price',
    suggestion: 'Raise `gateway.routing.max_price` of the request, or of the routing defaults of its workspace.',
    need: need.maxPrice,
    excludes: (candidate, query) => priceAboveLimit(candidate, query) !== undefined,
    reason: (candidate, query) => `it may cost ${priceAboveLimit(candidate, query)}, more than \`gateway.routing.max_price\` allows`,
  },
  {
    code: 'routing_failed',
    need: need.allowance,
    lacks: ({ offer }) => offer.price === undefined,
    reason: 'its price is unknown: set `price` on the offer, 0 if it is free',
  },
]

/** A filter that excludes a candidate only while better ones remain. */
export interface SoftFilter extends ExclusionRule {
  /** Which candidates must remain: any, or one of the same model. */
  readonly unlessLast: 'any' | 'same_model'
}

/** In order, each applied to the candidates that the previous filters left. A soft filter never empties the list. */
export const softFilters: readonly SoftFilter[] = [
  {
    unlessLast: 'same_model',
    code: 'routing_constraint_unsatisfiable',
    param: 'gateway.routing.only',
    need: need.currentOffer,
    lacks: ({ offer }) => offer.status === 'deprecated',
    excludes: ({ provider: { id } }, { routing: { only, order } }) => !only?.includes(id) && !order?.includes(id),
    reason: 'it is about to be shut down: name it in `gateway.routing.only` or `order` to use it anyway',
  },
  {
    // `max_output_tokens` does not require that much output. If no candidate allows it, it is lowered, or the provider rejects it.
    unlessLast: 'same_model',
    code: 'capability_mismatch',
    param: 'max_output_tokens',
    need: need.outputTokens,
    lacks: ({ offer }) => offer.maxOutputTokens !== undefined,
    excludes: ({ offer }, { needs }) => (needs.outputTokens ?? 0) > (offer.maxOutputTokens ?? Number.POSITIVE_INFINITY),
    reason: ({ offer }) => `it is limited to ${offer.maxOutputTokens} output tokens, and other candidates are not`,
  },
  {
    unlessLast: 'any',
    code: 'capability_mismatch',
    param: 'tools',
    need: need.toolDialects,
    excludes: ({ offer }, { needs }) => !speaksAll(offer.api, needs.toolDialects),
    reason: 'it does not support some of the tools, and other candidates do',
  },
  {
    unlessLast: 'any',
    code: 'capability_mismatch',
    param: 'input',
    need: need.recordDialects,
    excludes: ({ offer }, { needs }) => !speaksAll(offer.api, needs.recordDialects),
    reason: 'it cannot read some items of earlier answers, and other candidates can',
  },
  {
    unlessLast: 'any',
    code: 'capability_mismatch',
    param: 'top_logprobs',
    need: need.logprobs,
    lacks: ({ dialect, quirks }) =>
      dialect?.fidelity?.logprobs === 'dropped' || quirks.refuses?.some(field => field === 'top_logprobs' || field === 'logprobs') === true,
    reason: 'it does not return logprobs, and other candidates do',
  },
  {
    unlessLast: 'any',
    code: 'capability_mismatch',
    param: 'top_logprobs',
    need: need.logprobs,
    lacks: candidate => lacksAbility(candidate, 'logprobs'),
    reason: 'it is not known to return logprobs, and other candidates do',
  },
]

/** The needs that a candidate may not meet, by what is the same for all requests of a workspace. */
export function lacksOf(candidate: Candidate, demands: Demands): number {
  let lacks = 0
  for (const rules of [exclusionRules, softFilters])
    for (const rule of rules) if (!rule.lacks || rule.lacks(candidate, demands)) lacks |= rule.need
  return lacks
}

/** Whether a rule excludes a candidate from a request that has its need. */
export const isExcludedBy = (rule: ExclusionRule, candidate: Candidate, query: RoutingQuery): boolean =>
  (!rule.lacks || rule.lacks(candidate, query.demands)) && (!rule.excludes || rule.excludes(candidate, query))

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
export const isNamedIn = ({ id, aliases = [] }: Model, names: readonly string[] | undefined): boolean =>
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
