import type { Reader, ReaderNote, RoutingNews } from '@signalbox/storage'
import { type Affinity, makeAffinity, type Warm } from './affinity.ts'
import type { Belief } from './belief.ts'
import { makeHearing } from './hearing.ts'
import { soundNews, soundReaders } from './hearsay.ts'
import { type Moment, makeTelling, type Telling } from './telling.ts'

// What a brain shares with those of other processes. It reads no clock and calls no store: somebody asks it what is to be told,
// and tells it what was heard. A brain without one works the same, alone.

export interface Memory extends Pick<Telling, 'statistics' | 'published' | 'limited' | 'pauses'> {
  /** The brain's own, which notes what others should know. */
  readonly affinity: Affinity
  /** The brain begins to believe something of an offer. */
  met(offer: string, belief: Belief, now: number): void
  /** Who has read conversations since it was last asked. */
  notes(moment: Moment): readonly ReaderNote[]
  /** What others have learned. The same news twice teaches nothing. */
  learn(news: RoutingNews, moment: Moment): void
  /** Nobody here has read the conversation lately: others may have. */
  isMissing(key: string, now: number): boolean
  /** Who has read it elsewhere. */
  recall(key: string, readers: readonly Reader[], moment: Moment): void
}

export interface MemoryOptions {
  /** The name of this process among those that share; asked at first use. */
  readonly writer: () => string
  /** Something should be told soon: a note, or a pause. */
  readonly urgent: () => void
}

/** Notes that wait to be told; more than this are dropped, since a store that takes none must not fill the process. */
const mostNotes = 2_000
/** Whoever read a conversation here longer ago may not be the last: its turns go to any process. */
const lastReadMs = 30_000

export function createMemory({ writer, urgent }: MemoryOptions): Memory {
  const telling = makeTelling(writer)
  const hearing = makeHearing(writer)
  const affinity = makeAffinity()
  let waiting = new Map<string, { readonly key: string; readonly warm: Warm }>()
  return {
    statistics: telling.statistics,
    published: telling.published,
    pauses: telling.pauses,
    limited(offer) {
      telling.limited(offer)
      urgent()
    },
    affinity: {
      ...affinity,
      read(key, warm) {
        affinity.read(key, warm)
        // What is too short to be kept is kept here neither.
        if (affinity.of(key)[0] !== warm || waiting.size >= mostNotes) return
        waiting.set(`${key} ${warm.id}`, { key, warm })
        urgent()
      },
    },
    met(offer, belief, now) {
      telling.met(offer, belief)
      hearing.met(offer, belief, now)
    },
    notes({ now, at }) {
      const told = [...waiting.values()]
      waiting = new Map()
      return told.map(({ key, warm }) => ({ key, offer: warm.id, tokens: warm.tokens, at: Math.round(at - (now - warm.at)) }))
    },
    learn(told, moment) {
      const news = soundNews(told, moment.at)
      hearing.hear(news, moment)
      for (const pause of news.pauses) telling.paused(pause)
    },
    isMissing(key, now) {
      if (!affinity.has(key)) return true
      const [last] = affinity.of(key)
      return last !== undefined && now - last.at > lastReadMs
    },
    recall(key, readers, { now, at }) {
      const known = affinity.of(key)
      for (const reader of [...soundReaders(readers)].sort((a, b) => a.at - b.at)) {
        const warm: Warm = { id: reader.offer, tokens: reader.tokens, at: Math.min(now, now - at + reader.at) }
        if (!known.some(({ id, at: readAt }) => id === warm.id && readAt >= warm.at)) affinity.read(key, warm)
      }
    },
  }
}
