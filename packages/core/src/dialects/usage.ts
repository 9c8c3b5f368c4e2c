import type { Usage } from '../protocol/response.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'

/** More tokens than any answer has: a larger count is an error of the provider. */
const maxTokens = 1e12

/** Field names of one dialect, first match wins; a dot goes one level down. */
export interface UsageNames {
  readonly input: readonly string[]
  /** Counts that are not part of the provider's `input`, and are part of ours. */
  readonly inputBeside?: readonly string[]
  readonly output: readonly string[]
  readonly outputBeside?: readonly string[]
  readonly cached: readonly string[]
  readonly cacheWrite: readonly string[]
  /** Cache writes that are kept for an hour. */
  readonly longWrite?: readonly string[]
  readonly reasoning: readonly string[]
  /** Default: `total_tokens`. */
  readonly total?: string
}

export const usageNames = {
  responses: {
    input: ['input_tokens'],
    output: ['output_tokens'],
    cached: ['input_tokens_details.cached_tokens'],
    cacheWrite: ['input_tokens_details.cache_write_tokens', 'input_tokens_details.cache_creation_tokens'],
    reasoning: ['output_tokens_details.reasoning_tokens'],
  },
  chat: {
    input: ['prompt_tokens', 'input_tokens'],
    output: ['completion_tokens', 'output_tokens'],
    cached: ['prompt_tokens_details.cached_tokens', 'prompt_cache_hit_tokens', 'cached_tokens', 'num_cached_tokens'],
    cacheWrite: ['prompt_tokens_details.cache_write_tokens', 'prompt_tokens_details.cache_creation_tokens'],
    reasoning: ['completion_tokens_details.reasoning_tokens', 'reasoning_tokens'],
  },
  messages: {
    input: ['input_tokens'],
    inputBeside: ['cache_creation_input_tokens', 'cache_read_input_tokens'],
    output: ['output_tokens'],
    cached: ['cache_read_input_tokens'],
    cacheWrite: ['cache_creation_input_tokens'],
    longWrite: ['cache_creation.ephemeral_1h_input_tokens'],
    reasoning: ['output_tokens_details.thinking_tokens'],
  },
  gemini: {
    input: ['promptTokenCount'],
    inputBeside: ['toolUsePromptTokenCount'],
    output: ['candidatesTokenCount'],
    outputBeside: ['thoughtsTokenCount'],
    cached: ['cachedContentTokenCount'],
    cacheWrite: [],
    reasoning: ['thoughtsTokenCount'],
    total: 'totalTokenCount',
  },
  bedrock: {
    input: ['inputTokens'],
    inputBeside: ['cacheReadInputTokens', 'cacheWriteInputTokens'],
    output: ['outputTokens'],
    cached: ['cacheReadInputTokens'],
    cacheWrite: ['cacheWriteInputTokens'],
    reasoning: [],
  },
} as const satisfies Record<string, UsageNames>

/**
 * The provider's counts of tokens, made to add up. Undefined if there are none, so that the gateway counts; `estimated` if they
 * cannot be right.
 */
export function readUsage(wire: Json | undefined, names: UsageNames): Usage | undefined {
  if (!isObject(wire)) return undefined
  const input = sum(wire, [names.input, ...beside(names.inputBeside)])
  const output = sum(wire, [names.output, ...beside(names.outputBeside)])
  if (input === undefined && output === undefined) return undefined
  const cached = count(pick(wire, names.cached))?.tokens ?? 0
  const cacheWrite = count(pick(wire, names.cacheWrite))?.tokens ?? 0
  const reasoning = count(pick(wire, names.reasoning))?.tokens ?? 0
  const total = count(wire[names.total ?? 'total_tokens'])?.tokens
  const long = names.longWrite ? (count(pick(wire, names.longWrite))?.tokens ?? 0) : 0
  const usage = balance({
    input: input?.tokens ?? 0,
    output: output?.tokens ?? 0,
    cached,
    cacheWrite,
    reasoning,
    total,
    sound: input?.sound !== false && output?.sound !== false,
  })
  return long === 0 ? usage : { ...usage, cache_write_1h_tokens: Math.min(long, usage.cache_write_tokens) }
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

/** Some providers do not count thoughts as output, or cache reads as input; the total shows both. */
function balance({ input, output, cached, cacheWrite, reasoning, total, sound }: Counts): Usage {
  const rest = total === undefined ? 0 : total - input - output
  const thoughtsBeside = reasoning > 0 && rest === reasoning
  const cacheBeside = cached > input && (rest === cached || rest === cached + reasoning)
  const input_tokens = cacheBeside ? input + cached : input
  const output_tokens = thoughtsBeside || (cacheBeside && rest === cached + reasoning) ? output + reasoning : output
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
    ...(!(sound && fits) && { estimated: true }),
  }
}

const beside = (names: readonly string[] = []): readonly (readonly string[])[] => names.map(name => [name])

function sum(wire: JsonObject, fields: readonly (readonly string[])[]): Counted | undefined {
  const counted = fields.map(names => count(pick(wire, names))).filter(each => each !== undefined)
  if (counted.length < 2) return counted[0]
  return { tokens: counted.reduce((total, { tokens }) => total + tokens, 0), sound: counted.every(({ sound }) => sound) }
}

function pick(wire: JsonObject, names: readonly string[]): Json | undefined {
  for (const name of names) {
    const dot = name.indexOf('.')
    const holder = dot === -1 ? wire : wire[name.slice(0, dot)]
    const value = isObject(holder) ? holder[name.slice(dot + 1)] : undefined
    if (value !== undefined && value !== null) return value
  }
  return undefined
}

interface Counted {
  readonly tokens: number
  readonly sound: boolean
}

function count(value: Json | undefined): Counted | undefined {
  if (value === undefined || value === null) return undefined
  const tokens = typeof value === 'string' && /^\d{1,15}(\.\d+)?$/.test(value) ? Number(value) : value
  if (typeof tokens !== 'number' || !(tokens >= 0 && tokens <= maxTokens)) return { tokens: 0, sound: false }
  return { tokens: Math.round(tokens), sound: true }
}

/** Zeros for an answer that has content mean that the provider did not count. */
export const isCounted = (usage: Usage | undefined, answered: boolean): usage is Usage =>
  usage !== undefined && (!answered || usage.input_tokens > 0 || usage.output_tokens > 0)
