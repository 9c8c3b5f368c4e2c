import type { RouterOffer } from '../offer.ts'
import type { OfferEstimate } from '../offer-estimate.ts'
import type { PreferencePrices } from '../preferences.ts'
import { unavailability } from '../select-by-score.ts'
import { fields, listOf, nullable, number, oneOfValues, text } from './check-shape.ts'
import { type Alternative, counterfactualsOf } from './counterfactuals.ts'
import { type CandidateRecord, type DecisionRecord, estimateNames, type StrategyName, type Trace } from './records.ts'

/** An offer that was excluded before the first decision. */
export interface Exclusion {
  readonly model: string
  readonly provider: string
  readonly provider_model_id: string
  readonly code: string
  readonly reason: string
  readonly param?: string
}

/** Order, attempts and exclusion counts of one request. Milliseconds count from its first decision. */
export interface RoutingSummary {
  readonly seed: number
  /** Name of the requested strategy. Null: no decision was recorded. */
  readonly strategy: string | null
  /** Name of the weights of the scores, which also order offers of equal rank. */
  readonly weighed_by: StrategyName | null
  /** Offers as ranked by the first decision. */
  readonly order: readonly string[]
  readonly excluded_counts: Readonly<Record<string, number>>
  readonly attempts: readonly ReturnType<typeof attemptEvidence>[]
}

/** Why one request was routed as it was, in the format of the API. Numbers have six digits. */
export interface Evidence extends RoutingSummary {
  /** `summary`: only a `RoutingSummary` was stored; the other fields are null or empty. */
  readonly detail: 'full' | 'summary'
  readonly prices: PreferencePrices | null
  readonly request: ReturnType<typeof requestEvidence> | null
  readonly excluded: readonly Exclusion[]
  readonly decisions: readonly ReturnType<typeof decisionEvidence>[]
  /** Counterfactuals of the first decision. */
  readonly counterfactuals: Readonly<Record<'cheapest' | 'fastest' | 'most_reliable', ReturnType<typeof alternativeEvidence>>> | null
}

type EstimateEvidence = { readonly [field in keyof OfferEstimate as (typeof estimateNames)[field]]: number }

/**
 * Creates the routing evidence of one request from the trace of its plan and the offers excluded before.
 * @param strategy Name of the requested strategy, if it differs from the weights.
 * @example evidenceOf(plan.trace(), excluded)
 */
export function evidenceOf(trace: Trace, excluded: readonly Exclusion[] = [], strategy?: string): Evidence {
  const { decisions } = trace
  const [first] = decisions
  const others = first && counterfactualsOf(first)
  return {
    detail: 'full',
    ...routingSummary(trace, excluded, strategy),
    prices: first?.prices ?? null,
    request: first ? requestEvidence(first) : null,
    excluded,
    decisions: decisions.map(record => decisionEvidence(record, record.at - (first as DecisionRecord).at)),
    counterfactuals: others
      ? {
          cheapest: alternativeEvidence(others.cheapest),
          fastest: alternativeEvidence(others.fastest),
          most_reliable: alternativeEvidence(others.mostReliable),
        }
      : null,
  }
}

/** The part of the evidence that is small enough to store for every request. */
export function routingSummary({ seed, decisions }: Trace, excluded: readonly Exclusion[], strategy?: string): RoutingSummary {
  const [first] = decisions
  return {
    seed,
    strategy: first ? (strategy ?? first.strategy) : null,
    weighed_by: first?.strategy ?? null,
    order: first ? orderOf(first) : [],
    excluded_counts: countsOf(excluded),
    attempts: decisions.map(record => attemptEvidence(record, record.at - (first as DecisionRecord).at)),
  }
}

/** The chosen offer, then the others as the decision ranked them: by availability, then providers that had not failed, then score. */
function orderOf({ candidates, chosen }: DecisionRecord): readonly string[] {
  const first = candidates[chosen] as CandidateRecord
  if (candidates.length === 1) return [first.offer.id]
  const group = (it: CandidateRecord): number => (it === first ? -1 : 2 * unavailability(it.estimate) + (it.providerFailed ? 1 : 0))
  const score = (it: CandidateRecord): number => it.score ?? Number.MAX_VALUE
  return [...candidates].sort((a, b) => group(a) - group(b) || score(a) - score(b)).map(({ offer }) => offer.id)
}

/** The number of exclusions by code. */
export function countsOf(excluded: readonly { readonly code: string }[]): Readonly<Record<string, number>> {
  if (excluded.length === 0) return {}
  const counts = new Map<string, number>()
  for (const { code } of excluded) counts.set(code, (counts.get(code) ?? 0) + 1)
  return Object.fromEntries(counts)
}

const requestEvidence = ({ request }: DecisionRecord) => ({
  input_tokens: request.inputTokens,
  expected_output_tokens: short(request.outputTokens),
  stream: request.stream,
  expected_turns: short(request.turns),
  deadline_ms: shortOrNull(request.timeLeftMs),
})

const offerNamesOf = ({ id, provider, model }: RouterOffer) => ({ offer: id, provider: provider ?? null, model: model ?? null })

/** `afterMs`: since the first decision of the request. `exploration`: the optimistic estimate, if an offer was considered for exploration. */
const decisionEvidence = (record: DecisionRecord, afterMs: number) => ({
  after_ms: short(afterMs),
  chosen: (record.candidates[record.chosen] as CandidateRecord).offer.id,
  reason: record.reason,
  score: shortOrNull(record.score),
  wait_ms: short(record.waitMs),
  timeout_ms: shortOrNull(record.timeoutMs),
  hedge_after_ms: shortOrNull(record.hedgeAfterMs),
  candidates: record.candidates.map(({ offer, estimate, score, providerFailed }, index) => ({
    ...offerNamesOf(offer),
    score: shortOrNull(score),
    ...estimateEvidence(estimate),
    provider_just_failed: providerFailed === true,
    exploration:
      record.exploration?.at === index
        ? { score: shortOrNull(record.exploration.score), ...estimateEvidence(record.exploration.estimate) }
        : null,
  })),
  candidates_omitted: record.omitted,
})

const estimateEntries = Object.entries(estimateNames) as readonly (readonly [keyof OfferEstimate, keyof EstimateEvidence])[]

function estimateEvidence(estimate: OfferEstimate): EstimateEvidence {
  const evidence: Partial<Record<keyof EstimateEvidence, number>> = {}
  for (const [field, name] of estimateEntries) evidence[name] = short(estimate[field])
  return evidence as EstimateEvidence
}

/** `outcome`: null if the attempt is still running or was never made. */
const attemptEvidence = ({ candidates, chosen, reason, outcome }: DecisionRecord, afterMs: number) => ({
  ...offerNamesOf((candidates[chosen] as CandidateRecord).offer),
  reason,
  outcome: outcome?.ended ?? null,
  sent_after_ms: outcome ? short(afterMs + outcome.sentAfterMs) : null,
  first_content_ms: shortOrNull(outcome?.firstContentMs),
  total_ms: shortOrNull(outcome?.totalMs),
  output_tokens: outcome?.outputTokens ?? null,
  cached_tokens: outcome?.cachedTokens ?? null,
})

const alternativeEvidence = ({ offer, cost, firstContentMs, failure, lost }: Alternative) => ({
  ...offerNamesOf(offer),
  cost_usd: short(cost),
  first_content_ms: short(firstContentMs),
  failure_rate: short(failure),
  chosen: lost === undefined,
  lost_because: lost ?? null,
})

const short = (number: number): number => (Number.isInteger(number) && Math.abs(number) < 1e6 ? number : Number(number.toPrecision(6)))
const shortOrNull = (number: number | null | undefined): number | null => (typeof number === 'number' ? short(number) : null)

const offerNames = { offer: text, provider: nullable(text), model: nullable(text) }
const alternative = fields(offerNames)

/**
 * Checks evidence that was read from a store, as far as its fields are used.
 * @throws {TypeError} Names the invalid field.
 */
export const checkEvidence: (value: unknown, path: string) => asserts value is Evidence = fields({
  detail: oneOfValues(['full', 'summary']),
  seed: number,
  strategy: nullable(text),
  weighed_by: nullable(text),
  prices: nullable(fields({})),
  request: nullable(fields({})),
  order: listOf(text),
  excluded: listOf(fields({ provider: text, code: text, reason: text })),
  excluded_counts: fields({}),
  decisions: listOf(fields({ chosen: text, candidates: listOf(fields(offerNames)) })),
  attempts: listOf(fields({ ...offerNames, reason: text, outcome: nullable(text) })),
  counterfactuals: nullable(fields({ cheapest: alternative, fastest: alternative, most_reliable: alternative })),
})
