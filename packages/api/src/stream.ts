import { handOver } from '@signalbox/core/runtime'
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

interface ReplyState {
  readonly call: Call
  readonly clock: Gateway['clock']
  readonly reply: Reply
  readonly events: Source<Batch>
  readonly encoder: EventEncoder
  /** Events in the format of the connection: server-sent events, or messages of a WebSocket. */
  readonly formatFrames: (frames: readonly Frame[]) => string
  /** The keep-alive text of a silent stream. */
  readonly keepAliveText: string
  /** Passes the reply to the adapter. Absent once that is done. */
  open: { readonly resolve: (reply: ApiReply) => void; readonly reject: (error: unknown) => void } | undefined
  /** The last event waits until the response's items are stored. */
  kept: Promise<void> | undefined
  /** Whether events have arrived. */
  isCommitted: boolean
  /** Set if the reply began before events arrived: the body is no longer needed. */
  releaseBody: (() => void) | undefined
  sink: Sink<string> | undefined
  isPaused: boolean
  /** Text waiting for its reader. */
  ready: string
  /** `last`: `ready` is the last text. */
  phase: 'open' | 'last' | 'over'
  /** Monotonic milliseconds of the request's arrival and of the last write. */
  readonly startedAt: number
  writtenAt: number
  timer: unknown
}

/**
 * A response as a stream of events. A failure before the first content is an HTTP error. Proxies drop silent connections, so after `firstContentWaitMs`
 * status 200 is sent and keep-alive comments follow. A fallback is still possible then; if all providers fail, the error is sent as an
 * event.
 */
export function streamed(call: Call, { dialect, inferenceRequest, reply }: DialectReply): Promise<ApiReply> {
  const { clock } = call.gateway
  return new Promise((resolve, reject) => {
    const now = clock.monotonic()
    const state: ReplyState = {
      call,
      clock,
      reply,
      events: reply.events(),
      encoder: dialect.encodeEvents(inferenceRequest, () => reply.metadata()),
      formatFrames: call.request.turn?.linesOf ?? writeFrames,
      keepAliveText: keepAliveTextOf(dialect),
      open: { resolve, reject },
      kept: undefined,
      isCommitted: false,
      releaseBody: undefined,
      sink: undefined,
      isPaused: false,
      ready: '',
      phase: 'open',
      startedAt: now,
      writtenAt: now,
      timer: undefined,
    }
    const { firstContentWaitMs, keepAliveMs } = call.site.settings
    // A WebSocket has its own pings, and can send an error with its status at any time.
    if (!call.request.turn) state.timer = clock.setTimeout(() => silent(state), Math.min(firstContentWaitMs, keepAliveMs))
    state.events.read(writerOf(state))
  })
}

const keepAliveTextOf = (dialect: ClientDialect): string => (dialect.keepAlive === undefined ? keepAlive : writeFrames([dialect.keepAlive]))

/** Passes the reply to the adapter, once. */
function open(state: ReplyState): void {
  const { resolve } = state.open ?? {}
  state.open = undefined
  if (!state.isCommitted) state.releaseBody = state.call.keepBody?.()
  const headers = state.isCommitted ? { ...eventStream, ...warningHeaders(state.reply.metadata().warnings) } : eventStream
  resolve?.({ status: 200, headers, body: textOf(state) })
}

/**
 * The callback of a stream's only timer, which is set again only when it has fired. It passes the reply to the adapter if nothing arrived
 * for `firstContentWaitMs`, and writes a comment if the stream is silent for `keepAliveMs`. While the reader is paused a comment would be pointless.
 */
function silent(state: ReplyState): void {
  if (state.phase !== 'open') return
  const { firstContentWaitMs, keepAliveMs } = state.call.site.settings
  const now = state.clock.monotonic()
  const heldMs = now - state.startedAt
  if (state.open && heldMs >= firstContentWaitMs) {
    write(state, state.keepAliveText)
    open(state)
  } else if (state.sink !== undefined && !state.isPaused && now - state.writtenAt >= keepAliveMs) write(state, state.keepAliveText)
  // The client may have disconnected during the write.
  if (isOver(state)) return
  const untilKeepAliveMs = keepAliveMs - (state.clock.monotonic() - state.writtenAt)
  const waitMs = state.open ? firstContentWaitMs - heldMs : untilKeepAliveMs > 0 ? untilKeepAliveMs : keepAliveMs
  state.timer = state.clock.setTimeout(() => silent(state), Math.max(1, Math.ceil(waitMs)))
}

const isOver = ({ phase }: ReplyState): boolean => phase !== 'open'

const writerOf = (state: ReplyState): Sink<Batch> => ({
  next(batch, at) {
    if (state.phase !== 'open') return
    state.isCommitted = true
    state.releaseBody?.()
    try {
      const last = batch.at(-1)
      const { log } = state.call
      if (log.wanted && last?.type === 'finished') logOutcome(log, state.reply.metadata(), last)
      const text = state.formatFrames(state.encoder.write(batch))
      const kept = last?.type === 'finished' ? state.reply.kept?.() : undefined
      // Some batches produce no frames in this dialect.
      if (kept) writeLater(state, kept, text)
      else if (text !== '') write(state, text, at)
      if (state.open) open(state)
    } catch (error) {
      broken(state, error)
    }
  },
  end: () => end(state),
  fail: error => broken(state, error),
})

/** Writes the end of a response once its items are stored, so that its client can refer to them. */
function writeLater(state: ReplyState, kept: Promise<void>, text: string): void {
  state.kept = kept.then(() => {
    state.kept = undefined
    if (!isOver(state)) write(state, text)
  })
}

function write(state: ReplyState, text: string, now = state.clock.monotonic()): void {
  state.writtenAt = now
  if (state.sink !== undefined && !state.isPaused && state.ready === '') state.sink.next(text)
  else {
    state.ready += text
    state.events.pause()
  }
}

function end(state: ReplyState): void {
  if (state.phase !== 'open') return
  if (state.kept) {
    void state.kept.then(() => end(state))
    return
  }
  state.clock.clearTimeout(state.timer)
  state.releaseBody?.()
  state.phase = 'last'
  if (state.open) open(state)
  if (state.ready === '' && state.sink !== undefined) close(state)
}

/** Ends the stream after all text was passed on. */
function close(state: ReplyState): void {
  state.phase = 'over'
  state.call.log.end()
  state.sink?.end()
}

/** Writes an error after the status was sent, using the encoder. Since the encoder itself may have failed, the source is cancelled too. */
function broken(state: ReplyState, thrown: unknown): void {
  if (state.phase !== 'open') return
  const { open: opening, call, encoder, reply } = state
  reply.fail?.(isGatewayError(thrown) ? thrown.code : 'internal_error')
  if (opening) {
    state.phase = 'over'
    state.clock.clearTimeout(state.timer)
    leave(state)
    opening.reject(thrown)
    return
  }
  const error = asGatewayError(thrown, call)
  call.log.note({ code: error.code })
  leave(state)
  try {
    write(state, state.formatFrames(encoder.write(failedEvents(error, state.isCommitted ? undefined : reply))))
  } catch (again) {
    asGatewayError(again, call)
  }
  end(state)
}

/** Cancels the source. A runtime may freeze after the reply, so the remaining work is passed to `waitUntil`. */
function leave({ events, reply, releaseBody, call: { context, gateway, requestId } }: ReplyState): void {
  releaseBody?.()
  events.cancel()
  const leaving = reply.leave().catch(() => {})
  handOver(context?.waitUntil, leaving, { requestId, logger: gateway.logger })
}

function textOf(state: ReplyState): Source<string> {
  const flow = (): void => {
    state.isPaused = false
    const { ready, sink } = state
    state.ready = ''
    if (ready !== '') sink?.next(ready)
    if (state.isPaused) return
    if (state.phase === 'open') state.events.resume()
    else if (state.phase === 'last') close(state)
  }
  return {
    read(sink) {
      state.sink = sink
      if (!state.isPaused) flow()
    },
    pause() {
      state.isPaused = true
      state.events.pause()
    },
    resume: flow,
    cancel() {
      if (state.phase === 'open') {
        state.call.log.note({ code: 'client_disconnected' })
        state.phase = 'over'
        leave(state)
      }
      state.phase = 'over'
      state.clock.clearTimeout(state.timer)
      state.call.log.end()
    },
  }
}

/** `begin`: set if nothing has been sent, because the response must be started before it can fail. */
function failedEvents(error: GatewayError, begin: Reply | undefined): Batch {
  const finished: InferenceEvent = { type: 'finished', outcome: { status: 'failed', error: asFailure(error) } }
  if (begin === undefined) return [finished]
  const { id, model, created_at } = begin.metadata()
  return [{ type: 'started', id, model, created_at }, finished]
}
