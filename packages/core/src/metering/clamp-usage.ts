import { withoutSteps, withSteps } from '@signalbox/dialects/common'
import type { ExtraSteps, HostedCalls, Usage } from '@signalbox/dialects/protocol'
import { maxCountedTokens, maxStepOutput } from './estimate.ts'
import { type AllowedSteps, clampCalls } from './hosted-calls.ts'
import { maxHostedCalls, saneUsage } from './money.ts'

// Usage reported by a provider is clamped to what is possible: input to what was sent and fits the context window, output to what was
// requested, calls of hosted tools and further calls of the model to those that the request asks for.

export interface UsageBounds {
  /** The model's context window in tokens. Undefined if unknown. */
  readonly contextWindow?: number | undefined
  /** Upper bound from the bytes of the prompt. Called only if the reported input exceeds `likelyInput`: it reads the whole prompt. */
  readonly maxInput: () => number
  readonly likelyInput: number
  /** The output limit that was sent, or the model's maximum. Undefined if unknown. */
  readonly maxOutput?: number | undefined
  /** The most calls of each hosted tool. Called only if calls are reported. */
  readonly maxCalls: () => HostedCalls
  /** The model calls beside that of the answer. Called only if such calls are reported. */
  readonly maxSteps: () => AllowedSteps
  /** Characters of reasoning received: some providers do not count reasoning towards the limit. */
  readonly reasoningCharacters: number
}

export interface ClampedUsage {
  readonly usage: Usage
  /** The reported usage was impossible. */
  readonly isClamped: boolean
}

/** Providers may exceed an output limit by this factor. */
const slack = 1.05

export function clampUsage(claimed: Usage, bounds: UsageBounds): ClampedUsage {
  const { extra_steps: steps } = claimed
  const { usage, isClamped } = clampTotals(steps ? withoutSteps(claimed) : claimed, bounds)
  const called = withPossibleCalls(usage, bounds)
  const possible = steps && clampSteps(steps, bounds)
  const isReduced = called !== usage || possible !== steps
  const total = possible ? withSteps(called, possible) : called
  return { usage: isReduced ? { ...total, estimated: true } : total, isClamped: isClamped || isReduced }
}

function withPossibleCalls(usage: Usage, { maxCalls }: UsageBounds): Usage {
  const { hosted_calls: claimed, ...rest } = usage
  const calls = clampCalls(claimed, maxCalls)
  return calls === claimed ? usage : { ...rest, hosted_calls: calls }
}

/**
 * Each step that the request allows reads at most the prompt, and writes no more than it reads, as a summary does. Undefined if the
 * request allows none.
 */
function clampSteps(steps: ExtraSteps, { contextWindow = maxCountedTokens, maxInput, maxSteps }: UsageBounds): ExtraSteps | undefined {
  const { compactions, advice } = maxSteps()
  const count = Math.min(steps.count, compactions + advice)
  if (count === 0) return undefined
  const longest = Math.min(maxCountedTokens, Math.min(contextWindow, maxInput()) * count)
  const input_tokens = Math.min(steps.input_tokens, longest)
  const output_tokens = Math.min(steps.output_tokens, input_tokens, maxStepOutput * count)
  if (count === steps.count && input_tokens === steps.input_tokens && output_tokens === steps.output_tokens) return steps
  const cached_tokens = Math.min(steps.cached_tokens, input_tokens)
  const cache_write_tokens = Math.min(steps.cache_write_tokens, input_tokens - cached_tokens)
  const cache_write_1h_tokens = Math.min(steps.cache_write_1h_tokens, cache_write_tokens)
  return { count, input_tokens, output_tokens, cached_tokens, cache_write_tokens, cache_write_1h_tokens }
}

function clampTotals(claimed: Usage, { contextWindow, maxInput, likelyInput, maxOutput, reasoningCharacters }: UsageBounds): ClampedUsage {
  const usage = saneUsage(claimed)
  const longest = contextWindow ?? maxCountedTokens
  const input =
    usage.input_tokens <= Math.min(likelyInput, longest) ? usage.input_tokens : Math.min(usage.input_tokens, longest, maxInput())
  // A character is rarely more than one token; in Chinese it is one.
  const cap = maxOutput === undefined ? longest : Math.ceil(maxOutput * slack) + reasoningCharacters
  const output = Math.min(usage.output_tokens, cap)
  if (input === usage.input_tokens && output === usage.output_tokens) return { usage, isClamped: usage !== claimed && isBeyond(claimed) }
  // The parts are reduced to fit the clamped totals.
  return { usage: { ...saneUsage({ ...usage, input_tokens: input, output_tokens: output }), estimated: true }, isClamped: true }
}

/** Exceeds what any prompt or response can contain. */
const isBeyond = ({ input_tokens, output_tokens, hosted_calls = {} }: Usage): boolean =>
  input_tokens > maxCountedTokens || output_tokens > maxCountedTokens || Object.values(hosted_calls).some(calls => calls > maxHostedCalls)
