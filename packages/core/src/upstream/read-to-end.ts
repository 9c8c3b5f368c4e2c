import { createLastingTimer, type LastingTimer } from '../runtime/lasting-timer.ts'
import type { Clock } from '../runtime/ports.ts'
import type { AnswerTimer } from './answer-timer.ts'

/** Maximum number of reads after the last event of a stream. */
export const maxReadsAfterEnd = 8
const maxMsAfterEnd = 1_000

/** A stream that is closed at a time, unless its connection has ended before. */
export interface PendingClose {
  /** Undefined once it has ended, so that nothing of the response is held. */
  stream: { readonly closeAfterEnd: () => void } | undefined
  /** Monotonic milliseconds. */
  readonly dueAt: number
}

/** The streams of one clock that are closed at a time, oldest first. They share a timer, since nearly all end before it fires. */
interface PendingCloses {
  entries: PendingClose[]
  readonly timer: LastingTimer
}

const closesByClock = new WeakMap<Clock, PendingCloses>()

/** Closes a stream a second after its last event. */
export function closeLater(stream: PendingClose['stream'], { clock, stream: times }: AnswerTimer): PendingClose {
  let pending = closesByClock.get(clock)
  if (!pending) {
    const created: PendingCloses = {
      entries: [],
      timer: createLastingTimer(clock, () => closeOverdue(created, clock), { isUnref: true }),
    }
    closesByClock.set(clock, created)
    pending = created
  }
  const now = times?.heardAt ?? clock.monotonic()
  const entry: PendingClose = { stream, dueAt: now + maxMsAfterEnd }
  pending.entries.push(entry)
  pending.timer.set(maxMsAfterEnd, now)
  return entry
}

function closeOverdue(pending: PendingCloses, clock: Clock): void {
  const now = clock.monotonic()
  const { entries } = pending
  pending.entries = entries.filter(({ stream, dueAt }) => stream !== undefined && dueAt > now)
  for (const { stream, dueAt } of entries) {
    if (dueAt > now) continue
    try {
      stream?.closeAfterEnd()
    } catch {
      // On Workers a connection of another request cannot be closed; it ends with its request.
    }
  }
  const [oldest] = pending.entries
  if (oldest) pending.timer.set(Math.ceil(oldest.dueAt - now), now)
}
