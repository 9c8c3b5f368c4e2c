import { errorBody, GatewayError } from '@signalbox/dialects/errors'
import type { Source } from '@signalbox/dialects/protocol'
import type { Gateway } from '@signalbox/gateway'
import type { Api, ApiContext, ApiReply, ApiRequest } from '../api.ts'
import { errorHeaders, type Headers } from '../headers.ts'
import { responseHeaders } from '../response-headers.ts'
import type { Settings } from '../settings.ts'
import type { Sharer, Upload, Uploads } from '../uploads.ts'
import type { WebSocketCounts } from './connections.ts'
import { createHistory, type History } from './history.ts'
import type { WebSocketPort, WebSocketSession } from './port.ts'
import { createTurn } from './turn.ts'

// A message becomes the request that it would be over HTTP, and is handled by the same function: keys, limits, routing, money and the log
// are the same code. A failed turn makes its predecessor unknown, as OpenAI publishes it. Messages wait in a queue, because a socket that
// is not read does not report that its client has left.

export interface SessionOptions {
  readonly api: Api
  readonly gateway: Gateway
  readonly site: { readonly settings: Settings; readonly uploads: Uploads; readonly webSockets: WebSocketCounts }
  /** The upgrade request, whose headers apply to each message. */
  readonly upgrade: ApiRequest
  /** The caller that opened the connection. */
  readonly caller: Sharer
  readonly context: ApiContext | undefined
  readonly port: WebSocketPort
  /** Called once, when the connection has ended. */
  readonly onEnd: () => void
}

interface Message {
  readonly text: string
  readonly bytes: number
  readonly upload: Upload
}

/** The protocol of one connection: messages wait in a queue, and one response runs at a time. */
export class Session implements WebSocketSession {
  readonly #options: SessionOptions
  readonly #history: History
  readonly #waiting: Message[] = []
  /** Bytes of the message that is being received. */
  #arriving: Upload | undefined
  /** Aborts the running request. */
  #running: AbortController | undefined
  #source: Source<string> | undefined
  /** Whether its maximum age is reached, so that it closes after the running response. */
  #isOld = false
  #isDraining = false
  #phase: 'open' | 'closing' | 'over' = 'open'
  readonly #ageTimer: unknown
  /** Set while the connection is idle. */
  #idleTimer: unknown
  #drainTimer: unknown

  constructor(options: SessionOptions) {
    const { site, gateway, caller } = options
    const { maxBodyBytes, webSockets } = site.settings
    this.#options = options
    this.#history = createHistory({ maxBodyBytes, maxHistoryBytes: webSockets.maxHistoryBytes, kept: site.webSockets.kept, caller })
    // Set by the timer instead of comparing times, because a timer may fire slightly early.
    this.#ageTimer = gateway.clock.setTimeout(() => {
      this.#isOld = true
      this.#closeIfIdle()
    }, webSockets.maxAgeMs)
    this.#startIdle()
  }

  drain(): void {
    this.#isDraining = true
    this.#closeIfIdle()
  }

  receiveBinary(): void {
    this.#close(1003)
  }

  /** `bytes`: the length of the text in UTF-8, if that is known. */
  receive(text: string, bytes = text.length): void {
    const { site, caller } = this.#options
    this.#arriving?.release()
    this.#arriving = undefined
    if (this.#phase !== 'open') return
    if (bytes > site.settings.webSockets.maxMessageBytes) {
      this.#close(1009)
      return
    }
    if (this.#waiting.length >= site.settings.webSockets.maxWaiting) {
      this.#sendError(tooManyWaitingError(this.#waiting.length))
      this.#close(1008)
      return
    }
    const upload = site.uploads.open(caller)
    const refusal = upload.claim(bytes)
    if (refusal) {
      this.#sendError(refusal)
      // Errors must not accumulate for a client that does not read them.
      if (this.#drainTimer !== undefined) this.#close(1013)
      return
    }
    this.#waiting.push({ text, bytes, upload })
    this.#runNext()
  }

  receiving(bytes: number): void {
    if (this.#phase !== 'open') return
    if (!this.#running) this.#startIdle()
    this.#arriving ??= this.#options.site.uploads.open(this.#options.caller)
    const refusal = this.#arriving.claim(bytes)
    if (!refusal) return
    this.#sendError(refusal)
    this.#close(1013)
  }

  drained(): void {
    this.#options.gateway.clock.clearTimeout(this.#drainTimer)
    this.#drainTimer = undefined
    this.#source?.resume()
    this.#runNext()
  }

  closed(): void {
    if (this.#phase === 'over') return
    this.#phase = 'over'
    const { clock } = this.#options.gateway
    clock.clearTimeout(this.#ageTimer)
    clock.clearTimeout(this.#idleTimer)
    clock.clearTimeout(this.#drainTimer)
    for (const { upload } of this.#waiting.splice(0)) upload.release()
    this.#arriving?.release()
    // The signal goes first: it ends waits for an upstream, and only then is the response cancelled.
    this.#running?.abort()
    this.#source?.cancel()
    this.#history.close()
    this.#options.onEnd()
  }

  #startIdle(): void {
    const { maxIdleMs } = this.#options.site.settings.webSockets
    const { clock } = this.#options.gateway
    clock.clearTimeout(this.#idleTimer)
    if (Number.isFinite(maxIdleMs)) this.#idleTimer = clock.setTimeout(() => this.#close(1000, idleReason), maxIdleMs)
  }

  /** Starts the next message. One response runs at a time, and waiting messages also wait for the client to read. */
  #runNext(): void {
    if (this.#running || this.#phase !== 'open' || this.#drainTimer !== undefined) return
    if (this.#closeIfIdle()) return
    const message = this.#waiting.shift()
    if (message === undefined) return
    const running = new AbortController()
    this.#running = running
    this.#options.gateway.clock.clearTimeout(this.#idleTimer)
    const turn = createTurn(this.#history, { bytes: message.bytes, caller: this.#options.caller })
    const request = requestOf(this.#options.upgrade, message, { turn, signal: running.signal })
    void this.#options.api(request, this.#options.context).then(reply => {
      message.upload.release()
      if (this.#phase !== 'over') this.#answer(reply, turn.fail)
      else if (typeof reply.body !== 'string') reply.body.cancel()
    })
  }

  #answer(reply: ApiReply, fail: () => void): void {
    const { body } = reply
    if (typeof body !== 'string') {
      this.#source = body
      body.read({
        next: lines => this.#sendLines(lines),
        end: () => this.#ended(),
        fail: () => {
          this.#sendError(new GatewayError('internal_error', { message: 'The response was interrupted.' }))
          this.#ended()
        },
      })
      return
    }
    if (reply.status < 400) this.#sendLines(body)
    else {
      fail()
      this.#send([replyEvent(reply)])
      // A key that was revoked or lacks the permission now cannot be used on this connection again.
      if (reply.status === 401) this.#close(1008)
    }
    this.#ended()
  }

  #ended(): void {
    this.#running = undefined
    this.#source = undefined
    if (this.#phase === 'open') this.#startIdle()
    this.#runNext()
  }

  #sendLines(lines: string): void {
    if (lines !== '') this.#send(lines.slice(0, -1).split('\n'))
  }

  #send(messages: readonly string[]): void {
    if (this.#phase !== 'open' || this.#options.port.send(messages)) return
    this.#source?.pause()
    if (this.#drainTimer !== undefined) return
    const { drainMs } = this.#options.port
    this.#drainTimer = this.#options.gateway.clock.setTimeout(() => this.#options.port.terminate(), drainMs)
  }

  #sendError(error: GatewayError): void {
    const { message, type, code, param } = errorBody(error)
    this.#send([errorEvent(error.status, JSON.stringify({ error: { message, type, param, code } }), errorHeaders(error))])
  }

  /** Closes a connection that must end, if nothing runs. */
  #closeIfIdle(): boolean {
    if (this.#phase !== 'open' || this.#running || !(this.#isOld || this.#isDraining)) return false
    if (this.#isOld) this.#sendError(tooOldError(this.#options.site.settings.webSockets.maxAgeMs))
    this.#close(this.#isOld ? 1000 : 1001)
    return true
  }

  #close(code: CloseCode, reason: string = closeReasons[code]): void {
    if (this.#phase !== 'open') return
    this.#phase = 'closing'
    this.#options.port.close(code, reason)
  }
}

const idleReason = 'The connection was idle for too long. Open a new connection.'

/** Headers of the upgrade that do not apply to messages. */
const connectionHeaders: ReadonlySet<string> = new Set(['content-type', 'content-encoding', 'content-length', 'upgrade', 'connection'])

/** The HTTP request that is equivalent to a message. */
function requestOf(upgrade: ApiRequest, { text, bytes }: Message, over: Pick<ApiRequest, 'turn' | 'signal'>): ApiRequest {
  return {
    method: 'POST',
    path: upgrade.path,
    query: upgrade.query,
    header: name => (connectionHeaders.has(name) ? undefined : upgrade.header(name)),
    arrived: () => true,
    text: limit => (bytes > limit ? { ok: false, why: 'too_large' } : { ok: true, text }),
    ip: upgrade.ip,
    signedIn: upgrade.signedIn,
    ...over,
  }
}

/** An error as a message: its HTTP status and body, and the headers that clients read. */
const errorEvent = (status: number, body: string, headers: Headers): string =>
  `{"type":"error","status":${status},${body.slice(1, -1)},"headers":${JSON.stringify(headers)}}`

/** The headers that an error event repeats, in lower case. */
const eventHeaders: ReadonlySet<string> = new Set(Object.keys(responseHeaders).map(name => name.toLowerCase()))

/** The message for a request that failed before its first content. */
const replyEvent = ({ status, headers, body }: ApiReply): string =>
  errorEvent(status, String(body), Object.fromEntries(Object.entries(headers).filter(([name]) => eventHeaders.has(name))))

/** The close codes of WebSocket connections, with their reasons. */
const closeReasons = {
  1000: 'The connection has reached its maximum age. Open a new connection.',
  1001: 'The server is shutting down.',
  1003: 'Messages must be text.',
  1008: 'The key or the user was refused, or too many messages are queued.',
  1009: 'The message is too large.',
  1013: 'Too many bytes of messages are being received. Try again later.',
} as const satisfies Readonly<Record<number, string>>

type CloseCode = keyof typeof closeReasons

const tooManyWaitingError = (count: number): GatewayError =>
  new GatewayError('concurrent_requests_exceeded', {
    message: `This connection has ${count} queued messages, the limit. Wait for a response to end before sending the next message.`,
    limitedBy: 'routing',
    retryAfterMs: 1_000,
  })

const tooOldError = (maxAgeMs: number): GatewayError =>
  new GatewayError('websocket_connection_limit_reached', {
    message: `Responses websocket connection limit reached (${Math.round(maxAgeMs / 60_000)} minutes). Create a new websocket connection to continue.`,
  })
