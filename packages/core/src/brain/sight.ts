import type { RouterOffer } from './port.ts'

/**
 * What a strategy sees of an offer, for one request: expectations, each a finite number. They are kept in single precision, so
 * that a trace of four bytes a number replays bit for bit.
 */
export interface Sight {
  /** USD that the answer will cost, a warm cache and the further turns of its conversation reckoned in. */
  readonly cost: number
  /** Milliseconds to first content. */
  readonly firstContentMs: number
  /** Milliseconds from there to the end. */
  readonly growingMs: number
  /** That it fails before first content: 0 to 1. Another can still answer then. */
  readonly failure: number
  /** Milliseconds that such a failure costs. */
  readonly lostMs: number
  /** That it breaks off after first content: 0 to 1. Nothing can be done then. */
  readonly breaking: number
  /** That first content comes after the deadline: 0 to 1. */
  readonly lateness: number
  /** Milliseconds for which it asked to be left alone, or is full. 0: it has room. */
  readonly heldMs: number
  /** Milliseconds for which it is left alone since it failed again and again. 0: it is not. */
  readonly restingMs: number
  /** Share of its rate limit that is left, where its headers told: 0 to 1. */
  readonly headroom: number
  /** Tokens of the prompt that it has probably in its cache. */
  readonly warmTokens: number
  /** Milliseconds since it was last heard of; large where never. */
  readonly unheardMs: number
  /** USD that a place at it is worth to others. 0: there are enough. */
  readonly scarcity: number
}

/** Lower goes first; of equals the one that stands earlier. A strategy sees facts and returns a number: it can call nobody. */
export type Strategy = (sight: Sight, offer: RouterOffer) => number
