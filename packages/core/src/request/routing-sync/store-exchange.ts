import type { Moment, StateSync } from '@signalbox/router/sync'
import type { RoutingStore } from '@signalbox/storage'
import pTimeout from 'p-timeout'
import type { Clock, Logger } from '../../runtime/ports.ts'
import { timersOf } from '../../runtime/timers.ts'
import { sha256 } from '../../runtime/web.ts'

/** Moves routing statistics between the router's shared state and the store. Its promises never reject. */
export interface StoreExchange {
  /** Publishes everything, then reads what other processes published. */
  exchange(): Promise<void>
  /** Publishes pauses and cache notes. */
  publishUrgent(): Promise<void>
  /** Looks up which offers have cached a conversation, within a short time limit. */
  lookUpReaders(cacheKey: string): Promise<void>
  /** Publishes everything. */
  publishAll(): Promise<void>
  /** Whether the last access to the store failed. */
  isFailing(): boolean
}

export interface StoreExchangeOptions {
  readonly store: RoutingStore
  readonly sync: StateSync
  readonly writer: () => string
  readonly clock: Clock
  readonly logger: Logger
}

/** Maximum milliseconds that a request waits for a lookup. */
const lookUpMs = 50
const storeMs = 5_000
const closeMs = 2_000

export function createStoreExchange({ store, sync, writer, clock, logger }: StoreExchangeOptions): StoreExchange {
  const moment = (): Moment => ({ now: clock.monotonic(), at: clock.now() })
  const customTimers = timersOf(clock)
  let failing = false
  let cursor: string | undefined

  /** Logs a failing store once. Routing continues with local statistics. */
  const reportFailure = (error: unknown): void => {
    if (!failing) logger.warn({ error: String(error) }, 'Routing statistics cannot be shared at the moment. Each process uses its own.')
    failing = true
  }
  const within = (milliseconds: number, ask: () => Promise<void>): Promise<void> => {
    const access = ask().then(() => {
      failing = false
    })
    return pTimeout(access, { milliseconds, customTimers }).catch(reportFailure)
  }
  const publishNews = async (): Promise<void> => {
    const pauses = sync.newPauses(moment())
    const notes = await Promise.all(sync.newCacheNotes(moment()).map(async note => ({ ...note, key: await hashOf(note.key) })))
    if (pauses.length > 0) await store.pause(pauses, clock.now())
    if (notes.length > 0) await store.remember(notes, clock.now())
  }
  const publish = async (): Promise<void> => {
    const rows = sync.changedStatistics(moment())
    if (rows.length > 0) await store.publish(rows, clock.now())
    sync.markPublished(rows)
    await publishNews()
  }
  const receive = async (): Promise<void> => {
    const news = await store.news({ writer: writer(), after: cursor }, clock.now())
    sync.receive(news, moment())
    cursor = news.cursor
  }
  const lookUp = async (key: string): Promise<void> => {
    const readers = await store.readers(await hashOf(key), clock.now())
    sync.addCacheHolders(key, readers, moment())
  }
  return {
    exchange: () => within(storeMs, () => publish().then(receive)),
    publishUrgent: () => within(storeMs, publishNews),
    // A late result is not a failure: it is used for the next turn.
    lookUpReaders: key => pTimeout(lookUp(key), { milliseconds: lookUpMs, fallback: () => {}, customTimers }).catch(reportFailure),
    publishAll: () => within(closeMs, publish),
    isFailing: () => failing,
  }
}

/** Conversation keys contain their workspace id; the hash reveals neither. */
const hashOf = (key: string): Promise<string> => sha256(`conversation ${key}`)
