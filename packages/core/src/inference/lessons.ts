import type { Brain } from '../brain/brain.ts'
import type { Attempt, Used } from '../brain/port.ts'
import type { Call, Won } from '../execution/call.ts'
import { verdicts } from '../execution/verdict.ts'
import type { Seen } from '../metering/meter.ts'
import type { Failure } from '../protocol/failure.ts'
import type { Usage } from '../protocol/response.ts'

// What the brain is told of each call: that it went out, and then exactly once how it ended.

export interface Lesson {
  /** Asked again, it would fail the same request again. */
  readonly final: boolean
  /** The limit that passed was the caller's own. */
  readonly chosen: boolean
}

/** Ends a call here: whoever hears of it later finds nothing to end. */
function end(call: Call): Attempt | undefined {
  const { underway } = call
  call.underway = undefined
  return underway
}

/** It went wrong before first content; what that says of its offer stands in the table of verdicts. */
export function learnFailure(brain: Brain, call: Call, { kind, retryAfterMs, final, chosen }: Failure & Lesson): void {
  const { teaches } = verdicts[kind]
  // What never went out ended on our side of the line, and all the same this request has nothing more to ask there.
  const underway = end(call) ?? brain.started(call.turn.choice)
  if (teaches === 'left') brain.left(underway)
  else
    brain.failed(underway, {
      kind: teaches,
      final,
      chosen: chosen && teaches === 'timeout',
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    })
}

/** Another was asked beside it, and answered first. */
export function learnOutrun(brain: Brain, call: Call): void {
  const underway = end(call)
  if (underway) brain.left(underway)
}

/** It committed: a stream goes on from here, a whole answer is over. */
export function learnCommit(
  brain: Brain,
  call: Call,
  { stream, usage }: { readonly stream: boolean; readonly usage: Usage | undefined },
): void {
  const underway = stream ? call.underway : end(call)
  if (!underway) return
  if (stream) brain.firstContent(underway)
  else brain.finished(underway, usedOf(usage))
}

/** How an answer that had committed ended. */
export function learnEnd(
  brain: Brain,
  { call, events }: Pick<Won, 'call' | 'events'>,
  { outcome, usage }: Pick<Seen, 'outcome' | 'usage'>,
): void {
  const underway = end(call)
  if (!underway) return
  const teaches = outcome?.status === 'failed' ? verdicts[outcome.error.kind].teaches : undefined
  if (!outcome || teaches === 'left') brain.left(underway)
  else if (teaches) brain.failed(underway, { kind: teaches })
  else brain.finished(underway, usedOf(usage, 'readSlowly' in events && events.readSlowly()))
}

/** What the provider itself told; an estimate teaches nothing, nor does the pace of a reader who takes their time. */
function usedOf(usage: Usage | undefined, isReadSlowly = false): Used {
  if (!usage || usage.estimated) return {}
  return { cachedTokens: usage.cached_tokens, ...(!isReadSlowly && { outputTokens: usage.output_tokens }) }
}
