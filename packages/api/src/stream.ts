import { asFailure, type Gateway, keepAlive, type Reply, writeFrames } from '@signalbox/core'
import type { GatewayError } from '@signalbox/core/errors'
import type { ClientDialect, EventEncoder, InferenceEvent } from '@signalbox/core/protocol'
import type { ApiReply } from './exchange.ts'
import { asGatewayError } from './fail.ts'
import { warningHeaders } from './headers.ts'
import type { Answering } from './inference/infer.ts'
import { noteOutcome } from './inference/note.ts'
import type { Call } from './routes.ts'

const eventStream = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache', 'x-accel-buffering': 'no' }

/**
 * Opened is not committed. A failure before first content is an HTTP error; but a proxy drops what stays silent, so after
 * `holdMs` status 200 is sent and comments follow. Nothing has been said then: another provider may still step in, and
 * only if all fail does the stream tell it itself.
 */
export async function streamed(call: Call, { dialect, asked, reply }: Answering): Promise<ApiReply> {
  const { clock } = call.gateway
  const committed = await commitOrHold(reply.committed, clock, call.site.settings.holdMs)
  const encoder = dialect.encodeEvents(asked, () => reply.stamp())
  const headers = committed ? { ...eventStream, ...warningHeaders(reply.stamp().warnings) } : eventStream
  return { status: 200, headers, body: eventText(call, { reply, encoder, committed, breath: breathOf(dialect) }) }
}

/** What is said in silence: a word of the language, where it has one for that. */
const breathOf = (dialect: ClientDialect): string => (dialect.keepAlive === undefined ? keepAlive : writeFrames([dialect.keepAlive]))

const commitOrHold = (committed: Promise<void>, clock: Gateway['clock'], holdMs: number): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const timer = clock.setTimeout(() => resolve(false), holdMs)
    committed.then(
      () => {
        clock.clearTimeout(timer)
        resolve(true)
      },
      (error: unknown) => {
        clock.clearTimeout(timer)
        reject(error)
      },
    )
  })

type Step = IteratorResult<string, undefined>
const over: Step = { done: true, value: undefined }

interface Speaking {
  readonly reply: Reply
  readonly encoder: EventEncoder
  readonly committed: boolean
  readonly breath: string
}

/**
 * Events → text, one batch a pull. Written by hand: a generator that waits for a batch could neither say a comment
 * meanwhile nor be left. One promise a batch, one timer a stream, armed anew only when it has fired.
 */
function eventText(call: Call, { reply, encoder, committed, breath }: Speaking): AsyncIterator<string, undefined> {
  const { gateway, site, line, context } = call
  const { clock } = gateway
  const { keepAliveMs } = site.settings
  let source: AsyncIterator<readonly InferenceEvent[], undefined> | undefined = committed ? reply.batches() : undefined
  let ready: string | undefined = committed ? undefined : breath
  let waiting: ((step: Step) => void) | undefined
  let asking = false
  let state: 'open' | 'last' | 'over' = 'open'
  let heardAt = clock.monotonic()
  let timer: unknown

  function say(text: string): void {
    heardAt = clock.monotonic()
    const give = waiting
    waiting = undefined
    if (give === undefined) ready = (ready ?? '') + text
    else give({ done: false, value: text })
  }

  /** Runs only while the client waits: who does not pull has not taken the last batch, and a comment would not reach them sooner. */
  function watch(): void {
    timer = undefined
    if (waiting === undefined) return
    const silent = clock.monotonic() - heardAt
    if (silent >= keepAliveMs) say(breath)
    else timer = clock.setTimeout(watch, keepAliveMs - silent)
  }

  function end(): void {
    if (state === 'over') return
    state = 'over'
    clock.clearTimeout(timer)
    line.end()
    waiting?.(over)
    waiting = undefined
  }

  function ask(): void {
    if (asking || source === undefined) return
    asking = true
    source.next().then(take, broken)
  }

  function take(step: IteratorResult<readonly InferenceEvent[], undefined>): void {
    asking = false
    if (state !== 'open') return
    if (step.done) {
      end()
      return
    }
    try {
      if (line.wanted) noteFinish(step.value)
      const text = writeFrames(encoder.write(step.value))
      // Some batches say nothing in this dialect.
      if (text === '') ask()
      else say(text)
    } catch (error) {
      broken(error)
    }
  }

  function noteFinish(events: readonly InferenceEvent[]): void {
    const last = events.at(-1)
    if (last?.type === 'finished') noteOutcome(line, reply.stamp(), last)
  }

  /** Nothing more is wanted of the provider. The skin's work may end with the reply, so what it takes to leave is handed on. */
  function leave(): Promise<void> {
    const leaving = left(source ?? reply.batches())
    context?.waitUntil?.(leaving.then(() => reply.leave()))
    return leaving
  }

  /** Told in the stream, by its own encoder, since the status is spent. It may be the encoder that broke, so the source is left too. */
  function broken(thrown: unknown): void {
    asking = false
    if (state !== 'open') return
    const error = asGatewayError(thrown, call)
    line.note({ code: error.code })
    state = 'last'
    const begin = source === undefined ? reply : undefined
    void leave()
    try {
      say(writeFrames(encoder.write(failedEvents(error, begin))))
    } catch (again) {
      asGatewayError(again, call)
      end()
    }
  }

  if (!committed) {
    reply.committed.then(() => {
      if (state !== 'open') return
      source = reply.batches()
      if (waiting !== undefined) ask()
    }, broken)
  }

  return {
    next() {
      if (ready !== undefined) {
        const value = ready
        ready = undefined
        return Promise.resolve({ done: false, value })
      }
      if (state !== 'open') {
        end()
        return Promise.resolve(over)
      }
      return new Promise(resolve => {
        waiting = resolve
        timer ??= clock.setTimeout(watch, Math.max(1, keepAliveMs - (clock.monotonic() - heardAt)))
        ask()
      })
    },
    async return() {
      if (state === 'open') {
        line.note({ code: 'client_disconnected' })
        // The skin's signal has fired by now, so nothing in there waits for an upstream any more.
        const leaving = leave()
        end()
        await leaving
      }
      end()
      return over
    },
  }
}

async function left(source: AsyncIterator<unknown, undefined>): Promise<void> {
  try {
    await source.return?.()
  } catch {
    // Whoever failed to let go has said so elsewhere; the reply is over either way.
  }
}

/** `begin`: nothing has been said yet, so the answer has to be announced before it can fail. */
function failedEvents(error: GatewayError, begin: Reply | undefined): readonly InferenceEvent[] {
  const finished: InferenceEvent = { type: 'finished', outcome: { status: 'failed', error: asFailure(error) } }
  if (begin === undefined) return [finished]
  const { id, model, created_at } = begin.stamp()
  return [{ type: 'started', id, model, created_at }, finished]
}
