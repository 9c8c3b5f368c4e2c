import type { Headroom } from '../protocol/headroom.ts'
import { readDelay } from './limits.ts'

// What is left of a provider's rate limits, from the headers of its answers. Which headers those are is a fact of the provider.

/** One limit: what it allows, what is left of it, and when it is full again. */
interface Family {
  readonly limit: string
  readonly remaining: string
  readonly reset: string
}

const family = (limit: string, remaining: string, reset: string): Family => ({ limit, remaining, reset })

/** `x-ratelimit-limit-requests` and so on. */
const named = (...names: readonly string[]): readonly Family[] =>
  names.map(name => family(`x-ratelimit-limit-${name}`, `x-ratelimit-remaining-${name}`, `x-ratelimit-reset-${name}`))

const anthropic = ['requests', 'tokens', 'input-tokens', 'output-tokens'].map(name =>
  family(`anthropic-ratelimit-${name}-limit`, `anthropic-ratelimit-${name}-remaining`, `anthropic-ratelimit-${name}-reset`),
)

/** Which headers tell of limits, by the style that a provider's row names (`Quirks.rate_limits`). */
export const rateLimitStyles = {
  /** OpenAI, Azure, Groq, xAI. */
  openai: named('requests', 'tokens'),
  anthropic,
  mistral: [
    family('x-ratelimit-limit-req-minute', 'x-ratelimit-remaining-req-minute', 'ratelimitbysize-reset'),
    family('x-ratelimit-limit-tokens-minute', 'x-ratelimit-remaining-tokens-minute', 'ratelimitbysize-reset'),
    family('x-ratelimitbysize-limit-minute', 'x-ratelimitbysize-remaining-minute', 'ratelimitbysize-reset'),
  ],
  together: [
    family('x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'),
    family('x-tokenlimit-limit', 'x-tokenlimit-remaining', 'x-ratelimit-reset'),
  ],
  fireworks: named('requests', 'tokens-prompt', 'tokens-generated'),
  cerebras: named('requests-day', 'tokens-minute'),
  plain: [family('x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset')],
} as const satisfies Record<string, readonly Family[]>

export type RateLimitStyle = keyof typeof rateLimitStyles

/** Limits whose headers name no reset are minutes. */
const usualMs = 60_000

/** The tightest of the limits that the headers tell of; nothing where they tell of none. */
export function readHeadroom(header: (name: string) => string | undefined, style: RateLimitStyle, now: number): Headroom | undefined {
  let tightest: Headroom | undefined
  for (const { limit, remaining, reset } of rateLimitStyles[style]) {
    const left = count(header(remaining))
    const most = count(header(limit))
    if (left === undefined || !most) continue
    const share = Math.min(1, left / most)
    if (tightest === undefined || share < tightest.share) tightest = { share, resetsInMs: readDelay(header(reset), now) ?? usualMs }
  }
  return tightest
}

/** −1 and the like mean that nobody counts. */
function count(value: string | undefined): number | undefined {
  if (value === undefined || !/^\d{1,15}(\.\d+)?$/.test(value)) return undefined
  return Number(value)
}
