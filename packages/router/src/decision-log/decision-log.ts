import type { EstimateInput } from '../estimate.ts'
import type { RouterOffer } from '../offer.ts'
import type { OfferEstimate, Strategy } from '../offer-estimate.ts'
import type { RunningAttempt } from '../offer-state.ts'
import { type Preference, type PreferencePrices, preferences } from '../preferences.ts'
import { createRandom, resolveSeed, type Seed } from '../random.ts'
import { scaledPrices } from '../score.ts'
import { type EstimatedOffers, scoreOf, selectBest } from '../select-by-score.ts'
import type { AnswerUsage, RouterChoice, RouterRequest } from '../types.ts'
import { standoutsOf } from './counterfactuals.ts'
import {
  type DecisionLogOptions,
  type DecisionRecord,
  decisionLogLimits,
  type Ended,
  finiteScore,
  type Outcome,
  type StrategyName,
  type Trace,
} from './records.ts'

// The decision log: references to decisions and their outcomes. It never affects a choice, and it serializes nothing.

/** The latest decisions of a router. */
export interface DecisionLog {
  /** The log of a new request; undefined if the request is not sampled. */
  readonly openRequest: (basis: DecisionBasis) => RequestLog | undefined
  readonly trace: () => Trace
}

/** Where the decisions of one request are added. */
interface RequestDecisions {
  readonly records: OpenRecord[]
  readonly kept: KeptDecisions
}

/** The decisions of one request, and the settings they share. */
export interface RequestLog extends RequestDecisions {
  readonly basis: DecisionBasis
  readonly requestNumber: number
  readonly strategy: StrategyName
  readonly scale: number
}

/** A record whose attempt may still be running. */
export type OpenRecord = Omit<DecisionRecord, 'outcome'> & { outcome: Outcome | undefined }

/** A choice with its place in the log. */
export interface LoggedChoice extends RouterChoice {
  /** Its record in the decision log. */
  record?: OpenRecord
  /** The decisions of its request. */
  decisions?: RequestDecisions
}

/** The inputs of one decision. */
interface RecordedView extends EstimatedOffers {
  readonly input: Pick<EstimateInput, 'now' | 'inputTokens' | 'outputTokens' | 'stream' | 'turns' | 'timeLeftMs'>
}

/** The settings that all decisions of a request share. */
interface DecisionBasis {
  readonly preference: Preference | PreferencePrices | Strategy
  /** Absent: a custom strategy decides. */
  readonly prices: PreferencePrices | undefined
  /** Includes the caller's rank. */
  readonly strategy: Strategy
  readonly rank: RouterRequest['rank']
  readonly among: readonly { readonly offer: RouterOffer }[]
}

/** The decisions of all requests that a log keeps. */
interface KeptDecisions {
  /** Maximum number of decisions. */
  readonly keep: number
  readonly seed: Seed
  /** The newest decisions; once full, the oldest is overwritten. */
  readonly ring: OpenRecord[]
  /** Decisions so far, including those that were dropped. */
  recorded: number
  /** The public fields of the offers, which all decisions about an offer share. */
  readonly offers: WeakMap<RouterOffer, RouterOffer>
}

/** Separates the log's random numbers from the router's, so that recording changes no choice. */
const seedMask = 0x2c1b3c6d

/**
 * Creates a decision log.
 * @throws {TypeError} An option is out of range.
 */
export function createDecisionLog({ keep = decisionLogLimits.decisions, share = 1 }: DecisionLogOptions, seed: Seed): DecisionLog {
  if (!Number.isSafeInteger(keep) || keep < 0) throw new TypeError(`\`decisionLog.keep\` is ${keep}; it takes a whole number, 0 or more.`)
  if (!(share >= 0 && share <= 1)) throw new TypeError(`\`decisionLog.share\` is ${share}; it takes a number from 0 to 1.`)
  const random = createRandom(() => resolveSeed(seed) ^ seedMask)
  const kept: KeptDecisions = { keep, seed, ring: [], recorded: 0, offers: new WeakMap() }
  let requests = 0
  return {
    openRequest(basis) {
      const requestNumber = requests++
      if (share < 1 && random() >= share) return undefined
      const strategy = strategyName(basis)
      return { basis, requestNumber, strategy, scale: scaleOf(strategy, basis), records: [], kept }
    },
    trace() {
      const { ring, recorded } = kept
      const oldest = recorded > ring.length ? recorded % keep : 0
      return traceOf([...ring.slice(oldest), ...ring.slice(0, oldest)], resolveSeed(seed), recorded - ring.length)
    },
  }
}

/** Adds a decision to the log of its request. */
export function recordDecision(log: RequestLog, view: RecordedView, choice: RouterChoice): OpenRecord {
  return add(log, decisionRecord(log, view, choice))
}

/** Records that a choice whose call has ended is called again, without another decision. */
export function recordRepeat(choice: LoggedChoice, now: number): void {
  const { record, decisions } = choice
  if (!record?.outcome || !decisions) return
  const { waitMs } = choice
  const attempt = decisions.records.length
  choice.record = add(decisions, { ...record, at: now - waitMs, attempt, reason: 'fallback', waitMs, outcome: undefined })
}

function add({ records, kept }: RequestDecisions, record: OpenRecord): OpenRecord {
  records.push(record)
  if (kept.keep > 0) kept.ring[kept.recorded % kept.keep] = record
  kept.recorded += 1
  return record
}

/** Returns the decisions of a request so far. Keeps only them alive, not the rest of their request. */
export const tracerOf =
  ({ records, kept: { seed } }: RequestLog) =>
  (): Trace =>
    traceOf(records, resolveSeed(seed))

/** A trace of copies, which later outcomes do not change. */
export const traceOf = (records: readonly DecisionRecord[], seed: number, dropped = 0): Trace => ({
  version: 2,
  seed,
  dropped,
  decisions: records.map(record => ({ ...record })),
})

function decisionRecord(log: RequestLog, view: RecordedView, choice: RouterChoice): OpenRecord {
  const { offers, estimates, deprioritized, exploration, input } = view
  const { rank, prices, strategy: score } = log.basis
  const scores = new Array<number>(estimates.length)
  for (let at = 0; at < scores.length; at += 1) scores[at] = scoreOf(score, estimates[at] as OfferEstimate, offers[at] as RouterOffer)
  const chosen = offers.indexOf(choice.offer)
  const places = placesToKeep(view, scores, { chosen, strategy: score })
  return {
    at: input.now,
    requestNumber: log.requestNumber,
    attempt: log.records.length,
    strategy: log.strategy,
    prices: log.strategy === 'own' ? undefined : prices,
    scale: log.scale,
    request: {
      inputTokens: input.inputTokens,
      outputTokens: input.outputTokens,
      stream: input.stream,
      turns: input.turns,
      timeLeftMs: finite(input.timeLeftMs),
    },
    candidates: places.map(at => {
      const offer = offers[at] as RouterOffer
      return {
        offer: publicOffer(offer, log.kept.offers),
        estimate: estimates[at] as OfferEstimate,
        score: finiteScore(scores[at] as number),
        rank: rank && finiteScore(rank(offer)),
        providerFailed: deprioritized?.[at] ? true : undefined,
      }
    }),
    omitted: estimates.length - places.length,
    exploration: exploration && {
      at: places.indexOf(exploration.at),
      estimate: exploration.estimate,
      score: finiteScore(scoreOf(score, exploration.estimate, offers[exploration.at] as RouterOffer)),
    },
    chosen: places.indexOf(chosen),
    reason: choice.reason,
    score: finiteScore(choice.score),
    waitMs: choice.waitMs,
    timeoutMs: finite(choice.timeoutMs),
    hedgeAfterMs: finite(choice.hedgeAfterMs),
    outcome: undefined,
  }
}

const finite = (number: number | undefined): number | undefined => (Number.isFinite(number) ? number : undefined)

/** With weights that are not finite, scores cannot be recomputed, so they are recorded as for a custom strategy. */
function strategyName({ preference, prices }: DecisionBasis): StrategyName {
  if (!prices || !Number.isFinite(prices.waiting + prices.generation + prices.failure)) return 'own'
  return typeof preference === 'string' ? preference : 'prices'
}

const scaleOf = (name: StrategyName, { prices, among }: DecisionBasis): number =>
  prices && name !== 'own' && name !== 'prices'
    ? prices.failure / preferences[name].failure
    : scaledPrices('balanced', among).failure / preferences.balanced.failure

/** All indices, by number of candidates, up to the number that a record keeps. */
const placesByCount = Array.from({ length: decisionLogLimits.candidates + 1 }, (_, count): readonly number[] => [
  ...new Array(count).keys(),
])

/** Indices of the candidates to keep: those that affected the decision, those that are best by a single number, and otherwise the best by score. */
function placesToKeep(
  view: EstimatedOffers,
  scores: readonly number[],
  { chosen, strategy }: { readonly chosen: number; readonly strategy: Strategy },
): readonly number[] {
  const few = placesByCount[scores.length]
  if (few) return few
  const all = [...scores.keys()]
  const { cheapest, fastest, mostReliable } = standoutsOf(view.estimates)
  // An exploration was compared with the best available offer, which may not have the best score, as others may be rate limited or failing.
  const best = selectBest({ ...view, exploration: undefined }, strategy).at
  const kept = new Set([chosen, cheapest, fastest, mostReliable, best, ...(view.exploration ? [view.exploration.at] : [])])
  const byScore = all.sort((a, b) => ((scores[a] as number) < (scores[b] as number) ? -1 : scores[a] === scores[b] ? a - b : 1))
  for (const at of byScore) {
    if (kept.size >= decisionLogLimits.candidates) break
    kept.add(at)
  }
  return [...kept].sort((a, b) => a - b)
}

const pick = (value: object, ...names: readonly string[]): object =>
  Object.fromEntries(Object.entries(value).filter(([name]) => names.includes(name)))

/** The fields of an offer that the router defines. Other fields of its owner do not get into a trace. */
function publicOffer(offer: RouterOffer, made: WeakMap<RouterOffer, RouterOffer>): RouterOffer {
  const known = made.get(offer)
  if (known) return known
  const picked = {
    ...pick(offer, 'id', 'provider', 'model', 'cacheMs'),
    price: pick(offer.price, 'input', 'output', 'cached', 'cacheWrite', 'cacheWrite1h'),
  } as RouterOffer
  made.set(offer, picked)
  return picked
}

/** Adds the outcome of a call to the record of its decision, if there is one. */
export function recordOutcome(
  call: RunningAttempt,
  ended: Ended,
  { now, used }: { readonly now: number; readonly used?: AnswerUsage },
): void {
  const { record } = call.choice as LoggedChoice
  if (!record) return
  const { startedAt, firstContentAt, stream } = call
  record.outcome = {
    ended: firstContentAt !== undefined && (ended === 'error' || ended === 'timeout') ? 'broken' : ended,
    sentAfterMs: startedAt - record.at,
    firstContentMs: stream && firstContentAt !== undefined ? firstContentAt - startedAt : undefined,
    totalMs: now - startedAt,
    outputTokens: used?.outputTokens,
    cachedTokens: used?.cachedTokens,
  }
}
