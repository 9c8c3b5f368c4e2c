import type { Credential, InferenceRequest, Model, Offer } from '@signalbox/dialects/protocol'
import type { ChoiceReason, OfferEstimate } from '@signalbox/router'
import type { Candidate, Excluded, Plan } from '../../routing/plan.ts'
import { runSteps } from '../../runtime/steps.ts'
import type { SelectedOffer } from '../../upstream/attempt.ts'
import { affordsBeside } from '../attempts/hedging.ts'
import { select } from '../attempts/select-offers.ts'
import type { Engine } from '../engine.ts'
import { type PreparedRequest, prepareRequest } from '../prepare-request.ts'
import type { CallOptions } from '../reply.ts'
import { type Fidelity, fidelityOf } from './fidelity.ts'

/** How a request would be routed now, with the reasons. Contains no secret. */
export interface PlannedRequest extends Omit<Plan, 'candidates' | 'pinned'> {
  /** Candidates in the order in which they would be tried if the estimates did not change in between. */
  readonly candidates: readonly [PlannedCandidate, ...PlannedCandidate[]]
  /** Candidates that created reasoning state of the conversation. They go first, and the others continue without it. */
  readonly pinned?: readonly PlannedCandidate[] | undefined
  /** For each candidate, in the same order, the values by which it was ranked. */
  readonly choices: readonly [PlannedChoice, ...PlannedChoice[]]
  /** For each candidate, in the same order, the features of the request that would reach it. */
  readonly fidelity: readonly Fidelity[]
}

/** A candidate without what only calls need: a plan may be logged, or sent to a client. */
interface PlannedCandidate {
  readonly model: Model
  readonly offer: Offer
  readonly provider: { readonly id: string }
  readonly credential: Pick<Credential, 'id' | 'owner'>
}

/** A candidate that would be tried, with the values by which it was ranked. */
interface PlannedChoice {
  readonly model: string
  readonly provider: string
  readonly provider_model_id: string
  /** Expected loss in USD, or the number that a custom strategy returned. Lower is tried first, within the ranks of the plan. */
  readonly loss: number
  /** Expected cost, waiting times, failures and capacity. */
  readonly estimate: OfferEstimate
  /** `fallback`: not the first candidate. `last_resort`: it is rate limited or keeps failing. */
  readonly why: ChoiceReason
  /** Milliseconds that the request would wait before the call. */
  readonly waitMs: number
  /** Milliseconds without first content (if not streamed: without a complete response) after which the next candidate would be tried. */
  readonly timeoutMs: number
  /** Milliseconds of silence after which a second candidate would be called in parallel. Undefined if never. */
  readonly hedgeAfterMs?: number
}

/** Routes a request without calling a provider or learning from it. */
export async function planRequest(
  ports: Engine,
  originalRequest: InferenceRequest,
  options: Pick<CallOptions, 'caller' | 'claimMemory'>,
): Promise<PlannedRequest> {
  const prepared = await runSteps(prepareRequest(ports, originalRequest, options))
  const { request, plan, carried, bounds, maxHedgeCost } = prepared
  const [first, ...others] = rankOffers(ports, prepared)
  const fallbacks = request.routing.allow_fallbacks ? others : []
  const turns = [first, ...fallbacks]
  const choice = (turn: SelectedOffer, at: number): PlannedChoice => plannedChoice(turn, turns[at + 1], maxHedgeCost)
  return {
    ...plan,
    excluded: request.routing.allow_fallbacks ? plan.excluded : [...plan.excluded, ...others.map(forbidden)],
    ...(plan.ranks && { ranks: turns.map(({ candidate }) => plan.ranks?.[plan.candidates.indexOf(candidate)] ?? 0) }),
    candidates: [plannedCandidate(first.candidate), ...fallbacks.map(({ candidate }) => plannedCandidate(candidate))],
    pinned: plan.pinned?.map(plannedCandidate),
    choices: [choice(first, 0), ...fallbacks.map((turn, index) => choice(turn, index + 1))],
    fidelity: turns.map(({ candidate }) => {
      const fitted = carried?.fit(candidate, false)
      return fidelityOf(bounds.capped(fitted?.request ?? request, candidate), candidate, fitted?.warnings)
    }),
  }
}

/** All candidates, best first, by the current estimates. */
export function rankOffers(ports: Engine, prepared: PreparedRequest): readonly [SelectedOffer, ...SelectedOffer[]] {
  const { timeouts, limits } = ports
  const { timeout_ms, deadline_ms } = prepared.request.routing
  return select(ports, {
    ...prepared,
    leftMs: deadline_ms ?? timeouts.deadlineMs,
    ceilingMs: timeout_ms ?? (prepared.request.delivery === 'stream' ? timeouts.firstByteMs : timeouts.wholeMs),
    attempts: limits.attempts,
    dryRun: true,
  }).all()
}

const plannedCandidate = ({ model, offer, provider, credential: { id, owner } }: Candidate): PlannedCandidate => ({
  model,
  offer,
  provider: { id: provider.id },
  credential: { id, owner },
})

/** `next`: the candidate that would be tried next or as the hedge. */
function plannedChoice(
  { candidate: { model, provider, offer }, choice }: SelectedOffer,
  next: SelectedOffer | undefined,
  maxHedgeCost: number,
): PlannedChoice {
  const { score, estimate, reason, waitMs, timeoutMs, hedgeAfterMs } = choice
  return {
    model: model.id,
    provider: provider.id,
    provider_model_id: offer.model,
    loss: score,
    estimate,
    why: reason,
    waitMs,
    timeoutMs,
    ...(hedgeAfterMs !== undefined && next && affordsBeside({ maxHedgeCost }, next) && { hedgeAfterMs }),
  }
}

/** The exclusion of a candidate that would only be tried as a fallback. */
const forbidden = ({ candidate: { model, provider, offer } }: SelectedOffer): Excluded => ({
  model: model.id,
  provider: provider.id,
  provider_model_id: offer.model,
  code: 'routing_constraint_unsatisfiable',
  reason: 'another candidate ranks first, and `gateway.routing.allow_fallbacks` is false',
  param: 'gateway.routing.allow_fallbacks',
})
