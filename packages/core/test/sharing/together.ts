import type { OfferStatistics, RoutingNews, RoutingStore } from '@signalbox/storage'
import { memoryStorage } from '@signalbox/storage-memory'
import type { Contender } from '../../src/brain/belief.ts'
import { type Brain, createBrain } from '../../src/brain/brain.ts'
import { createMemory, type Memory } from '../../src/brain/memory.ts'
import type { Choice, Failed, RouterOffer } from '../../src/brain/port.ts'

/** Alike but for their price: whoever is in order and cheaper is asked. */
export const cheap: RouterOffer = { id: 'cheap', provider: 'one', price: { input: 500_000, output: 1_500_000, cached: 50_000 } }
export const dear: RouterOffer = { id: 'dear', provider: 'two', price: { input: 700_000, output: 2_100_000, cached: 70_000 } }

/** Unix milliseconds where simulated time is 0. */
export const T0 = 1_750_000_000_000

export interface Time {
  ms: number
}

/** A brain with a memory, as one process of several has it. Its monotonic clock began when it did. */
export interface Mind {
  readonly brain: Brain
  readonly memory: Memory
  readonly among: readonly Contender[]
  /** How often it had something urgent to tell. */
  readonly urgent: () => number
  readonly moment: () => { readonly now: number; readonly at: number }
  /** Whom it would ask first. */
  first(cacheKey?: string): Choice
  /** One call to an offer that comes to its end. */
  answer(offer: RouterOffer, call?: { readonly afterMs?: number; readonly cacheKey?: string; readonly inputTokens?: number }): void
  fail(offer: RouterOffer, failed?: Failed): void
  tell(): Promise<readonly OfferStatistics[]>
  listen(): Promise<RoutingNews>
}

export function mindOf(
  name: string,
  time: Time,
  { store, offers = [cheap, dear] }: { store: RoutingStore; offers?: readonly RouterOffer[] },
): Mind {
  const bornAt = time.ms
  let urgent = 0
  let cursor: string | undefined
  const memory = createMemory({
    writer: () => name,
    urgent: () => {
      urgent += 1
    },
  })
  const monotonic = (): number => time.ms - bornAt
  const brain = createBrain({ monotonic, preference: 'balanced', seed: 1, memory })
  const among = offers.map(offer => brain.contender(offer))
  const moment = () => ({ now: monotonic(), at: T0 + time.ms })
  const call = (offer: RouterOffer, request: { readonly cacheKey?: string; readonly inputTokens?: number } = {}) => {
    const choice = brain.plan({ inputTokens: 2_000, ...request }, [brain.contender(offer)]).next()
    if (!choice) throw new Error('Nobody may be asked.')
    return brain.started(choice)
  }
  return {
    brain,
    memory,
    among,
    urgent: () => urgent,
    moment,
    first(cacheKey) {
      const choice = brain
        .plan({ inputTokens: cacheKey === undefined ? 2_000 : 20_000, ...(cacheKey !== undefined && { cacheKey }) }, among)
        .next()
      if (!choice) throw new Error('Nobody may be asked.')
      return choice
    },
    answer(offer, { afterMs = 600, ...request } = {}) {
      const attempt = call(offer, request)
      time.ms += afterMs
      brain.firstContent(attempt)
      time.ms += 1_000
      brain.finished(attempt, { outputTokens: 100 })
    },
    fail(offer, failed = { kind: 'error' }) {
      const attempt = call(offer)
      time.ms += 100
      brain.failed(attempt, failed)
    },
    async tell() {
      const rows = memory.statistics(moment())
      await store.publish(rows, moment().at)
      memory.published(rows)
      await store.pause(memory.pauses(moment()), moment().at)
      await store.remember(memory.notes(moment()), moment().at)
      return rows
    },
    async listen() {
      const news = await store.news({ writer: name, ...(cursor !== undefined && { after: cursor }) }, moment().at)
      memory.learn(news, moment())
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

export const beliefOf = ({ brain }: Mind, offer: RouterOffer) => brain.contender(offer).belief
