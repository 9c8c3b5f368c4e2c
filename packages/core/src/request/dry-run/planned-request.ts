import type { Caller } from '../../access/caller.ts'
import type { Why } from '../../brain/port.ts'
import type { Sight } from '../../brain/sight.ts'
import type { InferenceRequest } from '../../protocol/request.ts'
import { makePlan } from '../../routing/make-plan.ts'
import type { Candidate, Excluded, Plan } from '../../routing/plan.ts'
import { runSteps } from '../../runtime/steps.ts'
import type { SelectedOffer } from '../../upstream/call.ts'
import { cacheKeyOf } from '../attempts/cache-key.ts'
import { affordsBeside, hedges } from '../attempts/hedging.ts'
import { select } from '../attempts/select-offers.ts'
import type { RequestPorts } from '../infer.ts'
import { applyPolicy } from '../policy/apply-policy.ts'
import { moneyBounds } from '../policy/money-bounds.ts'
import { openCarried, pinned } from '../reasoning-state/open-state.ts'
import { type Fidelity, fidelityOf } from './fidelity.ts'

/** What would be done with a request now, and why. */
export interface PlannedRequest extends Plan {
  /** In the order in which they would be asked, if nothing were learned in between. */
  readonly candidates: readonly [Candidate, ...Candidate[]]
  /** For each candidate, in the same order, what it is judged by. */
  readonly choices: readonly [PlannedChoice, ...PlannedChoice[]]
  /** For each candidate, in the same order, what of the request would reach it. */
  readonly fidelity: readonly Fidelity[]
}

/** Somebody who would be asked. */
export interface PlannedChoice {
  readonly model: string
  readonly provider: string
  readonly provider_model_id: string
  /** Expected loss in USD, or whatever a strategy of one's own returned; the ranks of the plan stand above it. Lower goes first. */
  readonly loss: number
  /** What was expected of it: cost, waits, failures, room. */
  readonly sight: Sight
  /** `fallback`: after the first. `last_resort`: it asked to be left alone, or fails again and again. */
  readonly why: Why
  /** Milliseconds that the request would wait before asking. */
  readonly waitMs: number
  /** Milliseconds without first content (of a whole answer: without its end) after which the next would be asked. */
  readonly timeoutMs: number
  /** Milliseconds of silence after which another would be asked beside it. Absent: none would. */
  readonly hedgeAfterMs?: number
}

/** Nobody is called, and nothing is learned. */
export async function planned(ports: RequestPorts, asked: InferenceRequest, caller: Caller): Promise<PlannedRequest> {
  const { terms, request, planning, hedgeMaxCost } = await runSteps(applyPolicy(ports, asked, caller))
  const carried = await openCarried(request, caller.workspaceId, ports.ring)
  const { prompt } = request
  const bounds = moneyBounds({ terms, caller, prompt, usualOutput: ports.limits.maxOutputTokens })
  const inputTokens = bounds.size.likely
  const plan = makePlan(request, inputTokens, pinned(planning, carried))
  const [first, ...others] = weighed(ports, { plan, request, inputTokens, caller })
  const fallbacks = request.routing.allow_fallbacks ? others : []
  const turns = [first, ...fallbacks]
  const choice = (turn: SelectedOffer, at: number): PlannedChoice => told(turn, turns[at + 1], hedgeMaxCost)
  return {
    ...plan,
    excluded: request.routing.allow_fallbacks ? plan.excluded : [...plan.excluded, ...others.map(forbidden)],
    ...(plan.ranks && { ranks: turns.map(({ candidate }) => plan.ranks?.[plan.candidates.indexOf(candidate)] ?? 0) }),
    candidates: [first.candidate, ...fallbacks.map(({ candidate }) => candidate)],
    choices: [choice(first, 0), ...fallbacks.map((turn, at) => choice(turn, at + 1))],
    fidelity: turns.map(({ candidate }) => {
      const fitted = carried?.fit(candidate, false)
      return fidelityOf(bounds.capped(fitted?.request ?? request, candidate), candidate, fitted?.warnings)
    }),
  }
}

export interface Weighing {
  readonly plan: Plan
  readonly request: InferenceRequest
  readonly inputTokens: number
  readonly caller: Pick<Caller, 'workspaceId'>
}

/** Everyone who may be asked, best first, as it would be judged now. */
export function weighed(
  ports: RequestPorts,
  { plan, request, inputTokens, caller }: Weighing,
): readonly [SelectedOffer, ...SelectedOffer[]] {
  const { timeouts, limits } = ports
  const { timeout_ms, deadline_ms } = request.routing
  return select(ports, {
    plan,
    request,
    inputTokens,
    cacheKey: cacheKeyOf({ plan, request, inputTokens, workspaceId: caller.workspaceId }),
    leftMs: deadline_ms ?? timeouts.deadlineMs,
    ceilingMs: timeout_ms ?? (request.delivery === 'stream' ? timeouts.firstByteMs : timeouts.wholeMs),
    attempts: limits.attempts,
    hedge: hedges(ports, request),
    dry: true,
  }).all()
}

/** `next`: who would be asked after it, or beside it. */
function told(
  { candidate: { model, provider, offer }, choice }: SelectedOffer,
  next: SelectedOffer | undefined,
  hedgeMaxCost: number,
): PlannedChoice {
  const { loss, sight, why, waitMs, timeoutMs, hedgeAfterMs } = choice
  return {
    model: model.id,
    provider: provider.id,
    provider_model_id: offer.provider_model_id,
    loss,
    sight,
    why,
    waitMs,
    timeoutMs,
    ...(hedgeAfterMs !== undefined && next && affordsBeside({ hedgeMaxCost }, next) && { hedgeAfterMs }),
  }
}

/** Somebody who could serve the request, but would only be asked after another. */
const forbidden = ({ candidate: { model, provider, offer } }: SelectedOffer): Excluded => ({
  model: model.id,
  provider: provider.id,
  provider_model_id: offer.provider_model_id,
  code: 'routing_constraint_unsatisfiable',
  reason: 'another goes first, and `gateway.routing.allow_fallbacks` is false',
  param: 'gateway.routing.allow_fallbacks',
})
