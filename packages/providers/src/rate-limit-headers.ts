import type { LimitHeaders } from '@signalbox/dialects/protocol'

// Rate limit headers of the vendors that send them. Sources: the vendors' pages on limits, and the headers their SDKs read.

const limit = (most: string, remaining: string, reset: string): LimitHeaders => ({ limit: most, remaining, reset })

/** `x-ratelimit-limit-requests` and so on. */
const openaiHeaders = (...names: readonly string[]): readonly LimitHeaders[] =>
  names.map(name => limit(`x-ratelimit-limit-${name}`, `x-ratelimit-remaining-${name}`, `x-ratelimit-reset-${name}`))

const anthropic = ['requests', 'tokens', 'input-tokens', 'output-tokens'].map(name =>
  limit(`anthropic-ratelimit-${name}-limit`, `anthropic-ratelimit-${name}-remaining`, `anthropic-ratelimit-${name}-reset`),
)

/** Headers for `Quirks.rate_limits`, by vendor. */
export const rateLimits = {
  /** OpenAI, Azure, Groq, xAI. */
  openai: openaiHeaders('requests', 'tokens'),
  anthropic,
  mistral: [
    limit('x-ratelimit-limit-req-minute', 'x-ratelimit-remaining-req-minute', 'ratelimitbysize-reset'),
    limit('x-ratelimit-limit-tokens-minute', 'x-ratelimit-remaining-tokens-minute', 'ratelimitbysize-reset'),
    limit('x-ratelimitbysize-limit-minute', 'x-ratelimitbysize-remaining-minute', 'ratelimitbysize-reset'),
  ],
  together: [
    limit('x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'),
    limit('x-tokenlimit-limit', 'x-tokenlimit-remaining', 'x-ratelimit-reset'),
  ],
  fireworks: openaiHeaders('requests', 'tokens-prompt', 'tokens-generated'),
  cerebras: openaiHeaders('requests-day', 'tokens-minute'),
  plain: [limit('x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset')],
} as const satisfies Record<string, readonly LimitHeaders[]>
