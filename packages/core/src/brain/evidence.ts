import { endings, strategyNames, whys } from './codes.ts'
import { inOrder } from './decide.ts'
import { attempt, type FlightSummary } from './flight-summary.ts'
import type { RouterOffer, Why } from './port.ts'
import type { Worth } from './preferences.ts'
import { type Alternative, receiptOf } from './receipt.ts'
import type { DecisionRecord, Ended, Loss, Seen, StrategyName, Trace } from './record.ts'
import { asReturned, viewOf } from './replay.ts'
import type { Sight } from './sight.ts'

// The routing of one request as it goes over the wire.

/** Who was left out before anything was weighed. */
export interface Exclusion {
  readonly model: string
  readonly provider: string
  readonly provider_model_id: string
  readonly code: string
  readonly reason: string
  readonly param?: string
}

export interface Evidence {
  /** `summary`: the order, the attempts and the counts of exclusions alone were kept; the other fields are null or empty. */
  readonly detail: 'full' | 'summary'
  readonly seed: number
  /** What decided, by the name that it was asked for by. Null, as all that a decision would tell, where none was recorded. */
  readonly strategy: string | null
  /** By what the loss was weighed: of `order`, and of all that goes by rank, among equals. */
  readonly weighed_by: StrategyName | null
  readonly worth: Worth | null
  readonly request: {
    readonly input_tokens: number
    readonly expected_output_tokens: number
    readonly stream: boolean
    readonly expected_turns: number
    readonly deadline_ms: number | null
  } | null
  /** Offers as the first decision ranked them. */
  readonly order: readonly string[]
  readonly excluded: readonly Exclusion[]
  /** By code. */
  readonly excluded_counts: Readonly<Record<string, number>>
  readonly decisions: readonly DecisionEvidence[]
  readonly attempts: readonly AttemptEvidence[]
  /** Of the first decision. */
  readonly counterfactuals: {
    readonly cheapest: AlternativeEvidence
    readonly fastest: AlternativeEvidence
    readonly most_reliable: AlternativeEvidence
  } | null
}

interface Named {
  readonly offer: string
  readonly provider: string | null
  readonly model: string | null
}

interface DecisionEvidence {
  readonly after_ms: number
  readonly chosen: string
  readonly why: Why
  readonly loss: Loss
  readonly wait_ms: number
  readonly timeout_ms: number | null
  readonly hedge_after_ms: number | null
  readonly candidates: readonly CandidateEvidence[]
  readonly candidates_omitted: number
}

interface CandidateEvidence extends Named, SightEvidence {
  readonly loss: Loss
  readonly provider_just_failed: boolean
  /** What it could be, where it was held against the best to learn of it. */
  readonly hope: (SightEvidence & { readonly loss: Loss }) | null
}

interface SightEvidence {
  readonly cost_usd: number
  readonly first_content_ms: number
  readonly growing_ms: number
  readonly failure_rate: number
  readonly failure_ms: number
  readonly breaking_rate: number
  readonly lateness_rate: number
  readonly held_ms: number
  readonly resting_ms: number
  readonly headroom: number
  readonly warm_tokens: number
  readonly unheard_ms: number
  readonly scarcity_usd: number
}

interface AttemptEvidence extends Named {
  readonly why: Why
  /** Null: it has not ended, or was never made. */
  readonly outcome: Ended | null
  readonly sent_after_ms: number | null
  readonly first_content_ms: number | null
  readonly total_ms: number | null
  readonly output_tokens: number | null
  readonly cached_tokens: number | null
}

interface AlternativeEvidence extends Named {
  readonly cost_usd: number
  readonly first_content_ms: number
  readonly failure_rate: number
  readonly chosen: boolean
  readonly lost_because: string | null
}

/**
 * The routing evidence of one request, from the flight of its plan and those whom nobody could ask. Milliseconds count from its
 * first decision. Numbers are shown with six digits.
 * @example evidenceOf(plan.flight(), excluded)
 */
export function evidenceOf({ seed, decisions }: Trace, excluded: readonly Exclusion[] = [], strategy?: string): Evidence {
  const [first] = decisions
  const since = first?.at ?? 0
  const receipt = first && receiptOf(first)
  return {
    detail: 'full',
    seed,
    strategy: first ? (strategy ?? first.strategy) : null,
    weighed_by: first?.strategy ?? null,
    worth: first?.worth ?? null,
    request: first ? requestOf(first) : null,
    order: first ? inOrder(viewOf(first), asReturned(first)).map(({ at }) => (first.candidates[at] as Seen).offer.id) : [],
    excluded,
    excluded_counts: countsOf(excluded),
    decisions: decisions.map(record => decisionOf(record, since)),
    attempts: decisions.map(record => attemptOf(record, since)),
    counterfactuals: receipt
      ? {
          cheapest: alternativeOf(receipt.cheapest),
          fastest: alternativeOf(receipt.fastest),
          most_reliable: alternativeOf(receipt.mostReliable),
        }
      : null,
  }
}

/** How many were left out, by code. */
export function countsOf(excluded: readonly { readonly code: string }[]): Readonly<Record<string, number>> {
  const counts = new Map<string, number>()
  for (const { code } of excluded) counts.set(code, (counts.get(code) ?? 0) + 1)
  return Object.fromEntries(counts)
}

/** The routing of a request of which only a summary was kept. Throws for what is none. */
export function evidenceOfSummary(
  { version, seed, strategy: code, offers, order, attempts }: FlightSummary,
  excluded: Readonly<Record<string, number>>,
  strategy?: string,
): Evidence {
  if (version !== 1) throw new TypeError(`This summary has version ${version}; version 1 can be read here.`)
  const offerAt = (at: number | undefined): Named => {
    const [id, provider, model] = offers[at as number] as FlightSummary['offers'][number]
    return { offer: id, provider, model }
  }
  const weighedBy = strategyNames.get(code) ?? null
  return {
    detail: 'summary',
    seed,
    strategy: strategy ?? weighedBy,
    weighed_by: weighedBy,
    worth: null,
    request: null,
    order: order.map(at => offerAt(at).offer),
    excluded: [],
    excluded_counts: excluded,
    decisions: [],
    attempts: attempts.map(numbers => {
      const outcome = endings.get(numbers[attempt.ended] as number) ?? null
      const ms = (place: number): number | null => (outcome === null || (numbers[place] as number) < 0 ? null : (numbers[place] as number))
      return {
        ...offerAt(numbers[attempt.offer]),
        why: whys.get(numbers[attempt.why] as number) as Why,
        outcome,
        sent_after_ms: ms(attempt.sentAfterMs),
        first_content_ms: ms(attempt.firstContentMs),
        total_ms: ms(attempt.totalMs),
        output_tokens: null,
        cached_tokens: null,
      }
    }),
    counterfactuals: null,
  }
}

const requestOf = ({ asked }: DecisionRecord): Evidence['request'] => ({
  input_tokens: asked.inputTokens,
  expected_output_tokens: short(asked.outputTokens),
  stream: asked.stream,
  expected_turns: short(asked.turns),
  deadline_ms: asked.leftMs === undefined ? null : short(asked.leftMs),
})

const named = ({ id, provider, model }: RouterOffer): Named => ({ offer: id, provider: provider ?? null, model: model ?? null })

function decisionOf(record: DecisionRecord, since: number): DecisionEvidence {
  const { candidates, chosen, why, loss, waitMs, timeoutMs, hedgeAfterMs, omitted } = record
  return {
    after_ms: short(record.at - since),
    chosen: (candidates[chosen] as Seen).offer.id,
    why,
    loss: shortLoss(loss),
    wait_ms: short(waitMs),
    timeout_ms: timeoutMs === undefined ? null : short(timeoutMs),
    hedge_after_ms: hedgeAfterMs === undefined ? null : short(hedgeAfterMs),
    candidates: candidates.map((candidate, at) => candidateOf(candidate, record.hope?.at === at ? record.hope : undefined)),
    candidates_omitted: omitted,
  }
}

const candidateOf = ({ offer, sight, loss, shunned }: Seen, hope: DecisionRecord['hope']): CandidateEvidence => ({
  ...named(offer),
  loss: shortLoss(loss),
  ...sightOf(sight),
  provider_just_failed: shunned === true,
  hope: hope ? { loss: shortLoss(hope.loss), ...sightOf(hope.sight) } : null,
})

const sightOf = (sight: Sight): SightEvidence => ({
  cost_usd: short(sight.cost),
  first_content_ms: short(sight.firstContentMs),
  growing_ms: short(sight.growingMs),
  failure_rate: short(sight.failure),
  failure_ms: short(sight.lostMs),
  breaking_rate: short(sight.breaking),
  lateness_rate: short(sight.lateness),
  held_ms: short(sight.heldMs),
  resting_ms: short(sight.restingMs),
  headroom: short(sight.headroom),
  warm_tokens: short(sight.warmTokens),
  unheard_ms: short(sight.unheardMs),
  scarcity_usd: short(sight.scarcity),
})

function attemptOf({ candidates, chosen, why, outcome, at }: DecisionRecord, since: number): AttemptEvidence {
  return {
    ...named((candidates[chosen] as Seen).offer),
    why,
    outcome: outcome?.ended ?? null,
    sent_after_ms: outcome ? short(at - since + outcome.sentAfterMs) : null,
    first_content_ms: shortOrNull(outcome?.firstContentMs),
    total_ms: shortOrNull(outcome?.totalMs),
    output_tokens: outcome?.outputTokens ?? null,
    cached_tokens: outcome?.cachedTokens ?? null,
  }
}

const alternativeOf = ({ offer, cost, firstContentMs, failure, lost }: Alternative): AlternativeEvidence => ({
  ...named(offer),
  cost_usd: short(cost),
  first_content_ms: short(firstContentMs),
  failure_rate: short(failure),
  chosen: lost === undefined,
  lost_because: lost ?? null,
})

/** Single precision in double digits is noise. */
const short = (number: number): number => Number(number.toPrecision(6))
const shortOrNull = (number: number | undefined): number | null => (number === undefined ? null : short(number))
const shortLoss = (loss: Loss): Loss => (loss === null ? null : short(loss))
