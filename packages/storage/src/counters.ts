import type { Awaitable } from './awaitable.ts'

export interface CounterStore {
  /**
   * Adds to all counters, or to none if any would pass its limit. A window begins at a counter's first take and holds
   * at most `limit`; after `windowMs` the counter begins anew. The refusal names the first counter without room, and the
   * time until it has some, which is `windowMs` at most.
   *
   * Clocks may be set, and calls may come out of order. A window that ends later than `windowMs` from now ends `windowMs` from now
   * instead; where that is more than `windowMs` later still, the clock went back and the window is void: the counter begins anew.
   */
  take(requests: readonly CounterRequest[], at: number): Awaitable<CounterRefusal | undefined>
  /** Corrects a counter once the true amount is known. Never refuses; never starts a window. */
  add(key: string, amount: number, at: number): Awaitable<void>
  /**
   * A slot that frees itself after `ttlMs`, so that a crash cannot hold it. False: all are taken. The same slot twice is one slot.
   * Where all are taken, a slot that ends later than `ttlMs` from now, since the clock went back, ends `ttlMs` from now instead.
   */
  enter(slot: SlotRequest, at: number): Awaitable<boolean>
  leave(key: string, slot: string): Awaitable<void>
}

export interface CounterRequest {
  readonly key: string
  readonly amount: number
  readonly limit: number
  readonly windowMs: number
}
export interface CounterRefusal {
  readonly key: string
  readonly retryAfterMs: number
}
export interface SlotRequest {
  readonly key: string
  readonly slot: string
  readonly limit: number
  readonly ttlMs: number
}
