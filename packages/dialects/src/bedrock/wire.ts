import { completed, endedFor } from '../common/answer-failures.ts'
import { objects, stringOf } from '../common/json.ts'
import { isCounted, readUsage, withTier } from '../common/usage.ts'
import type { UsageFields } from '../common/usage-fields.ts'
import type { Outcome, Usage } from '../protocol/response.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'

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

export const usageFields: UsageFields = {
  input: ['inputTokens'],
  inputBeside: ['cacheReadInputTokens', 'cacheWriteInputTokens'],
  output: ['outputTokens'],
  cached: ['cacheReadInputTokens'],
  cacheWrite: ['cacheWriteInputTokens'],
  reasoning: [],
  total: 'totalTokens',
  unbilled: {
    cacheReadInputTokenCount: 'an older name of cacheReadInputTokens, beside it',
    cacheWriteInputTokenCount: 'an older name of cacheWriteInputTokens, beside it',
    cacheDetails: 'cache writes by lifetime: those of an hour are read',
  },
}

/** Cache writes with a lifetime of one hour (AWS, CacheDetail: `{ ttl: '1h', inputTokens }`). */
const hourWrites = (wire: Json | undefined): number =>
  (isObject(wire) ? objects(wire.cacheDetails) : []).reduce(
    (sum, { ttl, inputTokens }) => sum + (ttl === '1h' && typeof inputTokens === 'number' && inputTokens > 0 ? inputTokens : 0),
    0,
  )

/** Decodes token counts; undefined if they are unusable. `hasOutput`: the response has at least one item. */
export function decodeUsage({ usage: wire, serviceTier }: JsonObject, hasOutput: boolean): Usage | undefined {
  const usage = readUsage(wire, usageFields)
  if (!isCounted(usage, hasOutput)) return undefined
  const long = Math.min(hourWrites(wire), usage.cache_write_tokens)
  return withTier(long > 0 ? { ...usage, cache_write_1h_tokens: long } : usage, isObject(serviceTier) ? serviceTier.type : undefined)
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
