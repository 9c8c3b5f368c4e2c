import { type HostedTool, hostedTools } from '../protocol/model.ts'
import type { HostedCalls, Usage } from '../protocol/response.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { type UsageFields, unreadFields } from './usage-fields.ts'

/** More tokens than any response has; a larger count is an error of the provider. */
const maxCount = 1e12

/**
 * Decodes the provider's token counts and makes them consistent. Undefined if there are none, so that the gateway counts; `estimated` if
 * they cannot be correct.
 */
export function readUsage(wire: Json | undefined, names: UsageFields): Usage | undefined {
  if (!isObject(wire)) return undefined
  const total = readCount(wire[names.total ?? 'total_tokens'])?.tokens
  const read = { input: sum(wire, names.input, names.inputBeside), output: sum(wire, names.output, names.outputBeside) }
  if (read.input === undefined && read.output === undefined) return undefined
  // A count that is left out is the rest of the total.
  const isMissing = (side: readonly string[]): boolean => total !== undefined && pick(wire, side) === undefined
  const input = isMissing(names.input) ? restOf(total, read.output, read.input) : read.input
  const output = isMissing(names.output) ? restOf(total, read.input, read.output) : read.output
  const cached = readCount(pick(wire, names.cached))?.tokens ?? 0
  const cacheWrite = readCount(pick(wire, names.cacheWrite))?.tokens ?? 0
  const reasoning = readCount(pick(wire, names.reasoning))?.tokens ?? 0
  const long = names.longWrite ? (readCount(pick(wire, names.longWrite))?.tokens ?? 0) : 0
  const usage = balance({
    input: input?.tokens ?? 0,
    output: output?.tokens ?? 0,
    cached,
    cacheWrite,
    reasoning,
    total,
    sound: input?.sound !== false && output?.sound !== false,
  })
  const audio = names.audio ? (readCount(pick(wire, names.audio))?.tokens ?? 0) : 0
  const hosted_calls = names.hosted && readHostedCalls(wire, names.hosted)
  const unread = unreadFields(wire, names, (total ?? 0) - usage.input_tokens - usage.output_tokens)
  if (long === 0 && audio === 0 && !hosted_calls && !unread) return usage
  return {
    ...usage,
    ...(long > 0 && { cache_write_1h_tokens: Math.min(long, usage.cache_write_tokens) }),
    ...(audio > 0 && { audio_tokens: Math.min(audio, usage.input_tokens - usage.cached_tokens - usage.cache_write_tokens) }),
    ...(hosted_calls && { hosted_calls }),
    ...(unread && { unread }),
  }
}

/** The tokens of the total that the other side does not have, but at least those that are counted. */
const restOf = (total: number | undefined, other: Counted | undefined, known: Counted | undefined): Counted => ({
  tokens: Math.max(known?.tokens ?? 0, (total ?? 0) - (other?.tokens ?? 0)),
  sound: known?.sound !== false,
})

/** Undefined if none was called, or the provider does not report them. */
export function readHostedCalls(wire: Json | undefined, names: NonNullable<UsageFields['hosted']>): HostedCalls | undefined {
  if (!isObject(wire)) return undefined
  const calls: { [Tool in HostedTool]?: number } = {}
  for (const tool of hostedTools) {
    const count = readCount(pick(wire, names[tool] ?? []))?.tokens ?? 0
    if (count > 0) calls[tool] = count
  }
  return Object.keys(calls).length > 0 ? calls : undefined
}

/** Adds the kinds of called tools that have no price: at most ten, and only valid names. */
export function withOtherCalls(usage: Usage, kinds: readonly string[]): Usage {
  if (kinds.length === 0) return usage
  const named = [...new Set(kinds)].filter(kind => /^[a-z]\w{0,40}$/.test(kind)).slice(0, 10)
  return named.length > 0 ? { ...usage, other_calls: named } : usage
}

interface Counts {
  readonly input: number
  readonly output: number
  readonly cached: number
  readonly cacheWrite: number
  readonly reasoning: number
  readonly total: number | undefined
  readonly sound: boolean
}

/** Some providers do not count reasoning as output, or cache reads as input; the total reveals both. */
function balance({ input, output, cached, cacheWrite, reasoning, total, sound }: Counts): Usage {
  const rest = total === undefined ? 0 : total - input - output
  const reasoningBeside = reasoning > 0 && rest === reasoning
  const cacheBeside = cached > input && (rest === cached || rest === cached + reasoning)
  const input_tokens = cacheBeside ? input + cached : input
  const output_tokens = reasoningBeside || (cacheBeside && rest === cached + reasoning) ? output + reasoning : output
  const cached_tokens = Math.min(cached, input_tokens)
  const cache_write_tokens = Math.min(cacheWrite, input_tokens - cached_tokens)
  const reasoning_tokens = Math.min(reasoning, output_tokens)
  const fits = cached_tokens === cached && cache_write_tokens === cacheWrite && reasoning_tokens === reasoning
  return {
    input_tokens,
    output_tokens,
    cached_tokens,
    cache_write_tokens,
    reasoning_tokens,
    estimated: !(sound && fits) || undefined,
  }
}

/** The count under the first of the names that is set, and those beside it. */
function sum(wire: JsonObject, names: readonly string[], beside: readonly string[] = []): Counted | undefined {
  let total = readCount(pick(wire, names))
  for (const name of beside) {
    const more = readCount(pick(wire, [name]))
    total = total && more ? { tokens: total.tokens + more.tokens, sound: total.sound && more.sound } : (total ?? more)
  }
  return total
}

function pick(wire: JsonObject, names: readonly string[]): Json | undefined {
  for (const name of names) {
    const value = fieldAt(wire, name)
    if (value !== undefined && value !== null) return value
  }
  return undefined
}

function fieldAt(holder: Json | undefined, path: string): Json | undefined {
  if (!isObject(holder)) return undefined
  const dot = path.indexOf('.')
  return dot === -1 ? holder[path] : fieldAt(holder[path.slice(0, dot)], path.slice(dot + 1))
}

interface Counted {
  readonly tokens: number
  readonly sound: boolean
}

function readCount(value: Json | undefined): Counted | undefined {
  if (value === undefined || value === null) return undefined
  const tokens = typeof value === 'string' && /^\d{1,15}(\.\d+)?$/.test(value) ? Number(value) : value
  if (typeof tokens !== 'number' || !(tokens >= 0 && tokens <= maxCount)) return { tokens: 0, sound: false }
  return { tokens: Math.round(tokens), sound: true }
}

/** Adds the tier that the response reports, if any. */
export const withTier = (usage: Usage, stated: Json | undefined): Usage =>
  typeof stated === 'string' && stated !== '' ? { ...usage, service_tier: stated } : usage

/** Whether the provider counted. Zeros for a response with content mean that it did not. */
export const isCounted = (usage: Usage | undefined, answered: boolean): usage is Usage =>
  usage !== undefined && (!answered || usage.input_tokens > 0 || usage.output_tokens > 0)

/** Item types of hosted tools that vendors charge by the call. */
export const hostedItems: ReadonlyMap<Json | undefined, HostedTool> = new Map<Json | undefined, HostedTool>([
  ['web_search_call', 'web_search'],
  ['web_fetch_call', 'web_fetch'],
  ['file_search_call', 'file_search'],
  ['code_interpreter_call', 'code_interpreter'],
  // Perplexity's.
  ['search_results', 'web_search'],
  ['fetch_url_results', 'web_fetch'],
])

/** The hosted tool that an item or a block of an answer is a call of. `hostedToolOf({ type: 'server_tool_use', name: 'web_search' }) // 'web_search'` */
export const hostedToolOf = ({ type, name }: JsonObject): HostedTool | undefined =>
  hostedItems.get(type === 'server_tool_use' && typeof name === 'string' ? `${name}_call` : type)

/** The calls with one more of a tool. `oneCallMore({ web_search: 1 }, 'web_search') // { web_search: 2 }` */
export const oneCallMore = (calls: HostedCalls | undefined, tool: HostedTool): HostedCalls => ({
  ...calls,
  [tool]: (calls?.[tool] ?? 0) + 1,
})
