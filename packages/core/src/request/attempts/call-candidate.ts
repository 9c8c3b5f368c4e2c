import type { DynamicRouter } from '@signalbox/router'
import type { Candidate } from '../../routing/plan.ts'
import { type Step, wait } from '../../runtime/steps.ts'
import { type AttemptPorts, type AttemptResult, runAttempt } from '../../upstream/attempt.ts'
import type { UpstreamCall } from '../../upstream/call.ts'
import type { SendPorts } from '../../upstream/send.ts'
import { type AttemptContext, noteAccepted } from './attempt-context.ts'
import { reportCommit } from './report-outcome.ts'

export interface CallPorts extends AttemptPorts {
  readonly router: DynamicRouter
  /** The headers of an answer to a credential of a workspace's own, where they tell of its limits. */
  readonly onOwnAnswer?: ((candidate: Candidate, header: (name: string) => string | undefined) => void) | undefined
}

/** One call, and what the router learns of it as far as it succeeds. */
export function* callCandidate(
  { router, transport, clock, logger, media, onOwnAnswer }: CallPorts,
  { request, bounds, carried, cancellation, limits, attempts }: AttemptContext,
  call: UpstreamCall,
): Step<AttemptResult> {
  const { candidate, choice, contender: tracked } = call.selected
  attempts.count += 1
  const fitted = carried?.fit(candidate, call.isStateless) ?? { request }
  const onSent = (): void => {
    call.sentAt = clock.monotonic()
    call.underway = router.startAttempt(choice)
    attempts.last = candidate
  }
  const onHeadroom: SendPorts['onHeadroom'] = (seen, header) => {
    router.updateHeadroom(tracked, seen)
    if (candidate.credential.owner === 'workspace') onOwnAnswer?.(candidate, header)
  }
  const attempting = runAttempt(
    {
      ...fitted,
      request: bounds.capped(fitted.request, candidate),
      candidate,
      cancellation: call.cancellation,
      limits: { ...limits, ceilingMs: call.ceilingMs },
      onSent,
      onTier: tier => {
        call.statedTier = tier
      },
    },
    { transport, clock, logger, media, onHeadroom },
  )
  const result = yield* wait(attempting)
  if (result.ok) reportCommit(router, call, { answer: result.answer, stream: request.delivery === 'stream' })
  else if (result.accepted && cancellation.reason) noteAccepted(attempts, candidate)
  return result
}
