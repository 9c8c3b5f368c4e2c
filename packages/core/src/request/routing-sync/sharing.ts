import type { RoutingStore } from '@signalbox/storage'
import { makeDice, seedFrom } from '../../brain/dice.ts'
import { createMemory, type Memory } from '../../brain/memory.ts'
import type { Clock, Ids, Logger } from '../../runtime/ports.ts'
import { makePost } from './post.ts'

/** Tells other processes what this one's brain learns, and its brain what they learn: while requests run, and never in their way. */
export interface Sharing {
  /** What the brain is made with. */
  readonly memory: Memory
  /** A request was admitted. */
  begin(): void
  /** None is left. */
  end(): void
  /** Who has read a conversation that is not known here. Nothing: there is nothing to wait for. Never rejects. */
  recall(cacheKey: string | undefined): Promise<void> | undefined
  /** Tells what was not told yet, and then nothing more. */
  close(): Promise<void>
}

export interface SharingOptions {
  readonly store: RoutingStore
  readonly clock: Clock
  readonly ids: Ids
  readonly logger: Logger
}

/** Between two exchanges, drawn anew each time: processes that start together must not ask together for ever. */
const exchangeMs = { least: 5_000, most: 15_000 } as const
/** What is urgent is told together, after so long. */
const soonMs = 250

export function keepSharing({ store, clock, ids, logger }: SharingOptions): Sharing {
  // A name and a seed are drawn at first use: some runtimes have no chance before their first request.
  const writer = once(() => ids.hex(16))
  const dice = once(() => makeDice(seedFrom(ids)))
  const memory = createMemory({ writer, urgent: () => tellSoon() })
  const post = makePost({ store, memory, writer, clock, logger })
  let open = true
  let busy = false
  let dueAt = Number.NEGATIVE_INFINITY
  let timer: unknown
  let soon: unknown
  let exchanging: Promise<void> | undefined

  const exchange = (): void => {
    dueAt = clock.monotonic() + exchangeMs.least + (exchangeMs.most - exchangeMs.least) * dice()()
    exchanging ??= post.exchange().finally(() => {
      exchanging = undefined
    })
  }
  const tick = (): void => {
    if (clock.monotonic() >= dueAt) exchange()
    // Whole milliseconds, so that a timer is not set for less than a clock can show.
    timer = clock.setTimeout(tick, Math.ceil(dueAt - clock.monotonic()))
  }
  const tellNow = (): void => {
    clock.clearTimeout(soon)
    soon = undefined
    // What cannot be told waits for the next exchange, which finds out whether the store is back.
    if (!post.isFailing()) void post.tellUrgent()
  }
  const tellSoon = (): void => {
    if (!open || post.isFailing()) return
    if (busy) soon ??= clock.setTimeout(tellNow, soonMs)
    else tellNow()
  }
  const rest = (): void => {
    clock.clearTimeout(timer)
    if (soon !== undefined) tellNow()
    busy = false
  }
  return {
    memory,
    begin() {
      if (busy || !open) return
      busy = true
      tick()
    },
    end() {
      if (!busy) return
      rest()
      if (clock.monotonic() >= dueAt) exchange()
    },
    recall(cacheKey) {
      const isUnknown = cacheKey !== undefined && open && !post.isFailing() && memory.isMissing(cacheKey, clock.monotonic())
      return isUnknown ? post.recall(cacheKey) : undefined
    },
    async close() {
      if (!open) return
      rest()
      open = false
      await exchanging
      // Whoever never had a request has nothing to tell.
      if (dueAt !== Number.NEGATIVE_INFINITY) await post.lastWord()
    },
  }
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
