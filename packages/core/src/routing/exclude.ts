import { dearerThan, keepsTo, lacks, policyOf, quirksOf, roomFor, speaksAll, stranger } from './judge.ts'
import type { Question } from './needs.ts'
import type { Candidate, ExclusionCode } from './plan.ts'

export interface Rule {
  readonly code: ExclusionCode
  /** The field of the request that it looks at. */
  readonly param?: string
  /** What the caller can do, where the reason does not say it. */
  readonly suggestion?: string
  /** Whether the request asks for it at all: most requests ask for little, and no candidate is looked at for the rest. */
  readonly asked: (question: Question) => boolean
  /** Whether this candidate cannot give it. */
  readonly unmet: (candidate: Candidate, question: Question) => boolean
  /** That, in words. */
  readonly reason: string | ((candidate: Candidate, question: Question) => string)
}

const always = (): boolean => true
const toResponses = 'Send the request to POST /v1/responses, in whose language such things can be said.'

/** Top to bottom: the first rule that speaks is the reason. When nobody is left, the caller hears the topmost code among the reasons. */
export const rules: readonly Rule[] = [
  {
    code: 'input_requires_responses_endpoint',
    param: 'input',
    suggestion: 'Leave these items out, or name a model that somebody serves in the language of POST /v1/responses.',
    asked: ({ needs }) => needs.itemDialects.includes('responses'),
    unmet: ({ offer }) => offer.dialect !== 'responses',
    reason: ({ offer }) => untakable('responses', offer.dialect),
  },
  {
    code: 'response_api_only',
    param: 'input',
    suggestion: toResponses,
    asked: ({ needs, responsesOnly }) => needs.itemDialects.length > 0 && responsesOnly.size > 0,
    unmet: ({ model }, { needs, responsesOnly }) => responsesOnly.has(model) && !speaksAll('responses', needs.itemDialects),
    reason: (_, { needs }) => unsayable('items', stranger('responses', needs.itemDialects)),
  },
  {
    code: 'response_api_only',
    param: 'tools',
    suggestion: toResponses,
    asked: ({ needs, responsesOnly }) => needs.toolDialects.length > 0 && responsesOnly.size > 0,
    unmet: ({ model }, { needs, responsesOnly }) => responsesOnly.has(model) && !speaksAll('responses', needs.toolDialects),
    reason: (_, { needs }) => unsayable('tools', stranger('responses', needs.toolDialects)),
  },
  {
    code: 'non_streaming_not_supported',
    param: 'stream',
    suggestion: 'Set `stream: true`.',
    asked: ({ needs }) => !needs.stream,
    unmet: ({ offer }) => offer.delivery === 'stream_only',
    reason: 'it only streams: set `stream: true`',
  },
  {
    code: 'capability_mismatch',
    param: 'input',
    asked: ({ needs }) => needs.itemDialects.length > 0,
    unmet: ({ offer }, { needs }) => !speaksAll(offer.dialect, needs.itemDialects),
    reason: ({ offer }, { needs }) => untakable(stranger(offer.dialect, needs.itemDialects), offer.dialect),
  },
  {
    code: 'capability_mismatch',
    param: 'stream',
    suggestion: 'Leave `stream` out.',
    asked: ({ needs }) => needs.stream,
    unmet: ({ offer }) => offer.delivery === 'whole_only',
    reason: 'it does not stream',
  },
  {
    code: 'tool_choice_required_not_supported',
    param: 'tool_choice',
    suggestion: 'Set `tool_choice: "auto"`.',
    asked: ({ needs }) => needs.toolChoiceRequired,
    unmet: candidate => quirksOf(candidate).refuses?.includes('tool_choice_required') === true,
    reason: 'it does not honor `tool_choice: "required"`',
  },
  {
    code: 'capability_mismatch',
    param: 'tools',
    asked: ({ needs }) => needs.tools,
    unmet: candidate => lacks(candidate, 'tools'),
    reason: 'it has no tools',
  },
  {
    code: 'capability_mismatch',
    param: 'input',
    asked: ({ needs }) => needs.vision,
    unmet: candidate => lacks(candidate, 'vision'),
    reason: 'it takes no images',
  },
  {
    code: 'capability_mismatch',
    param: 'input',
    asked: ({ needs }) => needs.documents,
    unmet: candidate => quirksOf(candidate).files === false,
    reason: 'it takes no files',
  },
  {
    code: 'capability_mismatch',
    param: 'input',
    asked: ({ needs }) => needs.audio,
    unmet: candidate => quirksOf(candidate).audio === false,
    reason: 'it takes no sound',
  },
  {
    code: 'capability_mismatch',
    param: 'input',
    asked: ({ needs, readsMedia }) => needs.addresses && !readsMedia,
    unmet: candidate => quirksOf(candidate).bytes_only === true,
    reason: 'it takes images and files as bytes only: send them as a data: URL',
  },
  {
    code: 'capability_mismatch',
    param: 'text.format',
    asked: ({ needs }) => needs.structuredOutput,
    unmet: candidate => lacks(candidate, 'structured_output'),
    reason: 'it has no structured output',
  },
  {
    code: 'capability_mismatch',
    param: 'text.format',
    asked: ({ needs }) => needs.jsonMode,
    // Who keeps to a schema also keeps to JSON.
    unmet: candidate => lacks(candidate, 'json_mode') && lacks(candidate, 'structured_output'),
    reason: 'it has no JSON mode',
  },
  {
    code: 'context_length_exceeded',
    param: 'input',
    suggestion: 'Shorten the prompt, or name a model that holds more.',
    asked: ({ needs }) => !needs.documents,
    // The estimate is on the high side, so only what is beyond doubt is left out; the provider has the last word.
    unmet: (candidate, { needs }) => needs.inputTokens > 2 * roomFor(candidate),
    reason: (candidate, { needs }) =>
      `the prompt is about ${needs.inputTokens} tokens long and its context window holds ${roomFor(candidate)}`,
  },
  {
    code: 'routing_constraint_unsatisfiable',
    asked: ({ demands }) => demands.allowed_models !== undefined,
    unmet: ({ model }, { demands }) => ![model.id, ...(model.aliases ?? [])].some(name => demands.allowed_models?.includes(name)),
    reason: "the workspace's settings do not allow the model",
  },
  {
    code: 'routing_constraint_unsatisfiable',
    asked: ({ demands }) => demands.allowed_providers !== undefined || demands.blocked_providers !== undefined,
    unmet: ({ provider: { id } }, { demands: { allowed_providers, blocked_providers } }) =>
      allowed_providers?.includes(id) === false || blocked_providers?.includes(id) === true,
    reason: "the workspace's settings do not allow the provider",
  },
  {
    code: 'routing_constraint_unsatisfiable',
    asked: ({ demands }) => demands.own_keys_only === true,
    unmet: ({ credential }) => credential.owner !== 'workspace',
    reason:
      'the workspace uses provider keys of its own only (`own_keys_only` of its settings), and this account is the operator’s: bring a key for the provider, replace one that was refused, or turn the setting off',
  },
  {
    code: 'routing_constraint_unsatisfiable',
    asked: ({ demands }) => demands.data_policy_required !== undefined,
    unmet: (candidate, { demands }) => !keepsTo(candidate, demands.data_policy_required),
    reason: (candidate, { demands }) =>
      `its data policy is "${policyOf(candidate)}", and the workspace's settings demand "${demands.data_policy_required}"`,
  },
  {
    code: 'routing_constraint_unsatisfiable',
    param: 'gateway.routing.only',
    asked: ({ routing }) => routing.only !== undefined,
    unmet: ({ provider }, { routing }) => routing.only?.includes(provider.id) === false,
    reason: 'it is not in `gateway.routing.only`',
  },
  {
    code: 'routing_constraint_unsatisfiable',
    param: 'gateway.routing.ignore',
    asked: ({ routing }) => routing.ignore !== undefined,
    unmet: ({ provider }, { routing }) => routing.ignore?.includes(provider.id) === true,
    reason: 'it is in `gateway.routing.ignore`',
  },
  {
    code: 'routing_constraint_unsatisfiable',
    param: 'gateway.routing.data_policy',
    suggestion: 'Demand less in `gateway.routing.data_policy`, or name a model that is sold under such a policy.',
    asked: ({ routing }) => routing.data_policy !== undefined,
    unmet: (candidate, { routing }) => !keepsTo(candidate, routing.data_policy),
    reason: (candidate, { routing }) =>
      `its data policy is "${policyOf(candidate)}", and \`gateway.routing.data_policy\` demands "${routing.data_policy}"`,
  },
  {
    code: 'routing_constraint_unsatisfiable',
    param: 'gateway.routing.max_price',
    suggestion: 'Raise `gateway.routing.max_price` of the request, or of the routing defaults of its workspace.',
    asked: ({ routing }) => routing.max_price !== undefined,
    unmet: (candidate, question) => dearerThan(candidate, question) !== undefined,
    reason: (candidate, question) => `it may cost ${dearerThan(candidate, question)}, more than \`gateway.routing.max_price\` allows`,
  },
  {
    code: 'routing_failed',
    asked: always,
    unmet: ({ offer }) => offer.price === undefined,
    reason: 'no price is known for it: give the offer a `price`, of 0 if it is free',
  },
]

const untakable = (dialect: string, spoken: string): string =>
  `the input holds items that only a provider speaking "${dialect}" can take, and this offer speaks "${spoken}"`

const unsayable = (what: 'items' | 'tools', dialect: string): string =>
  `it is served in the language of POST /v1/responses alone, and the request holds ${what} that only "${dialect}" can say`
