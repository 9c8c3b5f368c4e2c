import type { DynamicRouter } from '@signalbox/router'
import type { Candidate } from '../../routing/plan.ts'
import { type AttemptPorts, type AttemptResult, runAttempt } from '../../upstream/attempt.ts'
import type { UpstreamCall } from '../../upstream/call.ts'
import type { SendPorts } from '../../upstream/send.ts'
import { type AttemptContext, noteDiscarded } from './attempt-context.ts'
import { reportCommit } from './report-outcome.ts'

export interface CallPorts extends AttemptPorts {
  readonly router: DynamicRouter
  /** Called with the headers of a response to a BYOK key if they report its rate limits. */
  readonly onOwnAnswer?: ((candidate: Candidate, header: (name: string) => string | undefined) => void) | undefined
}

/** Calls one candidate once. */
export function callCandidate(ports: CallPorts, context: AttemptContext, call: UpstreamCall): Promise<AttemptResult> {
  const { router, transport, clock, logger, media, onOwnAnswer } = ports
  const { request, bounds, carried, limits, attempts, isLarge, claimMemory } = context
  const { candidate, choice, contender: tracked } = call.selected
  attempts.count += 1
  const fitted = carried?.fit(candidate, call.isStateless)
  const onSent = (now: number): void => {
    call.sentAt = now
    call.underway = router.startAttempt(choice)
    attempts.last = candidate
  }
  const onHeadroom: SendPorts['onHeadroom'] = (seen, header) => {
    router.updateHeadroom(tracked, seen)
    if (candidate.credential.owner === 'workspace') onOwnAnswer?.(candidate, header)
  }
  return runAttempt(
    {
      warnings: fitted?.warnings,
      request: bounds.capped(fitted?.request ?? request, candidate),
      candidate,
      isLarge,
      claimMemory,
      cancellation: call.cancellation,
      limits: { deadlineAt: limits.deadlineAt, ceilingMs: call.ceilingMs, idleMs: limits.idleMs },
      onSent,
      onTier: tier => {
        call.statedTier = tier
      },
    },
    { transport, clock, logger, media, onHeadroom },
  )
}

interface CallResult {
  readonly call: UpstreamCall
  readonly result: AttemptResult
}

/** Reports a successful call to the router, and records a cancelled one that may be billed. */
export function reportResult(
  router: DynamicRouter,
  { request, cancellation, attempts }: AttemptContext,
  { call, result }: CallResult,
): void {
  if (result.ok) reportCommit(router, call, { answer: result.answer, stream: request.delivery === 'stream' })
  else if (result.accepted && cancellation.reason) noteDiscarded(attempts, call.selected.candidate)
}
