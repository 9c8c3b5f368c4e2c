import type { Failure, Usage } from '@signalbox/dialects/protocol'
import type { AnswerUsage, DynamicRouter, RouterAttempt } from '@signalbox/router'
import type { MeteredAnswer } from '../../metering/meter.ts'
import { pausedShare } from '../../upstream/answer-timer.ts'
import type { Answer } from '../../upstream/attempt.ts'
import type { CommittedCall, UpstreamCall } from '../../upstream/call.ts'
import { failurePolicies } from '../../upstream/failure-policy.ts'

// The router records the start of each call, and exactly once how it ended.

interface FailureFacts {
  /** Whether the same request would fail again. */
  readonly final: boolean
  /** Whether the time limit that was exceeded was set by the client. */
  readonly chosen: boolean
}

/** Takes the router's attempt from a call, so that it is reported only once. */
function endCall(call: UpstreamCall): RouterAttempt | undefined {
  const { underway } = call
  call.underway = undefined
  return underway
}

/** Reports a failure before first content. `failurePolicies` defines how it is recorded for the offer. */
export function reportFailure(
  router: DynamicRouter,
  call: UpstreamCall,
  { kind, retryAfterMs, final: permanent, chosen }: Pick<Failure, 'kind' | 'retryAfterMs'> & FailureFacts,
): void {
  const { recordedAs } = failurePolicies[kind]
  // A call that failed before it was sent is recorded as an attempt too, so that this request does not use the offer again.
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

/** Reports a call whose hedge responded first. */
export function reportOvertaken(router: DynamicRouter, call: UpstreamCall): void {
  const underway = endCall(call)
  if (underway) router.abandonAttempt(underway)
}

/** Reports that a call has committed: a stream continues, a response that is not streamed is complete. */
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

/** Reports how a committed response ended. */
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
  else router.finishAttempt(underway, usedOf(usage, readerPausedShare(committed) > 0.5))
}

/** The share of the response's time in which the client did not read, from 0 to 1. */
export const readerPausedShare = ({ answer }: Pick<CommittedCall, 'answer'>): number =>
  'stream' in answer ? pausedShare(answer.stream.timer) : 0

/** The provider's usage for the router, without estimates and without the speed of a stream that was read slowly. */
function usedOf(usage: Usage | undefined, isSlow = false): AnswerUsage {
  if (!usage || usage.estimated) return {}
  return { cachedTokens: usage.cached_tokens, ...(!isSlow && { outputTokens: usage.output_tokens }) }
}
