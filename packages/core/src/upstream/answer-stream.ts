import type { Sink } from '@signalbox/dialects/protocol'
import { answerLimits, closingEvents, hasEnd, isContent } from '@signalbox/dialects/protocol'
import { isReading, noteContent, readerPaused, readerResumed, setBlocked, startStream, stopTimer } from './answer-timer.ts'
import { type StopReason, stopFailure } from './connection.ts'
import { messageInStream } from './error-message.ts'
import { cutAtItemLimit, type EventBatch, firstBatch, isBeyondItemLimit, maxBatchEvents } from './event-batches.ts'
import { failureWithoutSecret } from './failure-without-secret.ts'
import type { StreamRead } from './frame-format.ts'
import { logFailure } from './log-failure.ts'
import { type ConnectionState, countReadAfterEnd, readToEnd, releaseConnection } from './read-to-end.ts'
import type { AnswerStream, StreamContext, StreamParts, StreamReader } from './stream-context.ts'

interface AnswerState<Read extends StreamRead> extends StreamParts<Read>, Omit<StreamContext, 'onContent' | 'onFailure'>, ConnectionState {
  readonly source: StreamParts<Read>['source']
  /** Undefined once the stream is open, so that it does not keep its attempt. */
  onContent: StreamContext['onContent'] | undefined
  onFailure: StreamContext['onFailure'] | undefined
  /** Bytes read so far, and their limit. */
  bytes: number
  maxBytes: number
  /** Batches that wait for the reader. */
  held: EventBatch[]
  heldEvents: number
  reader: Sink<EventBatch> | undefined
  isPaused: boolean
  isBlocked: boolean
  /** Timer that delivers the next part of a large batch. */
  turn: unknown
  stopped: StopReason | 'idle' | undefined
}

/** Maximum number of events held before the first content; a longer preamble is treated as content. */
const maxHeldEvents = 10_000

/** Reads a provider's stream. Calls `onContent` or `onFailure` once; the stream passed to `onContent` holds what was read so far. */
export function readStream<Read extends StreamRead>(
  { source, format, decoder }: StreamParts<Read>,
  context: StreamContext,
): StreamReader<Read> {
  const { connection, timer, candidate, logger, isWhole, idleMs, deadlineAt, onContent, onFailure } = context
  const state: AnswerState<Read> = {
    source,
    format,
    decoder,
    connection,
    timer,
    candidate,
    logger,
    isWhole,
    idleMs,
    deadlineAt,
    onContent,
    onFailure,
    bytes: 0,
    maxBytes: isWhole ? answerLimits.gatheredBytes : answerLimits.heldBytes,
    held: [],
    heldEvents: 0,
    phase: 'opening',
    reader: undefined,
    isPaused: false,
    isBlocked: false,
    turn: undefined,
    stopped: undefined,
    readsAfterEnd: 0,
  }
  return streamReaderOf(state)
}

const streamReaderOf = <Read extends StreamRead>(state: AnswerState<Read>): StreamReader<Read> => ({
  next(read) {
    if (state.phase === 'ending') countReadAfterEnd(state)
    if (state.phase === 'ending' || state.phase === 'over') return
    let batch: EventBatch | undefined
    try {
      if ('byteLength' in read) state.bytes += read.byteLength
      if (state.bytes <= state.maxBytes) batch = state.decoder.read(state.format.push(read))
    } catch {
      // The frame is too long or broken, or a provider in this process gave something else.
    }
    if (batch) takeEvents(state, batch)
    else breakOff(state)
  },
  end: () => sourceEnded(state),
  fail: () => sourceBroken(state),
  stopForTime(why) {
    if (why === 'timed_out') return
    // The reader is paused at the deadline and will not read the rest: this is settled like a disconnected client.
    if (!isReading(state.timer)) state.connection.cancellation.cancel('client_left')
    stop(state, why)
  },
  drop() {
    state.phase = 'over'
    state.source.cancel()
  },
})

/** Ends the response where it cannot be read any further. */
function breakOff<Read extends StreamRead>(state: AnswerState<Read>): void {
  state.connection.close()
  takeEvents(state, endOf(state))
}

/** Releases the connection of a complete response. A reset after the last event is harmless. */
function isStreamOver<Read extends StreamRead>(state: AnswerState<Read>): boolean {
  if (state.phase === 'ending') releaseConnection(state)
  return state.phase === 'over'
}

function sourceEnded<Read extends StreamRead>(state: AnswerState<Read>): void {
  if (isStreamOver(state)) return
  let rest: EventBatch
  try {
    rest = state.decoder.read(state.format.end())
    if (!hasEnd(rest)) rest = [...rest, ...endOf(state)]
  } catch {
    rest = endOf(state)
  }
  takeEvents(state, rest)
  releaseConnection(state)
}

function sourceBroken<Read extends StreamRead>(state: AnswerState<Read>): void {
  if (!isStreamOver(state)) breakOff(state)
}

const endOf = <Read extends StreamRead>({ decoder }: AnswerState<Read>): EventBatch => closingEvents(() => decoder.end())

/** Ends the response here. */
function stop<Read extends StreamRead>(state: AnswerState<Read>, why: AnswerState<Read>['stopped']): void {
  if (state.phase === 'over' || state.phase === 'ending') return
  state.stopped ??= why
  state.isBlocked = false
  state.connection.close()
  state.source.cancel()
  takeEvents(state, endOf(state))
}

function takeEvents<Read extends StreamRead>(state: AnswerState<Read>, read: EventBatch): void {
  if (read.length === 0) return
  const isTooLong = read.some(isBeyondItemLimit)
  if (isTooLong) state.connection.close()
  const batch = isTooLong ? cutAtItemLimit([...read, ...endOf(state)]) : read
  if (state.phase === 'opening') openStream(state, batch)
  else push(state, batch)
  if (batch.at(-1)?.type === 'finished') readToEnd(state)
}

/** Holds events back until the first content: until then nothing has reached the client, and another provider may be tried. */
function openStream<Read extends StreamRead>(state: AnswerState<Read>, batch: EventBatch): void {
  const last = batch.at(-1)
  if (last?.type === 'finished' && last.outcome.status === 'failed' && (state.isWhole || !batch.some(isContent))) {
    state.phase = 'over'
    state.source.cancel()
    state.onFailure?.(last.outcome.error)
    return
  }
  holdBack(state, batch)
  if (last?.type !== 'finished' && (state.isWhole || (state.heldEvents <= maxHeldEvents && !batch.some(isContent)))) return
  state.phase = 'open'
  if (!state.isWhole) {
    state.source.pause()
    // From now on events are delivered instead of being held in memory.
    state.maxBytes = answerLimits.streamedBytes
    state.connection.outlivesClient = true
    startStream(state.timer, state)
  }
  const { onContent } = state
  state.onContent = undefined
  state.onFailure = undefined
  onContent?.(streamOf(state))
}

function holdBack<Read extends StreamRead>(state: AnswerState<Read>, batch: EventBatch): void {
  state.held.push(batch)
  state.heldEvents += batch.length
}

function push<Read extends StreamRead>(state: AnswerState<Read>, batch: EventBatch): void {
  noteContent(state.timer)
  if (state.reader !== undefined && !state.isPaused && !state.isBlocked && state.held.length === 0 && batch.length <= maxBatchEvents) {
    deliver(state, state.reader, batch)
    return
  }
  holdBack(state, batch)
  flush(state)
}

/** Delivers held batches. Many events are spread over turns of the event loop, so that other requests are served in between. */
function flush<Read extends StreamRead>(state: AnswerState<Read>): void {
  const { held, reader, source, timer } = state
  if (held.length === 0 || reader === undefined || state.isPaused || state.isBlocked || state.turn !== undefined) return
  const batch = held.length === 1 && held[0] ? held[0] : held.flat()
  const part = firstBatch(batch)
  state.held = part.length < batch.length ? [batch.slice(part.length)] : []
  deliver(state, reader, part)
  if (state.held.length === 0) return
  source.pause()
  state.turn = timer.clock.setTimeout(() => {
    state.turn = undefined
    flow(state)
  }, 0)
}

/** Hands a batch to the reader; a failure is worded for the client. */
function deliver<Read extends StreamRead>(state: AnswerState<Read>, reader: Sink<EventBatch>, batch: EventBatch): void {
  const last = batch.at(-1)
  const at = state.timer.stream?.heardAt
  if (last?.type !== 'finished') {
    reader.next(batch, at)
    return
  }
  stopTimer(state.timer)
  if (last.outcome.status !== 'failed') reader.next(batch, at)
  else {
    const { provider, credential } = state.candidate
    const failure = stopFailure(state) ?? failureWithoutSecret(last.outcome.error, credential)
    logFailure(state.logger, state.candidate, failure)
    const error = messageInStream({ ...failure, provider: provider.id })
    reader.next([...batch.slice(0, -1), { ...last, outcome: { status: 'failed', error } }])
  }
  reader.end()
}

function streamOf<Read extends StreamRead>(state: AnswerState<Read>): AnswerStream {
  const { connection, timer, source } = state
  const stopFollowing = connection.cancellation.onCancel(() => {
    if (connection.cancellation.reason !== 'client_left') stop(state, undefined)
  })
  const cancel = (): void => {
    state.reader = undefined
    state.held = []
    timer.clock.clearTimeout(state.turn)
    stopTimer(timer)
    stopFollowing()
    if (state.phase === 'over' || state.phase === 'ending') return
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
    block() {
      state.isBlocked = true
      setBlocked(timer, true)
      source.pause()
    },
    unblock() {
      state.isBlocked = false
      setBlocked(timer, false)
      flow(state)
    },
    cancel,
    close() {
      cancel()
      return endOf(state)
    },
    timer,
    stop: why => stop(state, why),
  }
}

function resume<Read extends StreamRead>(state: AnswerState<Read>): void {
  state.isPaused = false
  readerResumed(state.timer)
  flow(state)
}

function flow<Read extends StreamRead>(state: AnswerState<Read>): void {
  flush(state)
  if (!state.isPaused && !state.isBlocked && state.turn === undefined && state.phase !== 'over') state.source.resume()
}
