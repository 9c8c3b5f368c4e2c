import type { RouterOffer } from '../offer.ts'
import type { Strategy } from '../offer-estimate.ts'
import { type Preference, type PreferencePrices, preferences } from '../preferences.ts'
import { scoreByPrices } from '../score.ts'
import { type EstimatedOffers, isAvailable, selectBest, withRank } from '../select-by-score.ts'
import { chosenEstimate, type Expected, expectedOf } from './counterfactuals.ts'
import type { ChoiceReason } from './records.ts'
import { type CandidateRecord, type DecisionRecord, finiteScore, type Outcome, type Score, type Trace } from './records.ts'
import { checkTrace } from './trace.ts'

/** A decision repeated from its record. */
export interface ReplayedDecision {
  readonly requestNumber: number
  readonly attempt: number
  readonly at: number
  readonly offer: RouterOffer
  readonly score: Score
  readonly reason: ChoiceReason
  readonly expected: Expected
  /** The recorded choice. */
  readonly recorded: { readonly offer: RouterOffer; readonly expected: Expected }
  /** Whether both choices are the same. */
  readonly same: boolean
  /** The outcome, if the choice is the same and the attempt has ended. */
  readonly outcome?: Outcome
}

/** The repeated decisions of a trace, with the original or another strategy. */
export interface Replay {
  /** One for each decision of the trace. */
  readonly decisions: readonly ReplayedDecision[]
  /** Sums over first attempts, because later ones depend on the outcome of the first. */
  readonly sums: {
    readonly requests: number
    /** Requests with the same first choice. */
    readonly same: number
    readonly replayed: Expected
    readonly recorded: Expected
    /** Outcomes of same choices whose attempts have ended. */
    readonly seen: { readonly ended: number; readonly answered: number; readonly heard: number; readonly firstContentMs: number }
  }
}

/**
 * Repeats each decision of a trace. Without a strategy, by the recorded one: choices and scores equal the recorded ones (a custom
 * function's scores are taken from the record). With a strategy: what it would have chosen, and the expected outcome of that choice.
 * Expectations are those of the router at that time; other choices would have taught it other things. The caller's ranks remain in force,
 * and candidates that the record omits cannot be chosen.
 * @throws {TypeError} The value is not a trace, or there is no such preference.
 * @example
 * const { sums } = replay(router.trace(), 'cost')
 * console.log(`${sums.recorded.cost - sums.replayed.cost} USD less, for ${sums.replayed.firstContentMs - sums.recorded.firstContentMs} ms
 * more`)
 */
export function replay(trace: Trace, strategy?: Preference | PreferencePrices | Strategy): Replay {
  checkTrace(trace)
  if (typeof strategy === 'string' && !Object.hasOwn(preferences, strategy)) {
    throw new TypeError(`replay: there is no preference "${strategy}"; there are ${Object.keys(preferences).join(', ')}.`)
  }
  const decisions = trace.decisions.map(record => decideAgain(record, strategy))
  const first = decisions.filter(({ attempt }) => attempt === 0)
  const outcomes = first.flatMap(({ outcome }) => outcome ?? [])
  const heard = outcomes.flatMap(({ firstContentMs }) => firstContentMs ?? [])
  return {
    decisions,
    sums: {
      requests: first.length,
      same: first.filter(({ same }) => same).length,
      replayed: sumOf(first.map(({ expected }) => expected)),
      recorded: sumOf(first.map(({ recorded }) => recorded.expected)),
      seen: {
        ended: outcomes.length,
        answered: outcomes.filter(({ ended }) => ended === 'ok').length,
        heard: heard.length,
        firstContentMs: heard.reduce((sum, each) => sum + each, 0),
      },
    },
  }
}

function decideAgain(record: DecisionRecord, given: Preference | PreferencePrices | Strategy | undefined): ReplayedDecision {
  const { requestNumber, attempt, candidates, exploration, chosen, outcome } = record
  const { at, score, exploring } = selectBest(viewOf(record), strategyOf(record, given))
  const candidate = candidates[at] as CandidateRecord
  const estimate = exploring && exploration ? exploration.estimate : candidate.estimate
  return {
    requestNumber,
    attempt,
    at: record.at,
    offer: candidate.offer,
    score: finiteScore(score),
    reason: attempt > 0 ? record.reason : exploring ? 'exploration' : isAvailable(estimate) ? 'best' : 'last_resort',
    expected: expectedOf(estimate),
    recorded: { offer: (candidates[chosen] as CandidateRecord).offer, expected: expectedOf(chosenEstimate(record)) },
    same: at === chosen,
    outcome: at === chosen && outcome ? outcome : undefined,
  }
}

/** The inputs of the decision. */
const viewOf = ({ candidates, exploration }: DecisionRecord): EstimatedOffers => ({
  offers: candidates.map(({ offer }) => offer),
  estimates: candidates.map(({ estimate }) => estimate),
  deprioritized: candidates.map(({ providerFailed }) => providerFailed === true),
  exploration: exploration && { at: exploration.at, estimate: exploration.estimate },
})

const sumOf = (all: readonly Expected[]): Expected => ({
  cost: all.reduce((sum, { cost }) => sum + cost, 0),
  firstContentMs: all.reduce((sum, { firstContentMs }) => sum + firstContentMs, 0),
  failure: all.reduce((sum, { failure }) => sum + failure, 0),
})

function strategyOf(record: DecisionRecord, given: Preference | PreferencePrices | Strategy | undefined): Strategy {
  const { prices, scale, candidates } = record
  const by = given ?? prices
  if (by === undefined) return recordedScores(record)
  const strategy = typeof by === 'function' ? by : scoreByPrices(typeof by === 'string' ? scaled(preferences[by], scale) : by)
  const ranks = new Map(candidates.flatMap(({ offer, rank }) => (rank === undefined ? [] : [[offer, rank ?? Number.NaN] as const])))
  return withRank(strategy, ranks.size > 0 ? offer => ranks.get(offer) ?? Number.NaN : undefined)
}

const scaled = ({ waiting, generation, failure }: PreferencePrices, scale: number): PreferencePrices => ({
  waiting: waiting * scale,
  generation: generation * scale,
  failure: failure * scale,
})

/** A strategy that returns the recorded score of each estimate. */
function recordedScores({ candidates, exploration }: DecisionRecord): Strategy {
  const scores = new Map(candidates.map(({ estimate, score }) => [estimate, score]))
  if (exploration) scores.set(exploration.estimate, exploration.score)
  return estimate => scores.get(estimate) ?? Number.POSITIVE_INFINITY
}
