import type { Outcome, Usage } from '../../protocol/response.ts'
import { isObject, type JsonObject } from '../../protocol/wire.ts'
import { completed, endedFor } from '../answer-failures.ts'
import { stringOf } from '../json.ts'
import { isCounted, readUsage, type UsageFields, withTier } from '../usage.ts'

export const dialect = 'bedrock'

const incomplete = (reason: string): Outcome => ({ status: 'incomplete', reason })
const malformed = (what: string): Outcome => ({ status: 'failed', error: { kind: 'server_error', message: `The model wrote ${what}.` } })

/** Stop reasons of complete responses. */
const completeReasons = ['end_turn', 'tool_use', 'stop_sequence']

/** Outcomes by stop reason. */
const outcomes: ReadonlyMap<string, Outcome> = new Map<string, Outcome>([
  ...completeReasons.map(reason => [reason, completed] as const),
  ['max_tokens', incomplete('max_output_tokens')],
  ['model_context_window_exceeded', incomplete('max_output_tokens')],
  ['guardrail_intervened', incomplete('content_filter')],
  ['content_filtered', incomplete('content_filter')],
  ['malformed_model_output', malformed('malformed output')],
  ['malformed_tool_use', malformed('a malformed tool call')],
])

export const outcomeOf = (stopReason: string): Outcome => outcomes.get(stopReason) ?? endedFor(stopReason)

const usageFields: UsageFields = {
  input: ['inputTokens'],
  inputBeside: ['cacheReadInputTokens', 'cacheWriteInputTokens'],
  output: ['outputTokens'],
  cached: ['cacheReadInputTokens'],
  cacheWrite: ['cacheWriteInputTokens'],
  reasoning: [],
}

/** Decodes token counts; undefined if they are unusable. `hasOutput`: the response has at least one item. */
export function decodeUsage({ usage: wire, serviceTier }: JsonObject, hasOutput: boolean): Usage | undefined {
  const usage = readUsage(wire, usageFields)
  return isCounted(usage, hasOutput) ? withTier(usage, isObject(serviceTier) ? serviceTier.type : undefined) : undefined
}

/** The arguments of a call, or a piece of them, as text. Undefined if an object is nested too deeply to serialize. */
export function inputText({ input }: JsonObject): string | undefined {
  if (!isObject(input)) return stringOf(input)
  try {
    return JSON.stringify(input)
  } catch {
    return undefined
  }
}
