import type { Clock } from '../runtime/ports.ts'
import { maxTimerMs } from '../runtime/timers.ts'

/** Why an attempt timed out: the response did not begin, was silent for too long, or the request's deadline passed. */
export type TimeOver = 'timed_out' | 'idle' | 'deadline'

/** Limits the wait for a response, then each silence of its stream. Content only updates a field; the timer is re-armed when it fires. */
export interface AnswerTimer {
  readonly clock: Clock
  onOver: (why: TimeOver) => void
  timer: unknown
  /** When the timer fires, in monotonic milliseconds. */
  firesAt: number
  /** Times of a stream. Undefined until the response has begun. */
  stream: StreamTimes | undefined
}

interface StreamTimes {
  readonly since: number
  readonly idleMs: number
  readonly deadlineAt: number
  heardAt: number
  /** When the reader's current pause began. Undefined if it is reading. */
  pausedAt: number | undefined
  pausedMs: number
  /** The gateway has paused the stream while it waits for something. */
  isBlocked: boolean
}

interface Wait {
  readonly milliseconds: number
  /** Monotonic milliseconds. */
  readonly now: number
}

/** Starts waiting for a response. */
export function startTimer(clock: Clock, { milliseconds, now }: Wait, onOver: (why: TimeOver) => void): AnswerTimer {
  const timer: AnswerTimer = { clock, onOver, timer: undefined, firesAt: 0, stream: undefined }
  arm(timer, { milliseconds: Math.max(1, milliseconds), now })
  return timer
}

function arm(state: AnswerTimer, { milliseconds, now }: Wait): void {
  const waitMs = Math.min(milliseconds, maxTimerMs)
  state.firesAt = now + waitMs
  state.timer = state.clock.setTimeout(() => fired(state), waitMs)
}

function fired(state: AnswerTimer): void {
  const { clock, stream, onOver } = state
  state.timer = undefined
  if (stream === undefined) {
    onOver('timed_out')
    return
  }
  const now = clock.monotonic()
  const left = dueAt(stream, now) - now
  if (left > 0) {
    arm(state, { milliseconds: Math.ceil(left), now })
    return
  }
  onOver(now >= stream.deadlineAt ? 'deadline' : 'idle')
}

/** Silence does not count while the reader is paused or the gateway waits. */
const dueAt = ({ heardAt, idleMs, deadlineAt, pausedAt, isBlocked }: StreamTimes, now: number): number =>
  Math.min((pausedAt === undefined && !isBlocked ? heardAt : now) + idleMs, deadlineAt)

/** Starts the silence limit of a stream. `deadlineAt` is monotonic. */
export function startStream(state: AnswerTimer, { idleMs, deadlineAt }: { readonly idleMs: number; readonly deadlineAt: number }): void {
  const now = state.clock.monotonic()
  state.stream = { since: now, idleMs, deadlineAt, heardAt: now, pausedAt: now, pausedMs: 0, isBlocked: false }
  if (state.firesAt <= Math.min(now + idleMs, deadlineAt)) return
  state.clock.clearTimeout(state.timer)
  arm(state, { milliseconds: Math.max(1, Math.ceil(Math.min(now + idleMs, deadlineAt) - now)), now })
}

/** Records that content arrived; comments and pings do not count. */
export function noteContent({ stream, clock }: AnswerTimer): void {
  if (stream) stream.heardAt = clock.monotonic()
}

export function readerPaused({ stream, clock }: AnswerTimer): void {
  if (stream) stream.pausedAt ??= clock.monotonic()
}

export function readerResumed({ stream, clock }: AnswerTimer): void {
  if (stream?.pausedAt === undefined) return
  const now = clock.monotonic()
  stream.pausedMs += now - stream.pausedAt
  stream.pausedAt = undefined
  stream.heardAt = now
}

export function setBlocked({ stream, clock }: AnswerTimer, isBlocked: boolean): void {
  if (stream === undefined) return
  stream.isBlocked = isBlocked
  stream.heardAt = clock.monotonic()
}

export const isReading = ({ stream }: AnswerTimer): boolean => stream?.pausedAt === undefined

/** Total pauses up to this many milliseconds are ignored. */
const maxShortPauseMs = 100

/** The share of the stream's time in which the reader was paused, from 0 to 1. Short pauses are ignored. */
export function pausedShare({ stream, clock }: AnswerTimer): number {
  if (stream === undefined || (stream.pausedAt === undefined && stream.pausedMs <= maxShortPauseMs)) return 0
  const now = clock.monotonic()
  const pausedMs = stream.pausedMs + (stream.pausedAt === undefined ? 0 : now - stream.pausedAt)
  return pausedMs > maxShortPauseMs ? pausedMs / (now - stream.since) : 0
}

export const stopTimer = (state: AnswerTimer): void => {
  state.clock.clearTimeout(state.timer)
  state.timer = undefined
}
