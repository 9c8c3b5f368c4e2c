import { tuning } from './constants.ts'
import type { RouterOffer } from './offer.ts'
import type { OfferEstimate, Strategy } from './offer-estimate.ts'
import type { RouterRequest } from './types.ts'

// Chooses by a pure function of the estimates, so that a replay can repeat it.

/** The estimates of all offers of one request. */
export interface EstimatedOffers {
  readonly offers: readonly RouterOffer[]
  readonly estimates: readonly OfferEstimate[]
  /** Offers whose provider just failed the same request: they rank after all others. */
  readonly deprioritized?: readonly boolean[] | undefined
  /** A candidate for exploration, with its optimistic estimate. */
  readonly exploration?: { readonly at: number; readonly estimate: OfferEstimate } | undefined
}

export interface ScoredOffer {
  /** Index among the offers. */
  readonly at: number
  readonly score: number
  readonly exploring: boolean
}

const { minGain } = tuning.exploration

/** The score of a strategy; NaN counts as infinite. */
export function scoreOf(strategy: Strategy, estimate: OfferEstimate, offer: RouterOffer): number {
  const score = strategy(estimate, offer)
  return typeof score === 'number' && !Number.isNaN(score) ? score : Number.POSITIVE_INFINITY
}

/** Larger than any score, in USD. */
const rankWeight = 1e6
const maxScore = 4e5

/** A strategy in which the caller's rank outweighs every score. */
export const withRank = (strategy: Strategy, rank: RouterRequest['rank']): Strategy =>
  rank
    ? (estimate, offer) => rank(offer) * rankWeight + Math.min(maxScore, Math.max(-maxScore, scoreOf(strategy, estimate, offer)))
    : strategy

export const isAvailable = ({ rateLimitedMs, circuitOpenMs }: OfferEstimate): boolean => rateLimitedMs <= 0 && circuitOpenMs <= 0

/**
 * 0: available, 1: full, or paused but more likely to answer than to fail, 2: down. The lowest goes first regardless of scores: a full offer
 * serves the request after a wait, while an offer that fails at once would look cheap.
 */
export function unavailability({ rateLimitedMs, circuitOpenMs, failureProbability }: OfferEstimate): 0 | 1 | 2 {
  if (circuitOpenMs > 0) return failureProbability > 0.5 ? 2 : 1
  return rateLimitedMs > 0 ? 1 : 0
}

/** Selects among available offers first; then the lowest score wins, or the first one in case of a tie. */
export function selectBest(view: EstimatedOffers, strategy: Strategy): ScoredOffer {
  const { offers, estimates, exploration } = view
  let at = 0
  let score = Number.POSITIVE_INFINITY
  for (let each = 0; each < estimates.length; each += 1) {
    const offer = offers[each]
    const estimate = estimates[each]
    if (!offer || !estimate) continue
    const its = scoreOf(strategy, estimate, offer)
    const before = each > 0 ? compareAvailability(view, each, at) : 1
    if (before < 0 || (before === 0 && !(its < score))) continue
    at = each
    score = its
  }
  const hoped = exploration && offers[exploration.at]
  if (!exploration || !hoped || exploration.at === at) return { at, score, exploring: false }
  const could = scoreOf(strategy, exploration.estimate, hoped)
  return could < score - minGain * Math.abs(score) ? { at: exploration.at, score: could, exploring: true } : { at, score, exploring: false }
}

/** All offers in the order in which they would be tried if nothing were learned in between. */
export function rankByScore(view: EstimatedOffers, strategy: Strategy): readonly ScoredOffer[] {
  const first = selectBest(view, strategy)
  const others = view.estimates.flatMap((estimate, index): ScoredOffer[] => {
    const offer = view.offers[index]
    return index === first.at || !offer ? [] : [{ at: index, score: scoreOf(strategy, estimate, offer), exploring: false }]
  })
  others.sort((a, b) => compareAvailability(view, b.at, a.at) || (a.score < b.score ? -1 : b.score < a.score ? 1 : a.at - b.at))
  return [first, ...others]
}

/** The best of the other offers that are not rate limited. */
export function runnerUp({ offers, estimates }: EstimatedOffers, but: number, strategy: Strategy): number | undefined {
  let best: number | undefined
  let least = Number.POSITIVE_INFINITY
  for (let at = 0; at < estimates.length; at += 1) {
    const estimate = estimates[at]
    const offer = offers[at]
    if (at === but || !estimate || !offer || estimate.rateLimitedMs > 0) continue
    const score = scoreOf(strategy, estimate, offer)
    if (best !== undefined && score >= least) continue
    best = at
    least = score
  }
  return best
}

/** Positive if the first offer ranks before the second regardless of their scores, negative if after it. */
function compareAvailability({ estimates, deprioritized }: EstimatedOffers, one: number, other: number): number {
  const later = unavailability(estimates[other] as OfferEstimate) - unavailability(estimates[one] as OfferEstimate)
  if (later !== 0) return later
  const [oneShunned, otherShunned] = [deprioritized?.[one] === true, deprioritized?.[other] === true]
  return oneShunned === otherShunned ? 0 : otherShunned ? 1 : -1
}
