import type { FlightSummary } from '../brain/flight-summary.ts'
import { type Attempted, type AttemptLimits, attempt } from '../execution/attempt.ts'
import type { Call, Won } from '../execution/call.ts'
import { execute } from '../execution/execute.ts'
import type { SendPorts } from '../execution/send.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'
import type { Candidate, Plan } from '../routing/plan.ts'
import type { Ending } from '../runtime/ending.ts'
import type { CallFacts } from '../runtime/ports.ts'
import { tell } from '../runtime/tell.ts'
import type { Carried } from './carry.ts'
import { affordsBeside } from './hedging.ts'
import type { Engine } from './infer.ts'
import { learnCommit, learnFailure, learnOutrun } from './lessons.ts'
import type { MoneyBounds } from './money-bounds.ts'
import { type Refusal, refusalOf, refusedKeyWarnings } from './refused-keys.ts'
import { type Selection, select } from './select.ts'

export interface Trying {
  readonly call: CallFacts
  readonly request: InferenceRequest
  readonly plan: Plan
  readonly inputTokens: number
  readonly bounds: Pick<MoneyBounds, 'capped'>
  readonly cacheKey: string | undefined
  /** Two may be asked at once. */
  readonly hedge: boolean
  /** The reasoning state of the conversation, where it holds some. */
  readonly carried: Carried | undefined
  readonly ending: Ending
  /** Monotonic milliseconds. */
  readonly startedAt: number
  readonly deadlineAt: number
  readonly tries: Tries
}

/** What the attempts leave behind, also when none of them wins. */
export interface Tries {
  count: number
  /** Who had taken the request when nobody waited for them any more: from then on they may bill. */
  readonly accepted: Candidate[]
  /** The last one that was asked. */
  asked?: Candidate
  /** What was decided, as text, where it is recorded. */
  flightText?: (most: number) => string
  flightSummary?: () => FlightSummary
}

/** The plan's candidates, one after the other, with what each call teaches. */
export async function tryAll(engine: Engine, trying: Trying): Promise<Won> {
  const { call: facts, request, plan, carried, ending, startedAt, deadlineAt, tries } = trying
  const { brain, clock, hooks, logger, timeouts } = engine
  const { timeout_ms, deadline_ms } = request.routing
  const usualMs = request.delivery === 'stream' ? timeouts.firstByteMs : timeouts.wholeMs
  const ceilingMs = timeout_ms ?? usualMs
  const selection = select(engine, {
    ...trying,
    leftMs: deadlineAt - clock.monotonic(),
    ceilingMs,
    attempts: engine.limits.attempts,
  })
  tellPlan(engine, facts, selection)
  if (selection.flightText) tries.flightText = selection.flightText
  if (selection.flightSummary) tries.flightSummary = selection.flightSummary
  if (selection.flight) {
    engine.flights.keep(facts.requestId, { flight: selection.flight, excluded: plan.excluded, strategy: plan.strategy })
  }
  const limits = { deadlineAt, ceilingMs, idleMs: timeouts.idleMs }
  const isImpatient = (call: Call): boolean =>
    (ceilingMs < usualMs && call.ceilingMs >= ceilingMs) || (deadline_ms !== undefined && clock.monotonic() >= deadlineAt)
  const refusals: Refusal[] = []
  const won = await execute({
    request,
    ending,
    limits,
    clock,
    budget: engine.limits.attempts,
    excluded: plan.excluded,
    next: selection.next,
    ...(carried && { carries: (candidate: Candidate) => carried.fit(candidate, false).carries }),
    mayHedge: turn => affordsBeside(engine, turn),
    attempt: call => makeCall(engine, trying, { call, limits }),
    onFailure: (call, failure, final) => {
      // A limit that the caller chose says little about the provider, and must not demote it for others.
      learnFailure(brain, call, { ...failure, final, chosen: isImpatient(call) })
      const refusal = refusalOf(failure)
      if (refusal) {
        refusals.push(refusal)
        engine.onCredentialRefused?.(facts.workspaceId, call.turn.candidate.credential)
      }
      if (hooks.onFailure) tell(logger, 'onFailure', () => hooks.onFailure?.(facts, failure))
    },
    onOutrun: (call, accepted) => {
      learnOutrun(brain, call)
      const { candidate } = call.turn
      if (accepted && !tries.accepted.includes(candidate)) tries.accepted.push(candidate)
    },
  })
  if (hooks.onCommit) tell(logger, 'onCommit', () => hooks.onCommit?.(facts, won.candidate.provider.id, clock.monotonic() - startedAt))
  const hedged = tries.accepted.map(({ provider }) => paidTwice(provider.id, won.candidate.provider.id))
  const refused = refusedKeyWarnings(won.candidate, refusals, { refusedKeys: engine.refusedKeys, plan, request })
  const warnings = refused.length > 0 ? [...hedged, ...refused] : hedged
  return warnings.length > 0 ? { ...won, warnings: [...won.warnings, ...warnings] } : won
}

interface Calling {
  readonly call: Call
  readonly limits: AttemptLimits
}

/** One call, and what it teaches as far as it succeeds. */
async function makeCall(
  engine: Engine,
  { request, bounds, carried, ending, tries }: Trying,
  { call, limits }: Calling,
): Promise<Attempted> {
  const { brain, transport, clock, logger, media } = engine
  const { candidate, choice, contender } = call.turn
  tries.count += 1
  const fitted = carried?.fit(candidate, call.bare) ?? { request }
  const onSent = (): void => {
    call.sentAt = clock.monotonic()
    call.underway = brain.started(choice)
    tries.asked = candidate
  }
  const onHeadroom: SendPorts['onHeadroom'] = (_, seen, header) => {
    brain.headroom(contender, seen)
    if (candidate.credential.owner === 'workspace') engine.onOwnAnswer?.(candidate, header)
  }
  const tried = await attempt(
    {
      ...fitted,
      request: bounds.capped(fitted.request, candidate),
      candidate,
      ending: call.ending,
      limits: { ...limits, ceilingMs: call.ceilingMs },
      onSent,
    },
    { transport, clock, logger, media, onHeadroom },
  )
  if (tried.ok) learnCommit(brain, call, { stream: request.delivery === 'stream', usage: tried.usage })
  else if (tried.accepted && ending.why) tries.accepted.push(candidate)
  return tried
}

const paidTwice = (slower: string, winner: string): Warning => ({
  code: 'hedged',
  message: `Two providers were asked at once, and ${winner} answered first; ${slower} had taken the request, so its input is billed too.`,
  param: 'gateway.routing.hedge',
})

function tellPlan({ hooks, logger }: Engine, call: CallFacts, selection: Selection): void {
  if (!hooks.onPlan) return
  tell(logger, 'onPlan', () =>
    hooks.onPlan?.(
      call,
      selection.all().map(({ candidate: { provider, offer } }) => `${provider.id}/${offer.provider_model_id}`),
    ),
  )
}
