import type { Source } from '../protocol/source.ts'
import type { Clock } from '../runtime/ports.ts'
import { unrefTimer } from '../runtime/timers.ts'
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

/** By clock, oldest first. They share one timer, since nearly all have ended before it fires. */
const pendingCloses = new WeakMap<Clock, PendingClose[]>()

function closeLater(state: ConnectionState): void {
  const { clock, stream } = state.timer
  const pending: PendingClose = { state, dueAt: (stream?.heardAt ?? clock.monotonic()) + endLimits.milliseconds }
  state.pendingClose = pending
  const others = pendingCloses.get(clock)
  if (others) others.push(pending)
  else {
    pendingCloses.set(clock, [pending])
    closeOverdueIn(clock, endLimits.milliseconds)
  }
}

function closeOverdueIn(clock: Clock, milliseconds: number): void {
  unrefTimer(clock.setTimeout(() => closeOverdue(clock), milliseconds))
}

function closeOverdue(clock: Clock): void {
  const now = clock.monotonic()
  const left = (pendingCloses.get(clock) ?? []).filter(({ state, dueAt }) => state !== undefined && dueAt > now)
  for (const { state, dueAt } of pendingCloses.get(clock) ?? []) if (state && dueAt <= now) closeAtLimit(state)
  if (left[0] === undefined) pendingCloses.delete(clock)
  else {
    pendingCloses.set(clock, left)
    closeOverdueIn(clock, Math.ceil(left[0].dueAt - now))
  }
}
