import type { ApiReply } from '@signalbox/api'
import type { Source } from '@signalbox/core/protocol'
import { type Pace, type Silence, watchSilence } from './pace.ts'
import type { Exchange } from './request.ts'

/** Plain values → Response. */
export function responseOf({ status, headers, body }: ApiReply, exchange: Exchange, pace: Pace): Response {
  const init = { status, headers: { ...headers } }
  if (typeof body !== 'string') {
    if (!exchange.gone()) return new Response(streamOf(body, exchange, pace), init)
    // It has no reader.
    body.cancel()
    return new Response(null, init)
  }
  // A status without a body may not be given an empty one either.
  return new Response(body === '' ? null : body, init)
}

/** Paused while the reader takes nothing. A reader that takes nothing for `drainMs` has left. */
function streamOf(body: Source<string>, exchange: Exchange, { clock, drainMs }: Pace): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let over = false
  let untaken: Silence | undefined
  const leave = (reason: unknown): void => {
    over = true
    untaken?.stop()
    // Signal first: what waits for an upstream wakes up, and only then is the answer left.
    exchange.leave(reason)
    body.cancel()
  }
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const drop = (reason: unknown): void => {
          if (over) return
          controller.error(reason)
          leave(reason)
        }
        exchange.onLeave(drop)
        untaken = watchSilence(clock, drainMs, () => drop(new Error(`Nobody read the stream for ${drainMs} ms.`)))
        // Nothing is pushed before the first pull.
        body.pause()
        body.read({
          next(text) {
            if (over) return
            body.pause()
            untaken?.broken()
            controller.enqueue(encoder.encode(text))
          },
          end() {
            if (over) return
            over = true
            untaken?.stop()
            controller.close()
          },
          fail: drop,
        })
      },
      pull() {
        untaken?.pause()
        body.resume()
      },
      cancel(reason) {
        if (!over) leave(reason)
      },
    },
    { highWaterMark: 0 },
  )
}
