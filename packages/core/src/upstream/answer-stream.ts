import type { EventDecoder } from '../protocol/dialect.ts'
import { hasEnd, type InferenceEvent, isContent } from '../protocol/event.ts'
import type { Failure } from '../protocol/failure.ts'
import type { Sink, Source } from '../protocol/source.ts'
import type { Candidate } from '../routing/plan.ts'
import { type AnswerTimer, heard, isReading, isReadSlowly, readerPaused, readerResumed, startStream, stopTimer } from './answer-timer.ts'
import type { Connection, StopReason } from './connection.ts'
import { beginDrain, type DrainState, drainOnce, finish } from './drain-connection.ts'
import { messageInStream } from './error-message.ts'
import { failureWithoutSecret } from './failure-without-secret.ts'
import type { FrameFormat } from './frame-format.ts'
import { eventsPerTurn } from './in-turns.ts'
import { isBeyondItemLimit, tooManyItems } from './item-limit.ts'

export type Batch = readonly InferenceEvent[]

/** A stream that a provider sends: bytes or frames in, batches of events out, one batch for each read. */
export interface AnswerStream extends Source<Batch> {
  /** The pace was the reader's. */
  readonly isReadSlowly: () => boolean
  /** Closes the connection; the reader is told why as the end of the answer. */
  readonly stop: (why: StopReason) => void
  /** Cancels, and gives the events that close what the decoder has open. */
  readonly close: () => Batch
}

export interface StreamContext {
  readonly connection: Connection
  readonly timer: AnswerTimer
  readonly candidate: Candidate
  /** All of it is held until its end. */
  readonly isWhole: boolean
  readonly idleMs: number
  /** Monotonic milliseconds. */
  readonly deadlineAt: number
  /** First content has come, or the end of an answer without any. */
  readonly onContent: (stream: AnswerStream) => void
  /** It failed before any content: another provider may still be asked. */
  readonly onFailure: (failure: Failure) => void
}

interface AnswerState<Read> extends StreamContext, DrainState {
  readonly source: Pick<Source<Read>, 'pause' | 'resume' | 'cancel'>
  readonly format: FrameFormat<Read>
  readonly decoder: EventDecoder
  /** Batches that wait for their reader. */
  held: Batch[]
  heldEvents: number
  reader: Sink<Batch> | undefined
  isPaused: boolean
  /** The timer of the next part of a large batch. */
  turn: unknown
  stopped: StopReason | 'idle' | undefined
}

/** At most this many events are held back: a preamble longer than that is content of some kind. */
const maxHeldEvents = 10_000

export interface StreamParts<Read> {
  readonly source: Pick<Source<Read>, 'pause' | 'resume' | 'cancel'>
  readonly format: FrameFormat<Read>
  readonly decoder: EventDecoder
}

/** What feeds a stream, and what ends it for want of time. */
export interface StreamReader<Read> extends Sink<Read> {
  readonly stopForTime: (why: 'idle' | 'deadline') => void
  /** Its attempt has failed: nothing of it is looked at any more. */
  readonly drop: () => void
}

/** Reads a provider's stream. `onContent` or `onFailure` is called once; the stream that the first is given holds what was read so far. */
export function readStream<Read>(parts: StreamParts<Read>, context: StreamContext): StreamReader<Read> {
  const state: AnswerState<Read> = {
    ...context,
    ...parts,
    held: [],
    heldEvents: 0,
    phase: 'opening',
    reader: undefined,
    isPaused: false,
    turn: undefined,
    stopped: undefined,
    readsAfterEnd: 0,
  }
  return {
    next: read => readOnce(state, read),
    end: () => sourceEnded(state),
    fail: () => sourceBroken(state),
    stopForTime: why => {
      // What has not been read by the deadline will not be: it is settled as if the client had left.
      if (!isReading(state.timer)) state.connection.ending.end('client_left')
      stop(state, why)
    },
    drop: () => {
      state.phase = 'over'
      state.source.cancel()
    },
  }
}

function readOnce<Read>(state: AnswerState<Read>, read: Read): void {
  if (state.phase === 'over') return
  if (state.phase === 'draining') {
    drainOnce(state)
    return
  }
  let batch: Batch
  try {
    batch = state.decoder.read(state.format.toFrames(read))
  } catch {
    state.connection.close()
    batch = endOf(state)
  }
  receive(state, batch)
}

function sourceEnded<Read>(state: AnswerState<Read>): void {
  if (state.phase === 'draining') finish(state)
  if (state.phase === 'over') return
  let rest: Batch
  try {
    rest = state.decoder.read(state.format.last())
    if (!hasEnd(rest)) rest = [...rest, ...endOf(state)]
  } catch {
    rest = endOf(state)
  }
  receive(state, rest)
  finish(state)
}

function sourceBroken<Read>(state: AnswerState<Read>): void {
  // A reset after the last event harms nothing.
  if (state.phase === 'draining') finish(state)
  if (state.phase === 'over') return
  state.connection.close()
  receive(state, endOf(state))
}

const unreadable: InferenceEvent = { type: 'finished', outcome: { status: 'failed', error: { kind: 'unreadable', message: '' } } }

/** What is open is closed, and the answer is `finished`, also where a decoder of one's own throws or forgets it. */
function endOf<Read>({ decoder }: AnswerState<Read>): Batch {
  try {
    const rest = decoder.end()
    return hasEnd(rest) ? rest : [...rest, unreadable]
  } catch {
    return [unreadable]
  }
}

/** Ends the answer here. */
function stop<Read>(state: AnswerState<Read>, why: AnswerState<Read>['stopped']): void {
  if (state.phase === 'over' || state.phase === 'draining') return
  state.stopped ??= why
  state.connection.close()
  state.source.cancel()
  receive(state, endOf(state))
}

function receive<Read>(state: AnswerState<Read>, read: Batch): void {
  if (read.length === 0) return
  const batch = read.some(isBeyondItemLimit) ? cutOff(state, read) : read
  if (state.phase === 'opening') open(state, batch)
  else push(state, batch)
  if (hasEnd(batch)) beginDrain(state)
}

/** The items within the limit stand, and what is open is closed; more of them would only fill the memory. */
function cutOff<Read>(state: AnswerState<Read>, batch: Batch): Batch {
  state.connection.close()
  const kept = [...batch, ...endOf(state)].filter(event => event.type !== 'finished' && !isBeyondItemLimit(event))
  return [...kept, tooManyItems]
}

/** Holds events back until the first content. Before that nothing has reached the client, and another provider may still be tried. */
function open<Read>(state: AnswerState<Read>, batch: Batch): void {
  const last = batch.at(-1)
  if (last?.type === 'finished' && last.outcome.status === 'failed' && (state.isWhole || !batch.some(isContent))) {
    state.phase = 'over'
    state.source.cancel()
    state.onFailure(last.outcome.error)
    return
  }
  hold(state, batch)
  if (last?.type !== 'finished' && (state.isWhole || (state.heldEvents <= maxHeldEvents && !batch.some(isContent)))) return
  state.phase = 'open'
  if (!state.isWhole) {
    state.source.pause()
    state.format.relax()
    state.connection.outlivesClient = true
    startStream(state.timer, state)
  }
  state.onContent(streamOf(state))
}

function hold<Read>(state: AnswerState<Read>, batch: Batch): void {
  state.held.push(batch)
  state.heldEvents += batch.length
}

function push<Read>(state: AnswerState<Read>, batch: Batch): void {
  heard(state.timer)
  if (state.reader !== undefined && !state.isPaused && state.held.length === 0 && batch.length <= eventsPerTurn) {
    give(state, state.reader, batch)
    return
  }
  hold(state, batch)
  flush(state)
}

/** Gives what is held; where it is much, a part of it in each turn of the event loop, so that other requests are served between them. */
function flush<Read>(state: AnswerState<Read>): void {
  const { held, reader, source, timer } = state
  if (held.length === 0 || reader === undefined || state.isPaused || state.turn !== undefined) return
  const batch = held.length === 1 && held[0] ? held[0] : held.flat()
  state.held = batch.length > eventsPerTurn ? [batch.slice(eventsPerTurn)] : []
  give(state, reader, batch.length > eventsPerTurn ? batch.slice(0, eventsPerTurn) : batch)
  if (state.held.length === 0) return
  source.pause()
  state.turn = timer.clock.setTimeout(() => {
    state.turn = undefined
    flow(state)
  }, 0)
}

/** A failure is told in the client's terms. */
function give<Read>(state: AnswerState<Read>, reader: Sink<Batch>, batch: Batch): void {
  const last = batch.at(-1)
  if (last?.type !== 'finished') {
    reader.next(batch)
    return
  }
  stopTimer(state.timer)
  if (last.outcome.status !== 'failed') reader.next(batch)
  else {
    const { provider, credential } = state.candidate
    const failure = ownReason(state) ?? failureWithoutSecret(last.outcome.error, credential)
    const error = messageInStream({ ...failure, provider: provider.id })
    reader.next([...batch.slice(0, -1), { ...last, outcome: { status: 'failed', error } }])
  }
  reader.end()
}

/** A break of our own making is told by its reason, not by what it looked like to the decoder. */
function ownReason<Read>({ connection: { ending }, stopped, idleMs }: AnswerState<Read>): Failure | undefined {
  if (ending.why) return { kind: ending.why, message: '' }
  if (stopped === 'idle') return { kind: 'timed_out', message: `Nothing came for ${idleMs} ms.` }
  return stopped && { kind: stopped, message: '' }
}

function streamOf<Read>(state: AnswerState<Read>): AnswerStream {
  const { connection, timer, source } = state
  const stopFollowing = connection.ending.onEnd(() => {
    if (connection.ending.why !== 'client_left') stop(state, undefined)
  })
  const cancel = (): void => {
    state.reader = undefined
    state.held = []
    timer.clock.clearTimeout(state.turn)
    stopTimer(timer)
    stopFollowing()
    if (state.phase === 'over' || state.phase === 'draining') return
    state.phase = 'over'
    connection.close()
    source.cancel()
  }
  return {
    read(reader) {
      state.reader = reader
      if (!state.isPaused) resume(state)
    },
    pause() {
      state.isPaused = true
      readerPaused(timer)
      source.pause()
    },
    resume: () => resume(state),
    cancel,
    close() {
      cancel()
      return endOf(state)
    },
    isReadSlowly: () => isReadSlowly(timer),
    stop: why => stop(state, why),
  }
}

function resume<Read>(state: AnswerState<Read>): void {
  state.isPaused = false
  readerResumed(state.timer)
  flow(state)
}

function flow<Read>(state: AnswerState<Read>): void {
  flush(state)
  if (!state.isPaused && state.turn === undefined && state.phase !== 'over') state.source.resume()
}
