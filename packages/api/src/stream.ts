import { passToWaitUntil } from '@signalbox/core/runtime'
import { asFailure } from '@signalbox/core/upstream'
import { type GatewayError, isGatewayError } from '@signalbox/dialects/errors'
import type { ClientDialect, EventEncoder, Frame, InferenceEvent, InferenceRequest, Sink, Source } from '@signalbox/dialects/protocol'
import { keepAlive, writeFrames } from '@signalbox/dialects/sse'
import type { Gateway, Reply } from '@signalbox/gateway'
import type { ApiReply } from './api.ts'
import { asGatewayError } from './error-reply.ts'
import { warningHeaders } from './headers.ts'
import { logOutcome } from './request-log.ts'
import type { Call } from './route.ts'

/** A response in progress, with its dialect. */
export interface DialectReply {
  readonly dialect: ClientDialect
  readonly inferenceRequest: InferenceRequest
  readonly reply: Reply
}

const eventStream = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache', 'x-accel-buffering': 'no' }

type Batch = readonly InferenceEvent[]

/**
 * A response as a stream of events. A failure before the first content is an HTTP error. Proxies drop silent connections, so after `firstContentWaitMs`
 * status 200 is sent and keep-alive comments follow. A fallback is still possible then; if all providers fail, the error is sent as an
 * event.
 */
export const streamed = (call: Call, reply: DialectReply): Promise<ApiReply> =>
  new Promise((resolve, reject) => {
    new TextStream(call, reply, { resolve, reject }).start()
  })

interface ReplyReceiver {
  readonly resolve: (reply: ApiReply) => void
  readonly reject: (error: unknown) => void
}

/** Encodes the events of a response, and writes them as text: one write per batch, in the same turn of the event loop. */
class TextStream implements Sink<Batch>, Source<string> {
  readonly #call: Call
  readonly #clock: Gateway['clock']
  readonly #reply: Reply
  readonly #events: Source<Batch>
  readonly #encoder: EventEncoder
  /** Events in the format of the connection: server-sent events, or messages of a WebSocket. */
  readonly #formatFrames: (frames: readonly Frame[]) => string
  /** The keep-alive text of a silent stream. */
  readonly #keepAliveText: string
  /** Passes the reply to the adapter. Undefined once that is done. */
  #opening: ReplyReceiver | undefined
  /** The last event waits until the response's items are stored. */
  #kept: Promise<void> | undefined
  /** Whether events have arrived. */
  #isCommitted = false
  /** Set if the reply began before events arrived: the body is no longer needed. */
  #releaseBody: (() => void) | undefined
  #sink: Sink<string> | undefined
  #isPaused = false
  /** Text written before the adapter reads. */
  #ready = ''
  #isOver = false
  /** Monotonic milliseconds of the request's arrival and of the last write. */
  readonly #startedAt: number
  #writtenAt: number
  #timer: unknown

  constructor(call: Call, { dialect, inferenceRequest, reply }: DialectReply, opening: ReplyReceiver) {
    this.#call = call
    this.#clock = call.gateway.clock
    this.#reply = reply
    this.#events = reply.events()
    this.#encoder = dialect.encodeEvents(inferenceRequest, () => reply.metadata())
    this.#formatFrames = call.request.turn?.linesOf ?? writeFrames
    this.#keepAliveText = dialect.keepAlive === undefined ? keepAlive : writeFrames([dialect.keepAlive])
    this.#opening = opening
    this.#startedAt = this.#clock.monotonic()
    this.#writtenAt = this.#startedAt
  }

  start(): void {
    const { firstContentWaitMs, keepAliveMs } = this.#call.site.settings
    // A WebSocket has its own pings, and can send an error with its status at any time.
    if (!this.#call.request.turn) this.#setTimer(Math.min(firstContentWaitMs, keepAliveMs))
    this.#events.read(this)
  }

  #setTimer(milliseconds: number): void {
    this.#timer = this.#clock.setTimeout(() => this.#silent(), milliseconds)
  }

  /**
   * The callback of a stream's only timer, which is set again only when it has fired. It passes the reply to the adapter if nothing arrived
   * for `firstContentWaitMs`, and writes a comment if the stream is silent for `keepAliveMs`. While the reader is paused a comment would be pointless.
   */
  #silent(): void {
    if (this.#isOver) return
    const { firstContentWaitMs, keepAliveMs } = this.#call.site.settings
    const now = this.#clock.monotonic()
    const heldMs = now - this.#startedAt
    if (this.#opening && heldMs >= firstContentWaitMs) {
      this.#write(this.#keepAliveText)
      this.#open()
    } else if (this.#sink !== undefined && !this.#isPaused && now - this.#writtenAt >= keepAliveMs) this.#write(this.#keepAliveText)
    // The client may have disconnected during the write.
    if (this.#isOver) return
    const untilKeepAliveMs = keepAliveMs - (this.#clock.monotonic() - this.#writtenAt)
    const waitMs = this.#opening ? firstContentWaitMs - heldMs : untilKeepAliveMs > 0 ? untilKeepAliveMs : keepAliveMs
    this.#setTimer(Math.max(1, Math.ceil(waitMs)))
  }

  /** Passes the reply to the adapter, once. */
  #open(): void {
    const opening = this.#opening
    this.#opening = undefined
    if (!this.#isCommitted) this.#releaseBody = this.#call.keepBody?.()
    const headers = this.#isCommitted ? { ...eventStream, ...warningHeaders(this.#reply.metadata().warnings) } : eventStream
    opening?.resolve({ status: 200, headers, body: this })
  }

  next(batch: Batch, time?: number): void {
    if (this.#isOver) return
    this.#isCommitted = true
    this.#releaseBody?.()
    try {
      const last = batch.at(-1)
      const { log } = this.#call
      if (log.wanted && last?.type === 'finished') logOutcome(log, this.#reply.metadata(), last)
      const text = this.#formatFrames(this.#encoder.write(batch))
      const kept = last?.type === 'finished' ? this.#reply.kept?.() : undefined
      // Some batches produce no frames in this dialect.
      if (kept) this.#writeLater(kept, text)
      else if (text !== '') this.#write(text, time)
      if (this.#opening) this.#open()
    } catch (error) {
      this.fail(error)
    }
  }

  /** Writes the end of a response once its items are stored, so that its client can refer to them. */
  #writeLater(kept: Promise<void>, text: string): void {
    this.#kept = kept.then(() => {
      this.#kept = undefined
      if (!this.#isOver) this.#write(text)
    })
  }

  /** What is encoded is passed on even if the reader has paused: pauses stop the events. */
  #write(text: string, time = this.#clock.monotonic()): void {
    this.#writtenAt = time
    if (this.#sink) this.#sink.next(text)
    else {
      this.#ready += text
      this.#events.pause()
    }
  }

  end(): void {
    if (this.#isOver) return
    if (this.#kept) {
      void this.#kept.then(() => this.end())
      return
    }
    this.#isOver = true
    this.#clock.clearTimeout(this.#timer)
    this.#releaseBody?.()
    if (this.#opening) this.#open()
    if (this.#sink) this.#close()
  }

  /** Ends the text, and the log entry, which has the status once the adapter reads. */
  #close(): void {
    this.#call.log.end()
    this.#sink?.end()
  }

  /** Writes an error after the status was sent, using the encoder. Since the encoder itself may have failed, the source is cancelled too. */
  fail(thrown: unknown): void {
    if (this.#isOver) return
    this.#reply.fail?.(isGatewayError(thrown) ? thrown.code : 'internal_error')
    if (this.#opening) {
      this.#isOver = true
      this.#clock.clearTimeout(this.#timer)
      this.#leave()
      this.#opening.reject(thrown)
      return
    }
    const error = asGatewayError(thrown, this.#call)
    this.#call.log.note({ code: error.code })
    this.#leave()
    try {
      const events = failedEvents(error, this.#isCommitted ? undefined : this.#reply)
      this.#write(this.#formatFrames(this.#encoder.write(events)))
    } catch (again) {
      asGatewayError(again, this.#call)
    }
    this.end()
  }

  /** Cancels the source. A runtime may freeze after the reply, so the remaining work is passed to `waitUntil`. */
  #leave(): void {
    const { context, gateway, requestId } = this.#call
    this.#releaseBody?.()
    this.#events.cancel()
    const leaving = this.#reply.leave().catch(() => {})
    passToWaitUntil(context?.waitUntil, leaving, { requestId, logger: gateway.logger })
  }

  read(sink: Sink<string>): void {
    this.#sink = sink
    const ready = this.#ready
    this.#ready = ''
    if (ready !== '') sink.next(ready)
    if (this.#isOver) this.#close()
    else if (!this.#isPaused) this.#events.resume()
  }

  pause(): void {
    this.#isPaused = true
    this.#events.pause()
  }

  resume(): void {
    this.#isPaused = false
    if (this.#sink) this.#events.resume()
  }

  cancel(): void {
    this.#sink = undefined
    this.#clock.clearTimeout(this.#timer)
    if (!this.#isOver) {
      this.#isOver = true
      this.#call.log.note({ code: 'client_disconnected' })
      this.#leave()
    }
    this.#call.log.end()
  }
}

/** `begin`: set if nothing has been sent, because the response must be started before it can fail. */
function failedEvents(error: GatewayError, begin: Reply | undefined): Batch {
  const finished: InferenceEvent = { type: 'finished', outcome: { status: 'failed', error: asFailure(error) } }
  if (begin === undefined) return [finished]
  const { id, model, created_at } = begin.metadata()
  return [{ type: 'started', id, model, created_at }, finished]
}
