import type { RoutingStore } from '@signalbox/storage'
import pTimeout from 'p-timeout'
import { makeDice } from '../brain/dice.ts'
import { createMemory, type Memory } from '../brain/memory.ts'
import type { Moment } from '../brain/telling.ts'
import type { Clock, Ids, Logger } from '../runtime/ports.ts'
import { timersOf } from '../runtime/timers.ts'

/** Tells other processes what this one's brain learns, and its brain what they learn: while requests run, and never in their way. */
export interface Sharing {
  /** What the brain is made with. */
  readonly memory: Memory
  /** A request was admitted. */
  begin(): void
  /** None is left. */
  end(): void
  /** Who has read a conversation that is not known here, looked up for a moment at most. Nothing: there is nothing to wait for. */
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
/** A conversation's next turn waits no longer than this for what others know. */
const recallMs = 50
const storeMs = 5_000
const lastWordMs = 2_000

export function keepSharing({ store, clock, ids, logger }: SharingOptions): Sharing {
  // A name and a seed are drawn at first use: some runtimes have no chance before their first request.
  let name: string | undefined
  let dice: (() => number) | undefined
  const writer = (): string => {
    name ??= ids.uuid()
    return name
  }
  const chance = (): number => {
    dice ??= makeDice(new DataView(ids.random(4).slice().buffer).getInt32(0))
    return dice()
  }
  const memory = createMemory({ writer, urgent: () => tellSoon() })
  const moment = (): Moment => ({ now: clock.monotonic(), at: clock.now() })
  const customTimers = timersOf(clock)

  let open = true
  let busy = false
  let failing = false
  let dueAt = Number.NEGATIVE_INFINITY
  let cursor: string | undefined
  let timer: unknown
  let soon: unknown
  let exchanging: Promise<void> | undefined

  /** A store that fails takes nothing away: it is said once, and routing goes on by what is known here. */
  const trouble = (error: unknown): void => {
    if (!failing) logger.warn({ error: String(error) }, 'What is known of routing cannot be shared now; each process goes by its own.')
    failing = true
  }
  const attempt = (exchange: () => Promise<void>, milliseconds = storeMs): Promise<void> =>
    pTimeout(
      exchange().then(() => {
        failing = false
      }),
      { milliseconds, customTimers },
    ).catch(trouble)

  const tell = async (): Promise<void> => {
    const rows = memory.statistics(moment())
    if (rows.length > 0) await store.publish(rows, clock.now())
    memory.published(rows)
    await tellUrgent()
  }
  const tellUrgent = async (): Promise<void> => {
    const pauses = memory.pauses(moment())
    const notes = memory.notes(moment())
    if (pauses.length > 0) await store.pause(pauses, clock.now())
    if (notes.length > 0) await store.remember(notes, clock.now())
  }
  const listen = async (): Promise<void> => {
    const news = await store.news({ writer: writer(), ...(cursor !== undefined && { after: cursor }) }, clock.now())
    memory.learn(news, moment())
    cursor = news.cursor
  }
  const lookUp = async (key: string): Promise<void> => memory.recall(key, await store.readers(key, clock.now()), moment())
  const exchange = (): void => {
    dueAt = clock.monotonic() + exchangeMs.least + (exchangeMs.most - exchangeMs.least) * chance()
    exchanging ??= attempt(async () => {
      await tell()
      await listen()
    }).finally(() => {
      exchanging = undefined
    })
  }
  const tick = (): void => {
    exchange()
    timer = clock.setTimeout(tick, dueAt - clock.monotonic())
  }
  const tellNow = (): void => {
    clock.clearTimeout(soon)
    soon = undefined
    // What cannot be told waits for the next exchange, which finds out whether the store is back.
    if (open && !failing) void attempt(tellUrgent)
  }
  const tellSoon = (): void => {
    if (!open || failing) return
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
      if (clock.monotonic() >= dueAt) exchange()
      timer = clock.setTimeout(tick, dueAt - clock.monotonic())
    },
    end() {
      if (!busy) return
      rest()
      if (clock.monotonic() >= dueAt) exchange()
    },
    recall(cacheKey) {
      if (cacheKey === undefined || !open || failing || !memory.isMissing(cacheKey, clock.monotonic())) return undefined
      // Too late is no failure: what comes then is known at the next turn.
      return pTimeout(lookUp(cacheKey), { milliseconds: recallMs, fallback: () => {}, customTimers }).catch(trouble)
    },
    async close() {
      if (!open) return
      rest()
      open = false
      await exchanging
      if (name !== undefined) await attempt(tell, lastWordMs)
    },
  }
}
