/** What is left of a provider's rate limit: of several the tightest. */
export interface Headroom {
  /** From 0 (used up) to 1. */
  readonly share: number
  /** Until it is full again. */
  readonly resetsInMs: number
}
