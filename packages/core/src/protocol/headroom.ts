/** What is left of a provider's rate limit: of several the tightest. */
export interface Headroom {
  /** From 0 (used up) to 1. */
  readonly share: number
  /** Until it is full again. */
  readonly resetsInMs: number
}

/** The headers in which a provider tells of one limit: what it allows, what is left of it, and when it is full again. */
export interface LimitHeaders {
  readonly limit: string
  readonly remaining: string
  readonly reset: string
}
