import type { RoutingStore } from '@signalbox/storage'
import pTimeout from 'p-timeout'
import type { Memory } from '../../brain/memory.ts'
import type { Moment } from '../../brain/telling.ts'
import type { Clock, Logger } from '../../runtime/ports.ts'
import { timersOf } from '../../runtime/timers.ts'
import { sha256 } from '../../runtime/web.ts'

/** Carries what a brain's memory has to tell to the store, and what others told from there. Nothing of it ever rejects. */
export interface Post {
  /** Tells everything, and asks for news. */
  exchange(): Promise<void>
  /** Tells who was asked to wait and who has read conversations. */
  tellUrgent(): Promise<void>
  /** Asks who has read a conversation, for a moment at most. */
  recall(cacheKey: string): Promise<void>
  /** Tells everything, and asks for nothing. */
  lastWord(): Promise<void>
  /** The store failed the last time that it was asked. */
  isFailing(): boolean
}

export interface PostOptions {
  readonly store: RoutingStore
  readonly memory: Memory
  readonly writer: () => string
  readonly clock: Clock
  readonly logger: Logger
}

/** A conversation's next turn waits no longer than this for what others know. */
const recallMs = 50
const storeMs = 5_000
const lastWordMs = 2_000

export function makePost({ store, memory, writer, clock, logger }: PostOptions): Post {
  const moment = (): Moment => ({ now: clock.monotonic(), at: clock.now() })
  const customTimers = timersOf(clock)
  let failing = false
  let cursor: string | undefined

  /** A store that fails takes nothing away: it is said once, and routing goes on by what is known here. */
  const lament = (error: unknown): void => {
    if (!failing) logger.warn({ error: String(error) }, 'What is known of routing cannot be shared now; each process goes by its own.')
    failing = true
  }
  const within = (milliseconds: number, ask: () => Promise<void>): Promise<void> => {
    const asked = ask().then(() => {
      failing = false
    })
    return pTimeout(asked, { milliseconds, customTimers }).catch(lament)
  }
  const tellUrgent = async (): Promise<void> => {
    const pauses = memory.pauses(moment())
    const notes = await Promise.all(memory.notes(moment()).map(async note => ({ ...note, key: await hashOf(note.key) })))
    if (pauses.length > 0) await store.pause(pauses, clock.now())
    if (notes.length > 0) await store.remember(notes, clock.now())
  }
  const tell = async (): Promise<void> => {
    const rows = memory.statistics(moment())
    if (rows.length > 0) await store.publish(rows, clock.now())
    memory.published(rows)
    await tellUrgent()
  }
  const listen = async (): Promise<void> => {
    const news = await store.news({ writer: writer(), ...(cursor !== undefined && { after: cursor }) }, clock.now())
    memory.learn(news, moment())
    cursor = news.cursor
  }
  const lookUp = async (key: string): Promise<void> => {
    const readers = await store.readers(await hashOf(key), clock.now())
    memory.recall(key, readers, moment())
  }
  return {
    exchange: () => within(storeMs, () => tell().then(listen)),
    tellUrgent: () => within(storeMs, tellUrgent),
    // Too late is no failure: what comes then is known at the next turn.
    recall: key => pTimeout(lookUp(key), { milliseconds: recallMs, fallback: () => {}, customTimers }).catch(lament),
    lastWord: () => within(lastWordMs, tell),
    isFailing: () => failing,
  }
}

/** Keys of conversations name their workspace: what leaves the process tells nothing of either. */
const hashOf = (key: string): Promise<string> => sha256(`conversation ${key}`)
