import { isGatewayError } from '@signalbox/dialects/errors'
import type { InferenceEvent, Sink, Source, Usage } from '@signalbox/dialects/protocol'
import { originalOf, remember } from '@signalbox/dialects/protocol'
import type { Awaitable } from '@signalbox/storage'
import { isPromise } from '@signalbox/storage/awaitable'
import { type Meter, type MeteredAnswer, meterBatch, meteredAnswer, meterLeft, meterUnfinished } from '../../metering/meter.ts'
import { type UsageDrains, usageDrainLimits } from '../../metering/usage-drains.ts'
import type { EventBatch } from '../../upstream/event-batches.ts'
import type { AnswerStream } from '../../upstream/stream-context.ts'
import type { RunningLimit } from '../settlement/running-cost.ts'

/** The events of a response as the client receives them: processed by the pipeline, metered, and settled before the last one is sent. */
export interface ResponseStream extends Source<EventBatch> {
  /**
   * Call this when the client disconnects: the reader ends at once. Resolves when the response is settled, which may require draining it.
   */
  readonly leave: () => Promise<void>
  /** Whether the response is still being read for its usage after the client disconnected. */
  readonly isDraining: () => boolean
}

export interface ResponseStreamContext {
  readonly pipeline: (batch: EventBatch) => Awaitable<EventBatch>
  readonly meter: Meter
  /** Limits the cost of the growing response. Undefined if nothing limits it. */
  readonly running: RunningLimit | undefined
  /** Responses that are read on for their usage after the client disconnected. */
  readonly drains: UsageDrains
  /** Called exactly once, however the response ends. A response that was sent completely has been paid for. */
  readonly settle: (seen: MeteredAnswer) => Awaitable<Usage>
}

interface ResponseState extends ResponseStreamContext {
  readonly source: AnswerStream
  sink: Sink<EventBatch> | undefined
  isPaused: boolean
  isBegun: boolean
  /** Whether an asynchronous step is pending. The source is paused meanwhile. */
  isWaiting: boolean
  /** Whether the end was reported to the reader. */
  isOver: boolean
  settling: Promise<Usage> | undefined
  usage: Usage | undefined
  leaving: Promise<void> | undefined
  stopDraining: (() => void) | undefined
}

export function responseStream(source: AnswerStream, { pipeline, meter, running, drains, settle }: ResponseStreamContext): ResponseStream {
  const state: ResponseState = {
    pipeline,
    meter,
    running,
    drains,
    settle,
    source,
    sink: undefined,
    isPaused: false,
    isBegun: false,
    isWaiting: false,
    isOver: false,
    settling: undefined,
    usage: undefined,
    leaving: undefined,
    stopDraining: undefined,
  }
  return {
    read(sink) {
      state.sink = sink
      if (state.isOver || state.meter.left) return endEarly(state)
      state.isBegun = true
      source.read(readerOf(state))
    },
    pause() {
      state.isPaused = true
      if (!state.meter.left) source.pause()
    },
    resume() {
      state.isPaused = false
      resumeSource(state)
    },
    cancel() {
      state.sink = undefined
      leaveStream(state).catch(() => {})
    },
    leave: () => leaveStream(state),
    isDraining: () => state.meter.left !== undefined && !isSettled(state),
  }
}

/** The sink may cancel while it handles the event; then its `end` is not called. */
function endEarly(state: ResponseState): void {
  state.sink?.next([clientLeft])
  state.sink?.end()
}

const readerOf = (state: ResponseState): Sink<EventBatch> => ({
  next(batch, at) {
    if (state.meter.left) {
      observe(state, batch)
      return
    }
    if (state.isOver) return
    try {
      const passed = state.pipeline(batch)
      if ('then' in passed) handOnLater(state, passed)
      else handOn(state, passed, at)
    } catch (error) {
      failUnexpectedly(state, error)
    }
  },
  end: () => {
    // Otherwise the source ended without a `finished` event.
    if (state.meter.finished !== undefined || state.isWaiting) return
    if (state.meter.left) state.stopDraining?.()
    else void abandon(state)
  },
  fail: error => {
    if (state.meter.left) state.stopDraining?.()
    else failUnexpectedly(state, error)
  },
})

const isSettled = ({ usage, settling }: ResponseState): boolean => usage !== undefined || settling !== undefined

// Closures have functions of their own: one in a function that runs for each delta would allocate a context each time.
const handOnLater = (state: ResponseState, passed: Promise<EventBatch>): void => waitFor(state, passed, batch => handOn(state, batch))

function handOn(state: ResponseState, batch: EventBatch, at?: number): void {
  if (state.meter.left) {
    observe(state, batch)
    return
  }
  const { meter, running } = state
  meterBatch(meter, batch)
  if (meter.finished) {
    settleLast(state, batch, at)
    return
  }
  if (!state.isOver) state.sink?.next(batch, at)
  if (running === undefined || meter.characters <= running.characters) return
  const passed = running.passed()
  if (isPromise(passed)) waitFor(state, passed, () => {})
}

/** Settles a response whose last events have arrived, before they are sent. */
function settleLast(state: ResponseState, batch: EventBatch, at?: number): void {
  const usage = settleOnce(state)
  if (isPromise(usage)) waitFor(state, usage, each => giveLast(state, withUsage(batch, each)))
  else giveLast(state, withUsage(batch, usage), at)
}

/** Holds the source until the promise settles. */
function waitFor<T>(state: ResponseState, value: Promise<T>, then: (value: T) => void): void {
  state.isWaiting = true
  state.source.block()
  value.then(
    result => {
      state.isWaiting = false
      try {
        then(result)
      } catch (error) {
        failUnexpectedly(state, error)
      }
      if (!state.isWaiting) state.source.unblock()
    },
    error => {
      state.isWaiting = false
      failUnexpectedly(state, error)
    },
  )
}

const isWanted = (state: ResponseState): boolean => (state.meter.left ? !isSettled(state) : !state.isPaused && !state.isOver)

function resumeSource(state: ResponseState): void {
  if (state.isBegun && isWanted(state)) state.source.resume()
}

function giveLast(state: ResponseState, batch: EventBatch, at?: number): void {
  if (state.isOver) return
  state.sink?.next(batch, at)
  endResponse(state)
}

function endResponse(state: ResponseState): void {
  if (state.isOver) return
  state.isOver = true
  state.sink?.end()
}

/** Ends a response after an unexpected error, so that its hold and slots are released. */
function failUnexpectedly(state: ResponseState, error: unknown): void {
  if (state.isOver) return
  state.isOver = true
  state.source.cancel()
  const fail = (): void => state.sink?.fail(error)
  const usage = settleOnce(state, { errorCode: isGatewayError(error) ? error.code : 'internal_error' })
  if (isPromise(usage)) usage.then(fail, fail)
  else fail()
}

function settleOnce(state: ResponseState, failure?: Pick<MeteredAnswer, 'errorCode'>): Awaitable<Usage> {
  if (state.usage !== undefined) return state.usage
  if (state.settling !== undefined) return state.settling
  try {
    const settled = state.settle({ ...meteredAnswer(state.meter), ...failure })
    if (isPromise(settled)) state.settling = settled
    else state.usage = settled
    return settled
  } catch (error) {
    state.settling = Promise.reject(error)
    state.settling.catch(() => {})
    return state.settling
  }
}

/** Meters events without sending them, after the client disconnected. */
function observe(state: ResponseState, batch: EventBatch): void {
  const { meter } = state
  meterBatch(meter, batch)
  const isEnough = meter.finished !== undefined || meter.characters - (meter.left?.characters ?? 0) > usageDrainLimits.characters
  if (isEnough) state.stopDraining?.()
}

function abandon(state: ResponseState): Awaitable<unknown> {
  // A response that is being settled is complete, and its end is still sent.
  if (isSettled(state)) return settleOnce(state)
  meterUnfinished(state.meter, state.source.close())
  const usage = settleOnce(state)
  endResponse(state)
  return usage
}

function leaveStream(state: ResponseState): Promise<void> {
  // The sink cancelled while it handled the disconnect, so `leaving` is not set yet.
  if (state.leaving === undefined && state.meter.left) return Promise.resolve().then(() => state.leaving)
  state.leaving ??= leaveOnce(state)
  return state.leaving
}

async function leaveOnce(state: ResponseState): Promise<void> {
  if (!isSettled(state)) {
    meterLeft(state.meter)
    const wasOver = state.isOver
    state.isOver = true
    if (!wasOver) endEarly(state)
    if (state.meter.firstContentAt !== undefined) await drain(state)
  }
  await abandon(state)
}

/** Reads the rest of the response for the usage at its end. */
function drain(state: ResponseState): Promise<void> {
  return new Promise(resolve => {
    const stop = state.drains.begin(resolve)
    if (!stop) return resolve()
    const stopDraining = (): void => {
      stop()
      resolve()
    }
    state.stopDraining = stopDraining
    resumeSource(state)
  })
}

const clientLeft: InferenceEvent = {
  type: 'finished',
  outcome: { status: 'failed', error: { kind: 'client_left', code: 'client_disconnected', message: '' } },
}

/** The last event carries the billed usage, even if the provider reported none or implausible numbers. */
const withUsage = (batch: EventBatch, usage: Usage): EventBatch =>
  batch.map(event => (event.type === 'finished' && event.usage !== usage ? remember({ ...event, usage }, originalOf(event)) : event))
