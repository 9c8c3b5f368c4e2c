import { withoutSteps } from '@signalbox/dialects/common'
import type { HostedCalls, Usage } from '@signalbox/dialects/protocol'
import { type HostedTool, type HostedToolRates, hostedTools, type Price, type Rates, ratesAt } from '@signalbox/dialects/protocol'

/** 1 USD = 1,000,000. Always an integer. */
export type Microdollars = number

// Amounts are whole microdollars in every balance, hold and entry, so a request costs up to one microdollar too much. Rounding down, or to
// the nearest, would make small requests free, and a client could split its work into them.

/** Cost of usage at a price, all of it at the tier that its input falls into. Rounded up once per request. */
export function costOf(price: Price, usage: Usage): Microdollars {
  const { extra_steps: steps } = usage
  if (!steps) return costAt(ratesAt(price, usage.input_tokens), usage)
  // Each call of the model has a prompt of its own, and so a tier of its own.
  const own = withoutSteps(usage)
  const length = Math.ceil(steps.input_tokens / Math.max(1, steps.count))
  return costAt(ratesAt(price, own.input_tokens), own, tokenSum(ratesAt(price, length), { ...steps, reasoning_tokens: 0 }))
}

/** Cost of usage at rates that are already selected. `more`: the `tokenSum` of further calls of the model. */
export function costAt(rates: Rates, usage: Usage, more = 0): Microdollars {
  return (
    Math.ceil((tokenSum(rates, usage) + more) / 1_000_000) +
    (rates.request ?? 0) +
    (usage.hosted_calls ? hostedCost(rates.tools, usage.hosted_calls) : 0)
  )
}

/** Hosted calls of a kind without a known price cost nothing; `unpricedTools` lists them. */
export function hostedCost(rates: HostedToolRates = {}, calls: HostedCalls): Microdollars {
  let cost = 0
  for (const tool of hostedTools) cost += (rates[tool] ?? 0) * (calls[tool] ?? 0)
  return cost
}

/** Kinds of hosted tools that were called and have no known price. */
export const unpricedTools = ({ tools = {} }: Rates, { hosted_calls: calls = {} }: Usage): readonly HostedTool[] =>
  hostedTools.filter(tool => (calls[tool] ?? 0) > 0 && tools[tool] === undefined)

/** The cost of tokens in millionths of a microdollar. */
function tokenSum(rates: Rates, usage: Usage): number {
  const cached = usage.cached_tokens
  const written = usage.cache_write_tokens
  const long = usage.cache_write_1h_tokens ?? 0
  const plain = usage.input_tokens - cached - written
  const audio = usage.audio_tokens ?? 0
  return (
    (plain - audio) * rates.input +
    audio * (rates.inputAudio ?? rates.input) +
    cached * (rates.cached ?? rates.input) +
    (written - long) * (rates.cacheWrite ?? rates.input) +
    long * (rates.cacheWrite1h ?? 2 * rates.input) +
    usage.output_tokens * rates.output
  )
}

/** More tokens than any response can have; keeps tokens × price far below 2⁵³. */
const most = 10_000_000
/** More hosted tool calls than one response makes. */
export const maxHostedCalls = 1_000

/** A plausible count: whole, not negative, and at most `max`. */
const wholeUpTo =
  (max: number) =>
  (value: number): number =>
    Number.isFinite(value) ? Math.min(max, Math.max(0, Math.ceil(value))) : 0
const wholeTokens = wholeUpTo(most)
const wholeCalls = wholeUpTo(maxHostedCalls)

/** Makes a provider's usage consistent: no negative counts, no part larger than its total. Changed usage is marked `estimated`. */
export function saneUsage(usage: Usage): Usage {
  const input_tokens = wholeTokens(usage.input_tokens)
  const output_tokens = wholeTokens(usage.output_tokens)
  const cached_tokens = Math.min(input_tokens, wholeTokens(usage.cached_tokens))
  const cache_write_tokens = Math.min(input_tokens - cached_tokens, wholeTokens(usage.cache_write_tokens))
  const reasoning_tokens = Math.min(output_tokens, wholeTokens(usage.reasoning_tokens))
  const { cache_write_1h_tokens: long, audio_tokens: audio, hosted_calls: calls } = usage
  const hosted_calls = calls && saneCalls(calls)
  const cache_write_1h_tokens = long === undefined ? undefined : Math.min(cache_write_tokens, wholeTokens(long))
  const audio_tokens = audio === undefined ? undefined : Math.min(input_tokens - cached_tokens - cache_write_tokens, wholeTokens(audio))
  const same =
    input_tokens === usage.input_tokens &&
    output_tokens === usage.output_tokens &&
    cached_tokens === usage.cached_tokens &&
    cache_write_tokens === usage.cache_write_tokens &&
    reasoning_tokens === usage.reasoning_tokens &&
    cache_write_1h_tokens === long &&
    audio_tokens === audio &&
    hosted_calls === calls
  if (same) return usage
  const parts = {
    cached_tokens,
    cache_write_tokens,
    cache_write_1h_tokens,
    reasoning_tokens,
    audio_tokens,
    hosted_calls,
  }
  return { input_tokens, output_tokens, ...parts, estimated: true }
}

/** Returns the same object if every count is plausible. */
function saneCalls(calls: HostedCalls): HostedCalls {
  if (hostedTools.every(tool => calls[tool] === undefined || calls[tool] === wholeCalls(calls[tool] ?? 0))) return calls
  return Object.fromEntries(hostedTools.flatMap(tool => (calls[tool] === undefined ? [] : [[tool, wholeCalls(calls[tool] ?? 0)]])))
}
