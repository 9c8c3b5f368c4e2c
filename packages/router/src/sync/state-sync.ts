import type { Reader, ReaderNote, RoutingNews } from '@signalbox/storage/routing'
import { type CacheAffinity, type CachedPrompt, makeCacheAffinity } from '../cache-affinity.ts'
import type { OfferState } from '../offer-state.ts'
import { createPublisher, type Moment, type Publisher } from './publish.ts'
import { createReceiver } from './receive.ts'
import { validNews, validReaders } from './validate.ts'

// State that a router shares with the routers of other processes. It reads no clock and calls no store: the caller publishes what it
// returns and passes in what others published. Optional.

/** What one router publishes of its learned state, and what it receives from others. */
export interface StateSync extends Pick<Publisher, 'changedStatistics' | 'markPublished' | 'markLimited' | 'newPauses'> {
  /** The router's cache affinity, wrapped to record what other processes should know. */
  readonly affinity: CacheAffinity
  /** Called when the router starts to track an offer. */
  trackOffer(offer: string, state: OfferState, now: number): void
  /** Which offers have read which conversations since the last call. */
  newCacheNotes(moment: Moment): readonly ReaderNote[]
  /** Merges what others have published. Merging the same news twice changes nothing. */
  receive(news: RoutingNews, moment: Moment): void
  /** Whether the conversation was not read here recently, so that another process may have served it. */
  isConversationUnknown(key: string, now: number): boolean
  /** Adds offers that have read the conversation elsewhere. */
  addCacheHolders(key: string, readers: readonly Reader[], moment: Moment): void
}

/** Options of `createStateSync`. */
export interface StateSyncOptions {
  /** The unique name of this process, read on first use. */
  readonly writer: () => string
  /** Called when something should be published soon: a note or a pause. */
  readonly onUrgent: () => void
}

/** Maximum unpublished notes; more are dropped, because an unavailable store must not fill the memory. */
const maxWaitingNotes = 2_000
/** Milliseconds after which another process may have read the conversation. */
const recentReadMs = 30_000

/** Creates the shared state of one router; pass it as `sync`. */
export function createStateSync({ writer, onUrgent }: StateSyncOptions): StateSync {
  const telling = createPublisher(writer)
  const hearing = createReceiver(writer)
  const affinity = makeCacheAffinity()
  let waiting = new Map<string, { readonly key: string; readonly warm: CachedPrompt }>()
  return {
    changedStatistics: telling.changedStatistics,
    markPublished: telling.markPublished,
    newPauses: telling.newPauses,
    markLimited(offer) {
      telling.markLimited(offer)
      onUrgent()
    },
    affinity: {
      ...affinity,
      recordRead(key, warm) {
        affinity.recordRead(key, warm)
        // A prompt too short to be cached is not recorded either.
        if (affinity.holders(key)[0] !== warm || waiting.size >= maxWaitingNotes) return
        waiting.set(`${key} ${warm.offerId}`, { key, warm })
        onUrgent()
      },
    },
    trackOffer(offer, state, now) {
      telling.trackOffer(offer, state)
      hearing.trackOffer(offer, state, now)
    },
    newCacheNotes({ now, at }) {
      const notes = [...waiting.values()]
      waiting = new Map()
      return notes.map(({ key, warm }) => ({ key, offer: warm.offerId, tokens: warm.tokens, at: Math.round(at - (now - warm.at)) }))
    },
    receive(published, moment) {
      const news = validNews(published, moment.at)
      hearing.receive(news, moment)
      for (const pause of news.pauses) telling.markPaused(pause)
    },
    isConversationUnknown(key, now) {
      if (!affinity.has(key)) return true
      const [last] = affinity.holders(key)
      return last !== undefined && now - last.at > recentReadMs
    },
    addCacheHolders(key, readers, { now, at }) {
      const known = affinity.holders(key)
      for (const reader of [...validReaders(readers)].sort((a, b) => a.at - b.at)) {
        const warm: CachedPrompt = { offerId: reader.offer, tokens: reader.tokens, at: Math.min(now, now - at + reader.at) }
        if (!known.some(({ offerId, at: readAt }) => offerId === warm.offerId && readAt >= warm.at)) affinity.recordRead(key, warm)
      }
    },
  }
}
