import { completed, endedFor } from '../common/answer-failures.ts'
import { extraSteps, otherModelsIn, withSteps } from '../common/extra-steps.ts'
import type { ResponseHead } from '../common/item-assembler.ts'
import { stringOf } from '../common/json.ts'
import { surchargedFields } from '../common/service-tier.ts'
import { isCounted, readUsage, withOtherCalls } from '../common/usage.ts'
import type { UsageFields } from '../common/usage-fields.ts'
import { originalOf } from '../protocol/original.ts'
import type { Outcome, Usage } from '../protocol/response.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'

export const dialect = 'messages'

// The original that each decoded value remembers:
// - a request: the whole body. Its `prompt.reasoning`: `{ thinking, output_config }`; its `prompt.text`: `output_config`.
// - a message item: `{ role, content }` with the blocks of this item, since one message may become several items. The `system` blocks of a
//   request are such an item, with the role `system`.
// - any other item, and a part: its block. A tool: its entry in `tools`.
// - a native item of a request is an assistant block; an unknown user block is a native part.
// - `started`: the message of `message_start`. A response, and `finished`: the final message.
// - an annotation: its citation. Citations of documents lack the URL that every other dialect requires: in a stream, each is a native event
//   `content_block_delta` of its item, with the wire event as its body.

export const originalBody = (decoded: object): JsonObject | undefined => {
  const original = originalOf(decoded)
  return original?.dialect === dialect ? original.body : undefined
}

/** Reads the head. This dialect has no creation time. */
export const readHead = ({ id, model }: JsonObject): ResponseHead => ({ id: stringOf(id), model: stringOf(model), created_at: 0 })

const lengthLimit: Outcome = { status: 'incomplete', reason: 'max_output_tokens' }
const refusal: Outcome = { status: 'incomplete', reason: 'content_filter' }
/** A hosted tool is still working: the client sends the response back to continue. */
const paused: Outcome = { status: 'incomplete', reason: 'pause_turn' }

/** Stop reasons of complete responses. `compaction`: the context before the response was compacted, as the client asked. */
const completeReasons = ['end_turn', 'tool_use', 'stop_sequence', 'compaction']

/** Outcomes by stop reason. */
const outcomes: ReadonlyMap<string, Outcome> = new Map<string, Outcome>([
  ...completeReasons.map(reason => [reason, completed] as const),
  ['max_tokens', lengthLimit],
  ['model_context_window_exceeded', lengthLimit],
  ['refusal', refusal],
  ['pause_turn', paused],
])

export const outcomeOf = (stopReason: string): Outcome => outcomes.get(stopReason) ?? endedFor(stopReason)

/** The provider's explanation of a refusal, if any. */
export const refusalText = (outcome: Outcome, { stop_details: details }: JsonObject): string =>
  outcome === refusal && isObject(details) ? stringOf(details.explanation) : ''

export const usageFields: UsageFields = {
  input: ['input_tokens'],
  inputBeside: ['cache_creation_input_tokens', 'cache_read_input_tokens'],
  output: ['output_tokens'],
  cached: ['cache_read_input_tokens'],
  cacheWrite: ['cache_creation_input_tokens'],
  longWrite: ['cache_creation.ephemeral_1h_input_tokens'],
  reasoning: ['output_tokens_details.thinking_tokens'],
  hosted: { web_search: ['server_tool_use.web_search_requests'], web_fetch: ['server_tool_use.web_fetch_requests'] },
  unbilled: {
    'cache_creation.ephemeral_5m_input_tokens': 'cache writes without those of an hour',
    iterations: 'steps that the totals leave out: extra-steps.ts reads them',
    'server_tool_use.code_execution_requests': 'billed by the hour of a container, not by the call',
    'server_tool_use.tool_search_requests': 'billed by its tokens alone',
    service_tier: 'committed capacity, whose price is a contract of the account',
    inference_geo: 'a surcharge: an option of the usage',
    speed: 'a surcharge: an option of the usage',
  },
}

/** The value of `inference_geo` for models without regions. */
const unsaid = 'not_available'

/** Decodes token counts; undefined if they are unusable. `hasOutput`: the response has at least one item. */
export function decodeUsage(wire: Json | undefined, hasOutput: boolean): Usage | undefined {
  const totals = readUsage(wire, usageFields)
  const steps = totals && extraSteps(wire, usageFields)
  const usage = steps ? withOtherCalls(withSteps(totals, steps), otherModelsIn(wire)) : totals
  if (!isCounted(usage, hasOutput)) return undefined
  const options = isObject(wire)
    ? surchargedFields.flatMap(field => (typeof wire[field] === 'string' && wire[field] !== unsaid ? [[field, wire[field]]] : []))
    : []
  return options.length > 0 ? { ...usage, options: Object.fromEntries(options) } : usage
}
