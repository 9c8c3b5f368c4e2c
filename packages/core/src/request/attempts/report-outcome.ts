import type { AnswerUsage, DynamicRouter, RouterAttempt } from '@signalbox/router'
import type { MeteredAnswer } from '../../metering/meter.ts'
import type { Failure } from '../../protocol/failure.ts'
import type { Usage } from '../../protocol/response.ts'
import { isMostlyPaused } from '../../upstream/answer-timer.ts'
import type { Answer } from '../../upstream/attempt.ts'
import type { CommittedCall, UpstreamCall } from '../../upstream/call.ts'
import { failurePolicies } from '../../upstream/failure-policy.ts'

// The router records that each call went out, and then exactly once how it ended.

interface FailureFacts {
  /** Called again, it would fail the same request again. */
  readonly final: boolean
  /** The limit that passed was the client's own. */
  readonly chosen: boolean
}

/** Ends a call here: a later report finds nothing to end. */
function endCall(call: UpstreamCall): RouterAttempt | undefined {
  const { underway } = call
  call.underway = undefined
  return underway
}

/** The attempt failed before first content. `failurePolicies` defines what that means for the offer. */
export function reportFailure(
  router: DynamicRouter,
  call: UpstreamCall,
  { kind, retryAfterMs, final: permanent, chosen }: Pick<Failure, 'kind' | 'retryAfterMs'> & FailureFacts,
): void {
  const { recordedAs } = failurePolicies[kind]
  // A call that never went out failed on our side, and all the same this request has nothing more to ask there.
  const underway = endCall(call) ?? router.startAttempt(call.selected.choice)
  if (recordedAs === 'left') router.abandonAttempt(underway)
  else
    router.failAttempt(underway, {
      kind: recordedAs,
      permanent,
      callerTimeout: chosen && recordedAs === 'timeout',
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    })
}

/** Another candidate was called beside it, and answered first. */
export function reportOvertaken(router: DynamicRouter, call: UpstreamCall): void {
  const underway = endCall(call)
  if (underway) router.abandonAttempt(underway)
}

/** It committed: a stream goes on from here, a whole answer is over. */
export function reportCommit(
  router: DynamicRouter,
  call: UpstreamCall,
  { answer, stream }: { readonly answer: Answer; readonly stream: boolean },
): void {
  const underway = stream ? call.underway : endCall(call)
  if (!underway) return
  if (stream) router.recordFirstContent(underway)
  else router.finishAttempt(underway, usedOf('response' in answer ? answer.response.usage : undefined))
}

/** How an answer that had committed ended. */
export function reportEnd(
  router: DynamicRouter,
  committed: Pick<CommittedCall, 'call' | 'answer'>,
  { outcome, usage }: Pick<MeteredAnswer, 'outcome' | 'usage'>,
): void {
  const underway = endCall(committed.call)
  if (!underway) return
  const recordedAs = outcome?.status === 'failed' ? failurePolicies[outcome.error.kind].recordedAs : undefined
  if (!outcome || recordedAs === 'left') router.abandonAttempt(underway)
  else if (recordedAs) router.failAttempt(underway, { kind: recordedAs })
  else router.finishAttempt(underway, usedOf(usage, isReadSlowly(committed)))
}

/** The pace of the answer was its reader's. */
export const isReadSlowly = ({ answer }: Pick<CommittedCall, 'answer'>): boolean =>
  'stream' in answer && isMostlyPaused(answer.stream.timer)

/** Usage from the provider; estimates are left out, and so is the speed of a stream that was read slowly. */
function usedOf(usage: Usage | undefined, isSlow = false): AnswerUsage {
  if (!usage || usage.estimated) return {}
  return { cachedTokens: usage.cached_tokens, ...(!isSlow && { outputTokens: usage.output_tokens }) }
}
