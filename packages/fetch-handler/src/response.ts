import type { ApiReply } from '@signalbox/api'
import type { Source } from '@signalbox/dialects/protocol'
import { type ClientPace, type IdleTimer, startIdleTimer } from './idle-timer.ts'
import type { FetchExchange } from './request.ts'

/** Turns a reply of plain values into a Response. */
export function createResponse({ status, headers, body, cookies }: ApiReply, exchange: FetchExchange, pace: ClientPace): Response {
  const init = { status, headers: cookies ? withCookies(headers, cookies) : { ...headers } }
  if (typeof body !== 'string') {
    if (!exchange.isDisconnected()) return new Response(createStream(body, exchange, pace), init)
    body.cancel()
    return new Response(null, init)
  }
  // Some statuses, such as 204, allow no body at all, not even an empty one.
  return new Response(body === '' ? null : body, init)
}

function withCookies(headers: ApiReply['headers'], cookies: readonly string[]): Headers {
  const whole = new Headers(headers)
  for (const cookie of cookies) whole.append('set-cookie', cookie)
  return whole
}

/** Pauses the source while the reader does not read, and treats a reader that does not read for `drainMs` as disconnected. */
function createStream(body: Source<string>, exchange: FetchExchange, { clock, drainMs }: ClientPace): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let isOver = false
  let idle: IdleTimer | undefined
  const disconnect = (reason: unknown): void => {
    isOver = true
    idle?.stop()
    // The signal first: it ends waits for an upstream, and only then is the response cancelled.
    exchange.disconnect(reason)
    body.cancel()
  }
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const fail = (reason: unknown): void => {
          if (isOver) return
          controller.error(reason)
          disconnect(reason)
        }
        exchange.onAbort(fail)
        idle = startIdleTimer(clock, drainMs, () => fail(new Error(`The stream was not read for ${drainMs} ms.`)))
        // Nothing is pushed before the first pull.
        body.pause()
        body.read({
          next(text) {
            if (isOver) return
            body.pause()
            idle?.reset()
            controller.enqueue(encoder.encode(text))
          },
          end() {
            if (isOver) return
            isOver = true
            idle?.stop()
            controller.close()
          },
          fail,
        })
      },
      pull() {
        idle?.pause()
        body.resume()
      },
      cancel(reason) {
        if (!isOver) disconnect(reason)
      },
    },
    { highWaterMark: 0 },
  )
}
