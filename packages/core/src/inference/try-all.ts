import { attempt } from '../execution/attempt.ts'
import { execute, type Won } from '../execution/execute.ts'
import { verdicts } from '../execution/verdict.ts'
import type { Failure } from '../protocol/failure.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import type { HealthBook } from '../routing/health.ts'
import type { Candidate, Plan } from '../routing/plan.ts'
import type { Ending } from '../runtime/ending.ts'
import type { CallFacts } from '../runtime/ports.ts'
import { tell } from '../runtime/tell.ts'
import type { Carried } from './carry.ts'
import type { Engine } from './infer.ts'

export interface Trying {
  readonly call: CallFacts
  readonly request: InferenceRequest
  readonly plan: Plan
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
  /** Who had taken the request when the caller left: from then on it may bill. */
  accepted?: Candidate
}

/** The plan's candidates, one after the other, with what each failure teaches. */
export async function tryAll(engine: Engine, trying: Trying): Promise<Won> {
  const { call, request, plan, carried, ending, startedAt, deadlineAt, tries } = trying
  const { clock, hooks, logger, health, timeouts, transport, media } = engine
  const usualMs = request.delivery === 'stream' ? timeouts.firstByteMs : timeouts.wholeMs
  const ceilingMs = request.routing.timeout_ms ?? usualMs
  const limits = { deadlineAt, ceilingMs, idleMs: timeouts.idleMs }
  const won = await execute({
    plan,
    request,
    ending,
    limits,
    clock,
    budget: engine.limits.attempts,
    ...(carried && { carries: (candidate: Candidate) => carried.fit(candidate, false).carries }),
    attempt: async (candidate, bare) => {
      tries.count += 1
      const fitted = carried?.fit(candidate, bare) ?? { request }
      const tried = await attempt(
        { ...fitted, candidate, ending, limits },
        { transport, clock, logger, media, onHeadroom: health.headroom },
      )
      if (!tried.ok && tried.accepted && ending.why) tries.accepted = candidate
      return tried
    },
    onFailure: (candidate, failure) => {
      // A limit that the caller chose says nothing about the provider, and must not demote it for others.
      const chosen = failure.kind === 'timed_out' && ceilingMs < usualMs
      if (!chosen) takeToHeart(health, candidate, failure)
      if (hooks.onFailure) tell(logger, 'onFailure', () => hooks.onFailure?.(call, failure))
    },
  })
  if (hooks.onCommit) tell(logger, 'onCommit', () => hooks.onCommit?.(call, won.candidate.provider.id, clock.monotonic() - startedAt))
  return won
}

/** A refused credential or an empty account comes back only by hand, so it is left alone for long. */
const credentialWaitMs = 60_000
const limitedWaitMs = 1_000

/** What a failure teaches about its candidate, by the table of verdicts. */
export function takeToHeart(health: HealthBook, candidate: Candidate, failure: Failure): void {
  const verdict = verdicts[failure.kind].health
  if (verdict === 'neutral') return
  if (verdict === 'fault') health.failed(candidate)
  const wait = { credential: credentialWaitMs, limited: limitedWaitMs, fault: undefined }[verdict]
  const waitMs = failure.retryAfterMs ?? wait
  if (waitMs !== undefined) health.cool(candidate, waitMs)
}
