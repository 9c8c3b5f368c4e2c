import type {
  AnswerUsage,
  AttemptFailure,
  OfferEstimate,
  Preference,
  PreferencePrices,
  Router,
  RouterAttempt,
  RouterChoice,
  RouterOffer,
  RouterRequest,
} from '@signalbox/router'
import type { Reality } from './true-state.ts'

/** The inputs from which a policy creates its router. */
export interface Setting {
  readonly offers: readonly RouterOffer[]
  readonly preference: Preference
  readonly worth: PreferencePrices
  readonly seed: number
  /** Milliseconds of the simulated clock. */
  readonly now: () => number
  /** The true state of the offers. Only the oracle may use it. */
  readonly reality: Reality
}

export interface Policy {
  readonly name: string
  readonly create: (setting: Setting) => Router
}

/** How a simple policy ranks offers, and what it learns. Offers are indices. */
export interface Ranking {
  rank(request: RouterRequest): readonly number[]
  started?(offer: number): void
  /** Called with the milliseconds to first content of a stream. Not called for whole responses, which take longer and would make an offer look slow. */
  answered?(offer: number, afterMs: number): void
  served?(offer: number): void
  failed?(offer: number, failed: AttemptFailure): void
  /** Called when a call is over, whatever its outcome. */
  over?(offer: number): void
}

/** Typical fixed timeouts, the same for every offer. */
const fixedTimeoutMs = { stream: 8_000, whole: 45_000 } as const

interface Going extends RouterAttempt {
  readonly offer: number
  readonly atMs: number
}

/** A router that goes through a ranking from best to last, and then again, like the baselines. */
export function createRanked({ offers, now }: Setting, ranking: Ranking): Router {
  const indexOf = new Map(offers.map((offer, index) => [offer.id, index]))
  const plan = (request: RouterRequest) => {
    const timeoutMs = request.stream === false ? fixedTimeoutMs.whole : fixedTimeoutMs.stream
    const choices = ranking.rank(request).flatMap((at, place): RouterChoice[] => {
      const offer = offers[at]
      return offer
        ? [{ offer, score: place, estimate: blind, reason: place === 0 ? 'best' : 'fallback', waitMs: 0, maxFurtherWaitMs: 0, timeoutMs }]
        : []
    })
    const [first, ...others] = choices
    if (!first) throw new Error('There is nobody to ask.')
    let asked = 0
    const next = (): RouterChoice | undefined => {
      if (asked >= (request.maxAttempts ?? 4)) return undefined
      asked += 1
      return choices[(asked - 1) % choices.length]
    }
    return { choices: () => [first, ...others] as const, next }
  }
  return {
    plan,
    startAttempt: (choice): Going => {
      const offer = indexOf.get(choice.offer.id) ?? 0
      ranking.started?.(offer)
      return { choice, offer, atMs: now() }
    },
    recordFirstContent: attempt => ranking.answered?.((attempt as Going).offer, now() - (attempt as Going).atMs),
    finishAttempt: (attempt: RouterAttempt, _used?: AnswerUsage) => {
      ranking.served?.((attempt as Going).offer)
      ranking.over?.((attempt as Going).offer)
    },
    failAttempt: (attempt, failed) => {
      ranking.failed?.((attempt as Going).offer, failed)
      ranking.over?.((attempt as Going).offer)
    },
    abandonAttempt: attempt => ranking.over?.((attempt as Going).offer),
    updateHeadroom: () => {},
  }
}

/** The estimate of a policy without estimates: these policies use no numbers that a trace could show. */
export const blind = {} as OfferEstimate
