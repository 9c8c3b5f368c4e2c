import type { Awaitable } from './awaitable.ts'

/** Rate limit counters over time windows, and slots for concurrent requests. */
export interface CounterStore {
  /**
   * Adds to all counters, or to none if any would exceed its limit. A window starts at a counter's first take and holds at most `limit`;
   * after `windowMs` the counter starts again at 0. A refusal names the first full counter and the time until it has room, which is at most
   * `windowMs`.
   *
   * Clocks may be set back, and calls may arrive out of order. A window that ends later than `windowMs` from now ends `windowMs` from now
   * instead; one that ends more than twice `windowMs` from now is void, and the counter starts again at 0.
   *
   * A store on several servers keeps keys together that share the text before their first `/` (for the gateway, their workspace), or have
   * no `/`. It may reject a call whose keys differ in that text with a `RangeError`, but never counts only part of them.
   */
  take(requests: readonly CounterRequest[], at: number): Awaitable<CounterRefusal | undefined>
  /** Corrects a counter once the true amount is known. Never refuses and never starts a window. */
  add(key: string, amount: number, at: number): Awaitable<void>
  /**
   * Takes a slot; false if all are taken. The slot frees itself after `ttlMs`, so that a crash cannot keep it. The same slot twice is one
   * slot. If all are taken, a slot that ends later than `ttlMs` from now, because the clock was set back, ends `ttlMs` from now.
   */
  enter(slot: SlotRequest, at: number): Awaitable<boolean>
  /** Frees a slot. */
  leave(key: string, slot: string): Awaitable<void>
}

/** An amount to add to one counter, with the counter's limit. */
export interface CounterRequest {
  readonly key: string
  readonly amount: number
  readonly limit: number
  readonly windowMs: number
}
/** The first counter without room, and when it will have some. */
export interface CounterRefusal {
  readonly key: string
  readonly retryAfterMs: number
}
/** A slot to take: one of `limit` under the key. */
export interface SlotRequest {
  readonly key: string
  readonly slot: string
  readonly limit: number
  readonly ttlMs: number
}
