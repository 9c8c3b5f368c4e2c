import type { RoutingStore } from '@signalbox/storage'
import type { OfferStatistics, RoutingNews } from '@signalbox/storage/routing'
import { memoryStorage } from '@signalbox/storage-memory'
import { createDynamicRouter, type DynamicRouter } from '../src/dynamic-router.ts'
import type { RouterOffer } from '../src/offer.ts'
import type { TrackedOffer } from '../src/offer-state.ts'
import { createStateSync, type StateSync } from '../src/sync/state-sync.ts'
import type { AttemptFailure, RouterChoice } from '../src/types.ts'

/** Equal except for their price: the cheaper healthy one is chosen. */
export const cheap: RouterOffer = { id: 'cheap', provider: 'one', price: { input: 500_000, output: 1_500_000, cached: 50_000 } }
export const dear: RouterOffer = { id: 'dear', provider: 'two', price: { input: 700_000, output: 2_100_000, cached: 70_000 } }

/** Unix milliseconds where simulated time is 0. */
export const T0 = 1_750_000_000_000

export interface Time {
  ms: number
}

/** A router with a memory, as one process of several has it. Its monotonic clock began when it did. */
export interface RouterProcess {
  readonly router: DynamicRouter
  readonly memory: StateSync
  readonly among: readonly TrackedOffer[]
  /** How often it had something urgent to publish. */
  readonly urgent: () => number
  readonly moment: () => { readonly now: number; readonly at: number }
  /** The offer that it would call first. */
  first(cacheKey?: string): RouterChoice
  /** One call to an offer that completes. */
  answer(offer: RouterOffer, call?: { readonly afterMs?: number; readonly cacheKey?: string; readonly inputTokens?: number }): void
  fail(offer: RouterOffer, failed?: AttemptFailure): void
  tell(): Promise<readonly OfferStatistics[]>
  listen(): Promise<RoutingNews>
}

export function mindOf(
  name: string,
  time: Time,
  { store, offers = [cheap, dear] }: { store: RoutingStore; offers?: readonly RouterOffer[] },
): RouterProcess {
  const bornAt = time.ms
  let urgent = 0
  let cursor: string | undefined
  const sync = createStateSync({
    writer: () => name,
    onUrgent: () => {
      urgent += 1
    },
  })
  const monotonic = (): number => time.ms - bornAt
  const router = createDynamicRouter({ monotonic, preference: 'balanced', seed: 1, sync })
  const among = offers.map(offer => router.trackOffer(offer))
  const moment = () => ({ now: monotonic(), at: T0 + time.ms })
  const call = (offer: RouterOffer, request: { readonly cacheKey?: string; readonly inputTokens?: number } = {}) => {
    const choice = router.plan({ inputTokens: 2_000, ...request }, [router.trackOffer(offer)]).next()
    if (!choice) throw new Error('Nobody may be asked.')
    return router.startAttempt(choice)
  }
  return {
    router,
    memory: sync,
    among,
    urgent: () => urgent,
    moment,
    first(cacheKey) {
      const choice = router
        .plan({ inputTokens: cacheKey === undefined ? 2_000 : 20_000, ...(cacheKey !== undefined && { cacheKey }) }, among)
        .next()
      if (!choice) throw new Error('Nobody may be asked.')
      return choice
    },
    answer(offer, { afterMs = 600, ...request } = {}) {
      const attempt = call(offer, request)
      time.ms += afterMs
      router.recordFirstContent(attempt)
      time.ms += 1_000
      router.finishAttempt(attempt, { outputTokens: 100 })
    },
    fail(offer, failed = { kind: 'error' }) {
      const attempt = call(offer)
      time.ms += 100
      router.failAttempt(attempt, failed)
    },
    async tell() {
      const rows = sync.changedStatistics(moment())
      await store.publish(rows, moment().at)
      sync.markPublished(rows)
      await store.pause(sync.newPauses(moment()), moment().at)
      await store.remember(sync.newCacheNotes(moment()), moment().at)
      return rows
    },
    async listen() {
      const news = await store.news({ writer: name, ...(cursor !== undefined && { after: cursor }) }, moment().at)
      sync.receive(news, moment())
      cursor = news.cursor
      return news
    },
  }
}

export function routingStore(): RoutingStore {
  const { routing } = memoryStorage()
  if (!routing) throw new Error('The memory storage shares nothing.')
  return routing
}

export const beliefOf = ({ router }: RouterProcess, offer: RouterOffer) => router.trackOffer(offer).state
