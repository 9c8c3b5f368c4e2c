/** The remaining share of a provider's rate limit. With several limits, the tightest. */
export interface Headroom {
  /** From 0 (used up) to 1. */
  readonly share: number
  /** Milliseconds until the limit is fully available again. */
  readonly resetsInMs: number
}

/** The headers in which a provider reports one limit: the maximum, the remainder, and the reset time. */
export interface LimitHeaders {
  readonly limit: string
  readonly remaining: string
  readonly reset: string
}
