import type { Usage } from '../protocol/response.ts'
import { maxCountedTokens } from './estimate.ts'
import { maxHostedCalls, saneUsage } from './money.ts'

// Usage reported by a provider is clamped to what is possible: input up to what was sent and fits the context window, output up to what
// was requested.

export interface UsageBounds {
  /** Tokens that the model reads at most. Absent: not known. */
  readonly contextWindow?: number | undefined
  /** By the bytes of the prompt. Called only where a claim is above `likelyInput`, since it reads the prompt once more. */
  readonly maxInput: () => number
  readonly likelyInput: number
  /** The cap that was sent, or what the model can write. Absent: not known. */
  readonly maxOutput?: number | undefined
  /** Characters of thoughts that were seen: not every provider's cap counts them. */
  readonly thoughtCharacters: number
}

export interface ClampedUsage {
  readonly usage: Usage
  /** What was claimed cannot be. */
  readonly isClamped: boolean
}

/** Providers may pass a cap by this before anything is wrong. */
const slack = 1.05

export function clampUsage(
  claimed: Usage,
  { contextWindow, maxInput, likelyInput, maxOutput, thoughtCharacters }: UsageBounds,
): ClampedUsage {
  const usage = saneUsage(claimed)
  const longest = contextWindow ?? maxCountedTokens
  const input =
    usage.input_tokens <= Math.min(likelyInput, longest) ? usage.input_tokens : Math.min(usage.input_tokens, longest, maxInput())
  // In hardly any script is a character more than a token, and in Chinese it is one.
  const cap = maxOutput === undefined ? longest : Math.ceil(maxOutput * slack) + thoughtCharacters
  const output = Math.min(usage.output_tokens, cap)
  if (input === usage.input_tokens && output === usage.output_tokens) return { usage, isClamped: usage !== claimed && isBeyond(claimed) }
  // Parts of what was cut are made to fit.
  return { usage: { ...saneUsage({ ...usage, input_tokens: input, output_tokens: output }), estimated: true }, isClamped: true }
}

/** More than any prompt or answer can have. */
const isBeyond = ({ input_tokens, output_tokens, hosted_calls = {} }: Usage): boolean =>
  input_tokens > maxCountedTokens || output_tokens > maxCountedTokens || Object.values(hosted_calls).some(calls => calls > maxHostedCalls)
