import type { Usage } from '../protocol/response.ts'
import { maxCountedTokens } from './estimate.ts'
import { maxHostedCalls, saneUsage } from './money.ts'

// Usage reported by a provider is clamped to what is possible: input to what was sent and fits the context window, output to what was
// requested.

export interface UsageBounds {
  /** The model's context window in tokens. Undefined if unknown. */
  readonly contextWindow?: number | undefined
  /** Upper bound from the bytes of the prompt. Called only if the reported input exceeds `likelyInput`: it reads the whole prompt. */
  readonly maxInput: () => number
  readonly likelyInput: number
  /** The output limit that was sent, or the model's maximum. Undefined if unknown. */
  readonly maxOutput?: number | undefined
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

export function clampUsage(
  claimed: Usage,
  { contextWindow, maxInput, likelyInput, maxOutput, reasoningCharacters }: UsageBounds,
): ClampedUsage {
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
