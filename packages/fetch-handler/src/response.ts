import type { ApiReply } from '@signalbox/api'
import { type Pace, type Silence, watchSilence } from './pace.ts'
import type { Exchange } from './request.ts'

/** Plain values → Response. */
export function responseOf({ status, headers, body }: ApiReply, exchange: Exchange, pace: Pace): Response {
  const init = { status, headers: { ...headers } }
  if (typeof body !== 'string') {
    if (!exchange.gone()) return new Response(streamOf(body, exchange, pace), init)
    // Nobody will read it, and nobody would tell it.
    Promise.resolve(body.return?.()).catch(() => {})
    return new Response(null, init)
  }
  // A status without a body may not be given an empty one either.
  return new Response(body === '' ? null : body, init)
}

/** Pulled at the reader's pace: nothing is asked of the gateway before the last batch was taken. Who takes none for `drainMs` has left. */
function streamOf(body: AsyncIterator<string, undefined>, exchange: Exchange, { clock, drainMs }: Pace): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let over = false
  let untaken: Silence | undefined
  const leave = (reason: unknown): Promise<unknown> => {
    over = true
    untaken?.stop()
    // Signal first: whoever waits for an upstream wakes up, and only then can the iterator be closed.
    exchange.leave(reason)
    return Promise.resolve(body.return?.())
  }
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const drop = (reason: unknown): void => {
          if (over) return
          controller.error(reason)
          leave(reason).catch(() => {})
        }
        exchange.onLeave(drop)
        untaken = watchSilence(clock, drainMs, () => drop(new Error(`Nobody read the stream for ${drainMs} ms.`)))
      },
      async pull(controller) {
        untaken?.pause()
        const step = await body.next()
        if (over) return
        untaken?.broken()
        if (!step.done) return controller.enqueue(encoder.encode(step.value))
        over = true
        untaken?.stop()
        controller.close()
      },
      async cancel(reason) {
        if (!over) await leave(reason)
      },
    },
    { highWaterMark: 0 },
  )
}
