import type { Socket } from 'node:net'
import type { BuiltInDialect } from '@signalbox/dialects'
import type { JsonObject } from '@signalbox/dialects/protocol'
import type { AnswerRequest, AnswerWriter, WrittenAnswer } from '../answers/answer.ts'

/** What the server records about one request. Times are `performance.now()`. The object is live: it changes while the response is written. */
export interface SeenRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly json: JsonObject | undefined
  /** Bytes of the body received so far. */
  readonly received: number
  /** Whether the connection had carried another request before. */
  readonly reused: boolean
  /** The fault that was played. */
  readonly fault: string | undefined
  readonly openedAt: number
  readonly headAt: number
  readonly bodyAt: number | undefined
  /** When the connection ended, from either side. */
  readonly closedAt: number | undefined
  /** Whether the client ended it before the response was complete. */
  readonly left: boolean
  /** Bytes of the response accepted by the kernel. */
  readonly written: number
  /** Whether writing waits because the client does not read. */
  readonly stalled: boolean
  /** How often writing had to wait. */
  readonly stalls: number
}

export type MutableSeenRequest = { -readonly [K in keyof SeenRequest]: SeenRequest[K] }

/** Timing of the slow faults in milliseconds. */
export interface Pace {
  /** Between two bytes of a slow body. Default: 1,000. */
  readonly dripMs: number
  /** Between two pings. Default: 100. */
  readonly pingMs: number
  /** Delay of a late response. Default: 2,000. */
  readonly lateMs: number
  /** Time for the client to read what was sent before the connection breaks. Default: 25. */
  readonly beatMs: number
}

/** Writes the response to one request. */
export interface Exchange {
  readonly seen: SeenRequest
  readonly dialect: BuiltInDialect
  readonly writer: AnswerWriter
  readonly request: AnswerRequest
  readonly stream: boolean
  /** The correct response. */
  readonly answer: WrittenAnswer
  readonly pace: Pace
  /** A URL that must never be called; requests to it are recorded in `server.unexpectedRequests`. */
  readonly elsewhere: string
  /** Resolves when the client has disconnected, or the connection has ended otherwise. */
  readonly gone: Promise<void>
  /** Waits while the client does not read. False if it has disconnected. */
  write(bytes: string | Uint8Array): Promise<boolean>
  /** False if the client disconnected meanwhile. */
  wait(milliseconds: number): Promise<boolean>
  /** Closes the connection normally, even if the response is incomplete. */
  fin(): void
  /** Closes it with a RST. */
  reset(): void
  /** Makes the next request on this connection get a RST. Others are answered normally. */
  spoil(): void
}

/** Resolves when the connection has ended. One promise for all its requests. */
export const goneFrom = (socket: Socket): Promise<void> =>
  new Promise(resolve => {
    for (const event of ['end', 'error', 'close']) socket.once(event, () => resolve())
  })

/** Writing and waiting on a connection, both ended early by a disconnect. */
export function exchangeOn(
  socket: Socket,
  gone: Promise<void>,
  noted: MutableSeenRequest,
): Pick<Exchange, 'gone' | 'write' | 'wait' | 'fin' | 'reset'> {
  let over = false
  void gone.then(() => {
    over = true
  })

  const until = (start: (resolve: () => void) => () => void): Promise<boolean> =>
    new Promise(resolve => {
      const stop = start(() => resolve(!over))
      void gone.then(() => {
        stop()
        resolve(false)
      })
    })

  return {
    gone,
    async write(bytes: string | Uint8Array): Promise<boolean> {
      if (over || !socket.writable) return false
      const size = typeof bytes === 'string' ? Buffer.byteLength(bytes) : bytes.length
      const fits = socket.write(bytes, error => {
        if (!error) noted.written += size
      })
      if (fits) return true
      noted.stalled = true
      noted.stalls += 1
      const went = await until(resolve => {
        socket.once('drain', resolve)
        return () => socket.off('drain', resolve)
      })
      noted.stalled = false
      return went
    },
    wait: (milliseconds: number): Promise<boolean> =>
      until(resolve => {
        const timer = setTimeout(resolve, milliseconds)
        return () => clearTimeout(timer)
      }),
    fin: () => {
      socket.end()
    },
    reset: () => {
      socket.resetAndDestroy()
    },
  }
}
