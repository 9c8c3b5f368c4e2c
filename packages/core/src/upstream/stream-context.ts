import type { EventDecoder, Failure, Sink, Source } from '@signalbox/dialects/protocol'
import type { Candidate } from '../routing/plan.ts'
import type { Logger } from '../runtime/ports.ts'
import type { AnswerTimer, TimeOver } from './answer-timer.ts'
import type { Connection, StopReason } from './connection.ts'
import type { EventBatch } from './event-batches.ts'
import type { FrameFormat, StreamRead } from './frame-format.ts'

/** A provider's stream as batches of events: one batch for each read of bytes or frames. */
export interface AnswerStream extends Source<EventBatch> {
  /** Tracks the reader's pauses. */
  readonly timer: AnswerTimer
  /** Pauses until `unblock` while the gateway waits for something. Not counted as a reader's pause; the end is still delivered. */
  readonly block: () => void
  readonly unblock: () => void
  /** Closes the connection and ends the response with this reason. */
  readonly stop: (why: StopReason) => void
  /** Cancels, and returns the events that close the decoder's open items. */
  readonly close: () => EventBatch
}

export interface StreamContext {
  readonly connection: Connection
  readonly timer: AnswerTimer
  readonly candidate: Candidate
  readonly logger: Logger
  /** Whether the whole response is held until its end. */
  readonly isWhole: boolean
  readonly idleMs: number
  /** Monotonic milliseconds. */
  readonly deadlineAt: number
  /** Called at the first content, or at the end of a response without content. */
  readonly onContent: (stream: AnswerStream) => void
  /** Called if the stream failed before any content, so that another provider may be tried. */
  readonly onFailure: (failure: Failure) => void
}

/** The source, frame format and decoder of a stream. */
export interface StreamParts<Read extends StreamRead> {
  readonly source: Pick<Source<Read>, 'pause' | 'resume' | 'cancel'>
  readonly format: FrameFormat<Read>
  readonly decoder: EventDecoder
}

/** The sink that a stream is pushed into, with the means to end it. */
export interface StreamReader<Read> extends Sink<Read> {
  readonly stopForTime: (why: TimeOver) => void
  /** Ignores everything that follows, because the attempt has failed. */
  readonly drop: () => void
}
