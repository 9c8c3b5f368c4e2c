import type { RouterOffer } from '../offer.ts'
import type { OfferEstimate } from '../offer-estimate.ts'
import type { PreferencePrices } from '../preferences.ts'
import { scoreByPrices } from '../score.ts'
import { unavailability } from '../select-by-score.ts'
import type { CandidateRecord, ChoiceReason, DecisionRecord, Score } from './records.ts'

/** A decision compared with the choices by a single number: lowest cost, shortest wait, and lowest risk. */
export interface Counterfactuals {
  readonly chosen: ExpectedOffer & { readonly reason: ChoiceReason }
  readonly cheapest: Alternative
  readonly fastest: Alternative
  readonly mostReliable: Alternative
}

/** The expected outcome of a choice when it was made. */
export interface Expected {
  /** USD. */
  readonly cost: number
  readonly firstContentMs: number
  /** Probability of getting no complete response in time, 0 to 1. Over several choices: the expected number of such failures. */
  readonly failure: number
}

interface ExpectedOffer extends Expected {
  readonly offer: RouterOffer
}

/** An offer that could have been chosen. */
export interface Alternative extends ExpectedOffer {
  /** Why it was not chosen, as the end of a sentence about it. Absent: it was chosen. */
  readonly lost?: string
}

/**
 * Computes the counterfactuals of a decision over all candidates that could serve the request, including rate-limited and failing ones.
 * @example counterfactualsOf(router.trace().decisions[0]).cheapest.lost // 'was 0.4 s slower'
 */
export function counterfactualsOf(record: DecisionRecord): Counterfactuals {
  const { candidates, chosen, reason } = record
  const { cheapest, fastest, mostReliable } = standoutsOf(candidates.map(({ estimate }) => estimate))
  const at = (place: number): Alternative => {
    const candidate = candidates[place] as CandidateRecord
    return {
      offer: candidate.offer,
      ...expectedOf(candidate.estimate),
      ...(place !== chosen && { lost: reasonLost(record, candidate) }),
    }
  }
  return {
    chosen: { offer: (candidates[chosen] as CandidateRecord).offer, ...expectedOf(chosenEstimate(record)), reason },
    cheapest: at(cheapest),
    fastest: at(fastest),
    mostReliable: at(mostReliable),
  }
}

/** The probability that an attempt yields no complete response in time, 0 to 1. */
export const riskOf = ({ failureProbability, breakProbability, lateProbability }: OfferEstimate): number =>
  1 - (1 - failureProbability) * (1 - breakProbability) * (1 - lateProbability)

export const expectedOf = (estimate: OfferEstimate): Expected => ({
  cost: estimate.cost,
  firstContentMs: estimate.firstContentMs,
  failure: riskOf(estimate),
})

/** The estimate that decided: for an exploration, the optimistic one. */
export const chosenEstimate = ({ candidates, chosen, reason, exploration }: DecisionRecord): OfferEstimate =>
  reason === 'exploration' && exploration ? exploration.estimate : (candidates[chosen] as CandidateRecord).estimate

/** Indices of the best estimates by a single number; the first in case of a tie. */
export const standoutsOf = (estimates: readonly OfferEstimate[]): Readonly<Record<'cheapest' | 'fastest' | 'mostReliable', number>> => ({
  cheapest: lowest(estimates.map(({ cost }) => cost)),
  fastest: lowest(estimates.map(({ firstContentMs }) => firstContentMs)),
  mostReliable: lowest(estimates.map(riskOf)),
})

const lowest = (numbers: readonly number[]): number =>
  numbers.reduce((best, number, at) => (number < (numbers[best] as number) ? at : best), 0)

/** Compares in the order of a decision: capacity, failed providers, the caller's rank, the score. */
function reasonLost(record: DecisionRecord, lost: CandidateRecord): string {
  const won: CandidateRecord = { ...(record.candidates[record.chosen] as CandidateRecord), estimate: chosenEstimate(record) }
  if (unavailability(won.estimate) < unavailability(lost.estimate))
    return lost.estimate.circuitOpenMs > 0 ? 'was paused after failures' : 'had reached its rate limit'
  if (lost.providerFailed && !won.providerFailed) return 'belonged to a provider that had just failed this request'
  if (isLater(lost.rank, won.rank)) return 'ranked later in the requested order'
  const worse = record.prices ? largestFault(lost, won, record.prices) : undefined
  if (worse !== undefined)
    return record.reason === 'exploration' ? `${worse}, compared with the optimistic estimate of the explored offer` : worse
  if (!record.prices && isLater(lost.score, record.score)) return 'was ranked lower by the strategy'
  const laterMs = lost.estimate.rateLimitedMs - won.estimate.rateLimitedMs
  return laterMs > 0 ? `would have been available ${seconds(laterMs)} later` : 'had the same score, and was listed later'
}

/** Whether rank `a` is later than `b`. Null is last. Without ranks, neither is later. */
const isLater = (a: Score = 0, b: Score = 0): boolean => b !== null && (a === null || a > b)

/** The disadvantages that an offer may have: estimate fields, and their description. */
const faults: readonly {
  readonly fields: readonly (keyof OfferEstimate)[]
  readonly says: (lost: OfferEstimate, won: OfferEstimate) => string
}[] = [
  { fields: ['cost'], says: (lost, won) => `cost ${usd(lost.cost - won.cost)} USD more` },
  { fields: ['firstContentMs'], says: (lost, won) => `was ${seconds(lost.firstContentMs - won.firstContentMs)} slower` },
  { fields: ['generationMs'], says: (lost, won) => `took ${seconds(lost.generationMs - won.generationMs)} longer to complete` },
  { fields: ['failureProbability', 'failedAttemptMs'], says: lost => `failed ${percent(lost.failureProbability)} of recent requests` },
  { fields: ['breakProbability'], says: lost => `interrupted ${percent(lost.breakProbability)} of its recent responses` },
  { fields: ['lateProbability'], says: lost => `would have missed the deadline in ${percent(lost.lateProbability)} of cases` },
]

/** The disadvantage with the largest effect: how much the score would improve with the winner's values. Undefined if nothing is worse. */
function largestFault(lost: CandidateRecord, won: CandidateRecord, prices: PreferencePrices): string | undefined {
  const score = scoreByPrices(prices)
  const own = score(lost.estimate, lost.offer)
  const weighed = faults.map(({ fields, says }) => {
    const mended = Object.fromEntries(fields.map(name => [name, won.estimate[name]]))
    return { weight: own - score({ ...lost.estimate, ...mended }, lost.offer), says }
  })
  const worst = weighed.reduce((most, each) => (each.weight > most.weight ? each : most))
  return worst.weight > 0 ? worst.says(lost.estimate, won.estimate) : undefined
}

/** Formats USD with two significant digits. */
const usd = (number: number): string => number.toFixed(Math.min(20, Math.max(0, 1 - Math.floor(Math.log10(number)))))

const seconds = (milliseconds: number): string =>
  milliseconds < 95 ? `${Math.max(1, Math.round(milliseconds))} ms` : `${(milliseconds / 1_000).toFixed(1)} s`

const percent = (share: number): string => `${Number((100 * share).toPrecision(2))} %`
