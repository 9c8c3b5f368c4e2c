import type { Brain } from '../../brain/brain.ts'
import type { Attempt, Used } from '../../brain/port.ts'
import type { Seen } from '../../metering/meter.ts'
import type { Failure } from '../../protocol/failure.ts'
import type { Usage } from '../../protocol/response.ts'
import type { Answer } from '../../upstream/attempt.ts'
import type { CommittedCall, UpstreamCall } from '../../upstream/call.ts'
import { verdicts } from '../../upstream/verdicts.ts'

// What the router is told of each call: that it went out, and then exactly once how it ended.

interface FailureFacts {
  /** Called again, it would fail the same request again. */
  readonly final: boolean
  /** The limit that passed was the client's own. */
  readonly chosen: boolean
}

/** Ends a call here: a later report finds nothing to end. */
function end(call: UpstreamCall): Attempt | undefined {
  const { underway } = call
  call.underway = undefined
  return underway
}

/** It went wrong before first content; what that says of its offer stands in the table of verdicts. */
export function reportFailure(
  brain: Brain,
  call: UpstreamCall,
  { kind, retryAfterMs, final, chosen }: Pick<Failure, 'kind' | 'retryAfterMs'> & FailureFacts,
): void {
  const { teaches } = verdicts[kind]
  // A call that never went out failed on our side, and all the same this request has nothing more to ask there.
  const underway = end(call) ?? brain.started(call.selected.choice)
  if (teaches === 'left') brain.left(underway)
  else
    brain.failed(underway, {
      kind: teaches,
      final,
      chosen: chosen && teaches === 'timeout',
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    })
}

/** Another candidate was called beside it, and answered first. */
export function reportOvertaken(brain: Brain, call: UpstreamCall): void {
  const underway = end(call)
  if (underway) brain.left(underway)
}

/** It committed: a stream goes on from here, a whole answer is over. */
export function reportCommit(
  brain: Brain,
  call: UpstreamCall,
  { answer, stream }: { readonly answer: Answer; readonly stream: boolean },
): void {
  const underway = stream ? call.underway : end(call)
  if (!underway) return
  if (stream) brain.firstContent(underway)
  else brain.finished(underway, usedOf('response' in answer ? answer.response.usage : undefined))
}

/** How an answer that had committed ended. */
export function reportEnd(
  brain: Brain,
  committed: Pick<CommittedCall, 'call' | 'answer'>,
  { outcome, usage }: Pick<Seen, 'outcome' | 'usage'>,
): void {
  const underway = end(committed.call)
  if (!underway) return
  const teaches = outcome?.status === 'failed' ? verdicts[outcome.error.kind].teaches : undefined
  if (!outcome || teaches === 'left') brain.left(underway)
  else if (teaches) brain.failed(underway, { kind: teaches })
  else brain.finished(underway, usedOf(usage, isReadSlowly(committed)))
}

/** The pace of the answer was its reader's. */
export const isReadSlowly = ({ answer }: Pick<CommittedCall, 'answer'>): boolean => 'stream' in answer && answer.stream.isReadSlowly()

/** What the provider itself told; an estimate teaches nothing, nor does the pace of a slow reader. */
function usedOf(usage: Usage | undefined, isSlow = false): Used {
  if (!usage || usage.estimated) return {}
  return { cachedTokens: usage.cached_tokens, ...(!isSlow && { outputTokens: usage.output_tokens }) }
}
