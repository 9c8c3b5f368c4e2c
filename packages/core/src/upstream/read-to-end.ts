import type { Source } from '@signalbox/dialects/protocol'
import { createLastingTimer, type LastingTimer } from '../runtime/lasting-timer.ts'
import type { Clock } from '../runtime/ports.ts'
import type { AnswerTimer } from './answer-timer.ts'
import type { Connection } from './connection.ts'

/** The parts of a stream's state that concern its connection. */
export interface ConnectionState {
  readonly connection: Connection
  readonly timer: AnswerTimer
  readonly source: Pick<Source<unknown>, 'resume' | 'cancel'>
  /** `opening`: no content yet. `ending`: the last event was delivered, and the connection is read to its end. */
  phase: 'opening' | 'open' | 'ending' | 'over'
  readsAfterEnd: number
  pendingClose?: PendingClose
}

/** Limits of reading a connection after the last event. */
const endLimits = { milliseconds: 1_000, reads: 8 } as const

/**
 * After the last event the connection is read to its end, because only then can it be reused. If the provider keeps sending or keeps it
 * open, it is closed.
 */
export function readToEnd(state: ConnectionState): void {
  if (state.phase === 'over') return
  state.phase = 'ending'
  state.source.resume()
  // The end usually arrives with the last event, before this runs.
  queueMicrotask(() => {
    if (state.phase === 'ending') closeLater(state)
  })
}

export function countReadAfterEnd(state: ConnectionState): void {
  state.readsAfterEnd += 1
  if (state.readsAfterEnd >= endLimits.reads) closeAtLimit(state)
}

function closeAtLimit(state: ConnectionState): void {
  if (state.phase !== 'ending') return
  state.connection.close()
  state.source.cancel()
  releaseConnection(state)
}

export function releaseConnection(state: ConnectionState): void {
  state.phase = 'over'
  if (state.pendingClose) state.pendingClose.state = undefined
  state.connection.release()
}

/** A connection that is closed at a time, unless it has ended before. */
interface PendingClose {
  /** Undefined once it has ended, so that nothing of the response is held. */
  state: ConnectionState | undefined
  /** Monotonic milliseconds. */
  readonly dueAt: number
}

/** The connections of one clock that are closed at a time, oldest first. They share a timer, since nearly all end before it fires. */
interface PendingCloses {
  entries: PendingClose[]
  readonly timer: LastingTimer
}

const closesByClock = new WeakMap<Clock, PendingCloses>()

function pendingClosesOf(clock: Clock): PendingCloses {
  let pending = closesByClock.get(clock)
  if (!pending) {
    const timer = createLastingTimer(clock, () => closeOverdue(created, clock), { isUnref: true })
    const created: PendingCloses = { entries: [], timer }
    closesByClock.set(clock, created)
    pending = created
  }
  return pending
}

function closeLater(state: ConnectionState): void {
  const { clock, stream } = state.timer
  const now = stream?.heardAt ?? clock.monotonic()
  const pending = pendingClosesOf(clock)
  state.pendingClose = { state, dueAt: now + endLimits.milliseconds }
  pending.entries.push(state.pendingClose)
  pending.timer.set(endLimits.milliseconds, now)
}

function closeOverdue(pending: PendingCloses, clock: Clock): void {
  const now = clock.monotonic()
  const { entries } = pending
  pending.entries = entries.filter(({ state, dueAt }) => state !== undefined && dueAt > now)
  for (const { state, dueAt } of entries) if (state && dueAt <= now) closeQuietly(state)
  const [oldest] = pending.entries
  if (oldest) pending.timer.set(Math.ceil(oldest.dueAt - now), now)
}

/** On Workers a connection of another request cannot be closed; it ends with its request. */
function closeQuietly(state: ConnectionState): void {
  try {
    closeAtLimit(state)
  } catch {
    state.phase = 'over'
  }
}
