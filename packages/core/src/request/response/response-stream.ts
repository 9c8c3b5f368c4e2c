import { isGatewayError } from '@signalbox/dialects/errors'
import type { InferenceEvent, Sink, Source, Usage } from '@signalbox/dialects/protocol'
import { originalOf, remember } from '@signalbox/dialects/protocol'
import type { Awaitable } from '@signalbox/storage'
import { isPromise } from '@signalbox/storage/awaitable'
import { type Meter, type MeteredAnswer, meterBatch, meteredAnswer, meterLeft, meterUnfinished } from '../../metering/meter.ts'
import { type UsageDrains, usageDrainLimits } from '../../metering/usage-drains.ts'
import type { AnswerStream } from '../../upstream/answer-stream.ts'
import type { EventBatch } from '../../upstream/event-batches.ts'
import type { RunningLimit } from '../settlement/running-cost.ts'

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

/** The events of a response as the client receives them: processed by the pipeline, metered, and settled before the last one is sent. */
export class ResponseStream implements Source<EventBatch>, Sink<EventBatch> {
  readonly #answer: AnswerStream
  readonly #context: ResponseStreamContext
  #sink: Sink<EventBatch> | undefined
  /** Whether the end was reported to the reader. */
  #isOver = false
  #usage: Awaitable<Usage> | undefined
  #leaving: Promise<void> | undefined
  #stopDraining: (() => void) | undefined

  constructor(answer: AnswerStream, context: ResponseStreamContext) {
    this.#answer = answer
    this.#context = context
  }

  read(sink: Sink<EventBatch>): void {
    this.#sink = sink
    if (this.#isOver || this.#context.meter.left) this.#endEarly()
    else this.#answer.read(this)
  }

  /** Once the client has disconnected, pauses of its reader do not stop the rest. */
  pause(): void {
    if (!this.#context.meter.left) this.#answer.pause()
  }

  resume(): void {
    if (!this.#context.meter.left) this.#answer.resume()
  }

  cancel(): void {
    this.#sink = undefined
    this.leave().catch(() => {})
  }

  /** Whether the response is still being read for its usage after the client disconnected. */
  isDraining(): boolean {
    return this.#context.meter.left !== undefined && this.#usage === undefined
  }

  next(batch: EventBatch, time?: number): void {
    if (this.#context.meter.left) this.#observe(batch)
    else if (!this.#isOver) {
      try {
        const shown = this.#context.pipeline(batch)
        if ('then' in shown) this.#passLater(shown)
        else this.#pass(shown, time)
      } catch (error) {
        this.fail(error)
      }
    }
  }

  /** Does nothing: the last batch ends the response. */
  end(): void {}

  /** Ends a response after an unexpected error, so that its hold and slots are released. */
  fail(error: unknown): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#answer.cancel()
    const fail = (): void => this.#sink?.fail(error)
    const usage = this.#settle(isGatewayError(error) ? error.code : 'internal_error')
    if (isPromise(usage)) usage.then(fail, fail)
    else fail()
  }

  // A method that creates a function allocates a context at each call, so those that run for each delta create none.
  #passLater(batch: Promise<EventBatch>): void {
    this.#hold(batch.then(shown => this.#pass(shown)))
  }

  #pass(batch: EventBatch, time?: number): void {
    const { meter, running } = this.#context
    if (meter.left) {
      this.#observe(batch)
      return
    }
    meterBatch(meter, batch)
    if (meter.finished) {
      this.#passLast(batch, time)
      return
    }
    if (!this.#isOver) this.#sink?.next(batch, time)
    if (running === undefined || meter.characters <= running.characters) return
    const extended = running.passed()
    if (isPromise(extended)) this.#hold(extended)
  }

  /** Settles a response whose last events have arrived, before they are sent. */
  #passLast(batch: EventBatch, time?: number): void {
    const send = (billed: Usage, now?: number): void => {
      if (!this.#isOver) this.#sink?.next(withUsage(batch, billed), now)
      this.#end()
    }
    const usage = this.#settle()
    if (isPromise(usage)) this.#hold(usage.then(billed => send(billed)))
    else send(usage, time)
  }

  #hold(work: Promise<unknown>): void {
    this.#answer.hold(work.catch(error => this.fail(error)))
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#sink?.end()
  }

  #settle(errorCode?: string): Awaitable<Usage> {
    const { settle, meter } = this.#context
    try {
      this.#usage ??= settle({ ...meteredAnswer(meter), ...(errorCode !== undefined && { errorCode }) })
    } catch (error) {
      const rejected = Promise.reject<Usage>(error)
      rejected.catch(() => {})
      this.#usage = rejected
    }
    return this.#usage
  }

  /**
   * Call this when the client disconnects: the reader ends at once. Resolves when the response is settled, which may require draining it.
   */
  leave(): Promise<void> {
    // The sink cancelled while it handled the disconnect, so `#leaving` is not set yet.
    if (this.#leaving === undefined && this.#context.meter.left) return Promise.resolve().then(() => this.#leaving)
    this.#leaving ??= this.#leave()
    return this.#leaving
  }

  async #leave(): Promise<void> {
    const { meter } = this.#context
    if (this.#usage === undefined) {
      meterLeft(meter)
      const wasOver = this.#isOver
      this.#isOver = true
      if (!wasOver) this.#endEarly()
      if (meter.firstContentAt !== undefined) await this.#drain()
    }
    // A response that is being settled is complete, and its end is still sent.
    if (this.#usage === undefined) {
      meterUnfinished(meter, this.#answer.close())
      await this.#settle()
    } else await this.#usage
  }

  /** The sink may cancel while it handles the event; then its `end` is not called. */
  #endEarly(): void {
    this.#sink?.next([clientLeft])
    this.#sink?.end()
  }

  /** Reads the rest of the response for the usage at its end. */
  #drain(): Promise<void> {
    return new Promise(resolve => {
      const stop = this.#context.drains.begin(resolve)
      if (!stop) return resolve()
      const stopDraining = (): void => {
        stop()
        resolve()
      }
      this.#stopDraining = stopDraining
      this.#answer.resume()
    })
  }

  /** Meters events without sending them, after the client disconnected. */
  #observe(batch: EventBatch): void {
    const { meter } = this.#context
    meterBatch(meter, batch)
    const isEnough = meter.finished !== undefined || meter.characters - (meter.left?.characters ?? 0) > usageDrainLimits.characters
    if (isEnough) this.#stopDraining?.()
  }
}

const clientLeft: InferenceEvent = {
  type: 'finished',
  outcome: { status: 'failed', error: { kind: 'client_left', code: 'client_disconnected', message: '' } },
}

/** The last event carries the billed usage, even if the provider reported none or implausible numbers. */
const withUsage = (batch: EventBatch, usage: Usage): EventBatch =>
  batch.map(event => (event.type === 'finished' && event.usage !== usage ? remember({ ...event, usage }, originalOf(event)) : event))
