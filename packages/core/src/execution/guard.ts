import type { Failure } from '../protocol/failure.ts'
import type { Candidate } from '../routing/plan.ts'
import type { Clock } from '../runtime/ports.ts'
import type { Batch, Batches } from './commit.ts'
import type { CutReason, Line } from './line.ts'
import { failureWithout } from './secrets.ts'
import { toldInStream } from './told.ts'
import { watch } from './watch.ts'

export interface Guarding {
  readonly line: Line
  readonly idleMs: number
  /** Monotonic milliseconds. */
  readonly deadlineAt: number
  readonly clock: Clock
  readonly candidate: Candidate
}

/** An answer that is read while it grows. */
export interface Guarded extends Batches {
  /** Its pace was the reader's. */
  readonly readSlowly: () => boolean
  /** Hangs up; the reader is told why as the end of the answer. */
  readonly cut: (why: CutReason) => void
}

/** After commit: idle and deadline end the stream, and a failure is told in the caller's terms. */
export function guarded(events: Batches, { line, idleMs, deadlineAt, clock, candidate }: Guarding): Guarded {
  const guard = watch({ clock, idleMs, deadlineAt }, why => {
    line.why = why
    line.hangUp()
    // Who has not read by the deadline will not: the books are closed as for one who left.
    if (!guard.listening()) line.ending.end('client_left')
  })
  line.outlivesClient = true
  const close = (): void => {
    guard.stop()
    line.letGo()
  }
  const pass = (step: IteratorResult<Batch, undefined>): IteratorResult<Batch, undefined> => {
    if (step.done) {
      close()
      return step
    }
    guard.heard()
    const last = step.value.at(-1)
    if (last?.type !== 'finished') return step
    close()
    if (last.outcome.status !== 'failed') return step
    const { provider, credential } = candidate
    const failure = ownReason(line) ?? failureWithout(last.outcome.error, credential)
    const error = toldInStream({ ...failure, provider: provider.id })
    return { done: false, value: [...step.value.slice(0, -1), { ...last, outcome: { status: 'failed', error } }] }
  }
  return {
    next: () => {
      guard.waiting()
      return events.next().then(pass)
    },
    async return() {
      close()
      line.hangUp()
      await events.return?.()
      return { done: true, value: undefined }
    },
    readSlowly: guard.readSlowly,
    cut(why) {
      line.why ??= why
      line.hangUp()
    },
  }

  /** A break that we made ourselves is told by its reason, not by what it looked like to the reader. */
  function ownReason({ ending, why }: Line): Failure | undefined {
    if (ending.why) return { kind: ending.why, message: '' }
    if (why === 'idle') return { kind: 'timed_out', message: `Nothing came for ${idleMs} ms.` }
    return why && { kind: why, message: '' }
  }
}
