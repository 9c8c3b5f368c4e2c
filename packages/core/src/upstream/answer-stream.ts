import type { EventDecoder, Failure, Sink, Source } from '@signalbox/dialects/protocol'
import { answerLimits, closingEvents, hasEnd, isContent } from '@signalbox/dialects/protocol'
import type { Candidate } from '../routing/plan.ts'
import type { Logger } from '../runtime/ports.ts'
import {
  type AnswerTimer,
  isReading,
  noteContent,
  readerPaused,
  readerResumed,
  setBlocked,
  startStream,
  stopTimer,
  type TimeOver,
} from './answer-timer.ts'
import { type Connection, type StopReason, stopFailure } from './connection.ts'
import { messageInStream } from './error-message.ts'
import { cutAtItemLimit, type EventBatch, isBeyondItemLimit, maxBatchEvents } from './event-batches.ts'
import { failureWithoutSecret } from './failure-without-secret.ts'
import type { FrameFormat, StreamRead } from './frame-format.ts'
import { logFailure } from './log-failure.ts'
import { closeLater, maxReadsAfterEnd, type PendingClose } from './read-to-end.ts'

/** A provider's stream as batches of events: one batch for each read of bytes or frames. The last one ends with `finished`. */
export interface AnswerStream extends Source<EventBatch> {
  /** Tracks the reader's pauses. */
  readonly timer: AnswerTimer
  /**
   * Delivers nothing until the work is done, which does not count as a pause of the reader. Of several works the latest counts. An end by
   * `stop` is delivered at once.
   */
  hold(work: Promise<unknown>): void
  /** Closes the connection and ends the response with this reason. */
  stop(why: StopReason): void
  /** Cancels, and returns the events that close the decoder's open items. */
  close(): EventBatch
}

/** What a stream is read from and decoded with, and the limits of the call that it belongs to. */
export interface StreamParts<Read extends StreamRead> {
  readonly source: Pick<Source<Read>, 'pause' | 'resume' | 'cancel'>
  readonly format: FrameFormat<Read>
  readonly decoder: EventDecoder
  readonly connection: Connection
  readonly timer: AnswerTimer
  readonly candidate: Candidate
  readonly logger: Logger
  /** Whether the whole response is held until its end. */
  readonly isWhole: boolean
  readonly idleMs: number
  /** Monotonic milliseconds. */
  readonly deadlineAt: number
}

/** One of both is called, once. */
export interface StreamHandlers {
  /** Called at the first content, or at the end of a response without content. */
  readonly onContent: (stream: AnswerStream) => void
  /** Called if the stream failed before any content, so that another provider may be tried. */
  readonly onFailure: (failure: Failure) => void
}

/** Maximum number of events held before the first content; a longer preamble is treated as content. */
const maxHeldEvents = 10_000

/**
 * Reads a provider's stream: what arrives is pushed into it, decoded, and held until the first content. From then on it is delivered to one
 * reader, unless the reader has paused it, the gateway waits for something, or a large batch is being delivered in parts.
 */
export class ProviderStream<Read extends StreamRead> implements AnswerStream, Sink<Read> {
  readonly timer: AnswerTimer
  readonly #parts: StreamParts<Read>
  /** Undefined once the stream is open, so that it does not keep its attempt. */
  #handlers: StreamHandlers | undefined
  /** `opening`: no content yet. `ending`: the last event has arrived, and the connection is read to its end. */
  #phase: 'opening' | 'open' | 'ending' | 'over' = 'opening'
  /** Bytes read so far, and their limit. */
  #bytes = 0
  #maxBytes: number
  #reader: Sink<EventBatch> | undefined
  #isPaused = false
  /** What the gateway waits for. */
  #work: Promise<unknown> | undefined
  /** Timer that delivers the next part of a large batch. */
  #turn: unknown
  /** Batches that wait for the reader. */
  #held: EventBatch[] = []
  /** Events held before the first content. */
  #heldEvents = 0
  #stopped: StopReason | 'idle' | undefined
  #stopFollowing: (() => void) | undefined
  #readsAfterEnd = 0
  #pendingClose: PendingClose | undefined

  constructor(parts: StreamParts<Read>, handlers: StreamHandlers) {
    this.timer = parts.timer
    this.#parts = parts
    this.#handlers = handlers
    this.#maxBytes = parts.isWhole ? answerLimits.gatheredBytes : answerLimits.heldBytes
  }

  next(read: Read): void {
    if (this.#phase === 'ending') {
      this.#readsAfterEnd += 1
      if (this.#readsAfterEnd >= maxReadsAfterEnd) this.closeAfterEnd()
    }
    if (this.#phase === 'ending' || this.#phase === 'over') return
    const { decoder, format } = this.#parts
    let batch: EventBatch | undefined
    try {
      if ('byteLength' in read) this.#bytes += read.byteLength
      if (this.#bytes <= this.#maxBytes) batch = decoder.read(format.push(read))
    } catch {
      // The frame is too long or broken, or a provider in this process gave something else.
    }
    if (batch) this.#take(batch)
    else this.#breakOff()
  }

  end(): void {
    if (this.#isComplete()) return
    const { decoder, format } = this.#parts
    let rest: EventBatch
    try {
      rest = decoder.read(format.end())
      if (!hasEnd(rest)) rest = [...rest, ...this.#closingEvents()]
    } catch {
      rest = this.#closingEvents()
    }
    this.#take(rest)
    this.#release()
  }

  fail(): void {
    if (!this.#isComplete()) this.#breakOff()
  }

  /** Releases the connection of a complete response. A reset after the last event is harmless. */
  #isComplete(): boolean {
    if (this.#phase === 'ending') this.#release()
    return this.#phase === 'over'
  }

  /** Ends the response where it cannot be read any further. */
  #breakOff(): void {
    this.#parts.connection.close()
    this.#take(this.#closingEvents())
  }

  #closingEvents(): EventBatch {
    return closingEvents(() => this.#parts.decoder.end())
  }

  #take(read: EventBatch): void {
    if (read.length === 0) return
    let batch = read
    if (read.some(isBeyondItemLimit)) {
      this.#parts.connection.close()
      batch = cutAtItemLimit([...read, ...this.#closingEvents()])
    }
    if (this.#phase === 'opening') this.#openWith(batch)
    else {
      noteContent(this.timer)
      const isFlowing = this.#reader && !this.#isPaused && !this.#work && this.#held.length === 0
      if (isFlowing && batch.length <= maxBatchEvents) this.#deliver(batch)
      else {
        this.#held.push(batch)
        this.#flush()
      }
    }
    if (batch.at(-1)?.type === 'finished') this.#readToEnd()
  }

  /** Holds events back until the first content: until then nothing has reached the client, and another provider may be tried. */
  #openWith(batch: EventBatch): void {
    const { source, connection, isWhole } = this.#parts
    const last = batch.at(-1)
    const isFinished = last?.type === 'finished'
    const hasContent = batch.some(isContent)
    if (isFinished && last.outcome.status === 'failed' && (isWhole || !hasContent)) {
      const handlers = this.#handlers
      this.drop()
      handlers?.onFailure(last.outcome.error)
      return
    }
    this.#held.push(batch)
    this.#heldEvents += batch.length
    if (!isFinished && (isWhole || (this.#heldEvents <= maxHeldEvents && !hasContent))) return
    this.#phase = 'open'
    if (!isWhole) {
      source.pause()
      // From now on events are delivered instead of being held in memory.
      this.#maxBytes = answerLimits.streamedBytes
      connection.outlivesClient = true
      startStream(this.timer, this.#parts)
    }
    const handlers = this.#handlers
    this.#handlers = undefined
    this.#stopFollowing = connection.cancellation.onCancel(() => {
      if (connection.cancellation.reason !== 'client_left') this.#stop(undefined)
    })
    handlers?.onContent(this)
  }

  read(reader: Sink<EventBatch>): void {
    this.#reader = reader
    if (!this.#isPaused) this.resume()
  }

  pause(): void {
    this.#isPaused = true
    readerPaused(this.timer)
    this.#parts.source.pause()
  }

  resume(): void {
    this.#isPaused = false
    readerResumed(this.timer)
    this.#flow()
  }

  hold(work: Promise<unknown>): void {
    this.#work = work
    setBlocked(this.timer, true)
    this.#parts.source.pause()
    const done = (): void => {
      if (this.#work !== work) return
      this.#work = undefined
      setBlocked(this.timer, false)
      this.#flow()
    }
    work.then(done, done)
  }

  #flow(): void {
    this.#flush()
    const isFlowing = this.#reader && !this.#isPaused && !this.#work && this.#turn === undefined
    if (isFlowing && this.#phase !== 'over') this.#parts.source.resume()
  }

  /** Delivers held batches. Many events are spread over turns of the event loop, so that other requests are served in between. */
  #flush(): void {
    if (!this.#reader || this.#isPaused || this.#work || this.#turn !== undefined || this.#held.length === 0) return
    const [first = []] = this.#held
    const batch = this.#held.length === 1 ? first : this.#held.flat()
    if (batch.length <= maxBatchEvents) {
      this.#held = []
      this.#deliver(batch)
      return
    }
    this.#held = [batch.slice(maxBatchEvents)]
    this.#deliver(batch.slice(0, maxBatchEvents))
    if (this.#held.length === 0) return
    this.#parts.source.pause()
    this.#turn = this.timer.clock.setTimeout(() => {
      this.#turn = undefined
      this.#flow()
    }, 0)
  }

  /** Hands a batch to the reader; a failure is worded for the client. */
  #deliver(batch: EventBatch): void {
    const reader = this.#reader
    const last = batch.at(-1)
    const time = this.timer.stream?.heardAt
    if (last?.type !== 'finished') {
      reader?.next(batch, time)
      return
    }
    stopTimer(this.timer)
    if (last.outcome.status !== 'failed') reader?.next(batch, time)
    else {
      const { connection, candidate, logger, idleMs } = this.#parts
      const stopped = stopFailure({ connection, stopped: this.#stopped, idleMs })
      const failure = stopped ?? failureWithoutSecret(last.outcome.error, candidate.credential)
      logFailure(logger, candidate, failure)
      const error = messageInStream({ ...failure, provider: candidate.provider.id })
      reader?.next([...batch.slice(0, -1), { ...last, outcome: { status: 'failed', error } }])
    }
    reader?.end()
  }

  cancel(): void {
    this.#reader = undefined
    this.#held = []
    this.timer.clock.clearTimeout(this.#turn)
    stopTimer(this.timer)
    this.#stopFollowing?.()
    if (this.#phase === 'over' || this.#phase === 'ending') return
    this.#parts.connection.close()
    this.drop()
  }

  close(): EventBatch {
    this.cancel()
    return this.#closingEvents()
  }

  /** Ignores everything that follows, because the attempt has failed. */
  drop(): void {
    this.#phase = 'over'
    this.#parts.source.cancel()
  }

  stop(why: StopReason): void {
    this.#stop(why)
  }

  /** Ends a stream whose silence or deadline is over. */
  stopForTime(why: TimeOver): void {
    if (why === 'timed_out') return
    // The reader is paused at the deadline and will not read the rest: this is settled like a disconnected client.
    if (!isReading(this.timer)) this.#parts.connection.cancellation.cancel('client_left')
    this.#stop(why)
  }

  /** Ends the response here. */
  #stop(why: StopReason | 'idle' | undefined): void {
    if (this.#phase === 'over' || this.#phase === 'ending') return
    this.#stopped ??= why
    this.#work = undefined
    this.#parts.connection.close()
    this.#parts.source.cancel()
    this.#take(this.#closingEvents())
  }

  /**
   * After the last event the connection is read to its end, because only then can it be reused. If the provider keeps sending or keeps it
   * open, it is closed.
   */
  #readToEnd(): void {
    if (this.#phase === 'over') return
    this.#phase = 'ending'
    this.#parts.source.resume()
    // The end usually arrives with the last event, before this runs.
    queueMicrotask(() => {
      if (this.#phase === 'ending') this.#pendingClose = closeLater(this, this.timer)
    })
  }

  /** Closes a connection that is still open after the last event. */
  closeAfterEnd(): void {
    if (this.#phase !== 'ending') return
    this.#phase = 'over'
    this.#parts.connection.close()
    this.#parts.source.cancel()
    this.#release()
  }

  #release(): void {
    this.#phase = 'over'
    if (this.#pendingClose) this.#pendingClose.stream = undefined
    this.#parts.connection.release()
  }
}
