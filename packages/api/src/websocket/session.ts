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

interface SessionContext {
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

interface SessionState extends SessionContext {
  readonly history: History
  readonly waiting: Message[]
  /** Bytes of the message that is being received. */
  arriving: Upload | undefined
  /** Aborts the running request. */
  running: AbortController | undefined
  source: Source<string> | undefined
  /** Whether its maximum age is reached, so that it closes after the running response. */
  isOld: boolean
  isDraining: boolean
  phase: 'open' | 'closing' | 'over'
  ageTimer: unknown
  /** Set while the connection is idle. */
  idleTimer: unknown
  drainTimer: unknown
}

export function createSession(context: SessionContext): WebSocketSession {
  const { site, gateway, caller } = context
  const { maxBodyBytes, webSockets } = site.settings
  const { clock } = gateway
  const state: SessionState = {
    ...context,
    history: createHistory({ maxBodyBytes, maxHistoryBytes: webSockets.maxHistoryBytes, kept: site.webSockets.kept, caller }),
    waiting: [],
    arriving: undefined,
    running: undefined,
    source: undefined,
    isOld: false,
    isDraining: false,
    phase: 'open',
    ageTimer: undefined,
    idleTimer: undefined,
    drainTimer: undefined,
  }
  // Set by the timer instead of comparing times, because a timer may fire slightly early.
  state.ageTimer = clock.setTimeout(() => {
    state.isOld = true
    closeIfIdle(state)
  }, webSockets.maxAgeMs)
  startIdle(state)
  return {
    receive: (text, bytes = text.length) => receiveMessage(state, text, bytes),
    receiveBinary: () => close(state, 1003),
    receiving: bytes => receiving(state, bytes),
    drained: () => drained(state),
    closed: () => over(state),
    drain: () => {
      state.isDraining = true
      closeIfIdle(state)
    },
  }
}

function startIdle(state: SessionState): void {
  const { maxIdleMs } = state.site.settings.webSockets
  const { clock } = state.gateway
  clock.clearTimeout(state.idleTimer)
  if (Number.isFinite(maxIdleMs)) state.idleTimer = clock.setTimeout(() => close(state, 1000, idleReason), maxIdleMs)
}

const idleReason = 'The connection was idle for too long. Open a new connection.'

function receiveMessage(state: SessionState, text: string, bytes: number): void {
  const { site, caller } = state
  state.arriving?.release()
  state.arriving = undefined
  if (state.phase !== 'open') return
  if (bytes > site.settings.webSockets.maxMessageBytes) {
    close(state, 1009)
    return
  }
  if (state.waiting.length >= site.settings.webSockets.maxWaiting) {
    sendError(state, tooManyWaiting(state.waiting.length))
    close(state, 1008)
    return
  }
  const upload = site.uploads.open(caller)
  const refusal = upload.claim(bytes)
  if (refusal) {
    sendError(state, refusal)
    // Errors must not accumulate for a client that does not read them.
    if (isFull(state)) close(state, 1013)
    return
  }
  state.waiting.push({ text, bytes, upload })
  runNext(state)
}

function receiving(state: SessionState, bytes: number): void {
  if (state.phase !== 'open') return
  if (!state.running) startIdle(state)
  state.arriving ??= state.site.uploads.open(state.caller)
  const refusal = state.arriving.claim(bytes)
  if (!refusal) return
  sendError(state, refusal)
  close(state, 1013)
}

/** Whether the client does not read what was sent. */
const isFull = ({ drainTimer }: SessionState): boolean => drainTimer !== undefined

/** Starts the next message. One response runs at a time, and waiting messages also wait for the client to read. */
function runNext(state: SessionState): void {
  if (state.running || state.phase !== 'open' || isFull(state)) return
  if (closeIfIdle(state)) return
  const message = state.waiting.shift()
  if (message === undefined) return
  const running = new AbortController()
  state.running = running
  state.gateway.clock.clearTimeout(state.idleTimer)
  const turn = createTurn(state.history, { bytes: message.bytes, caller: state.caller })
  const request = requestOf(state.upgrade, message, { turn, signal: running.signal })
  void state.api(request, state.context).then(reply => {
    message.upload.release()
    if (state.phase !== 'over') answer(state, reply, turn.fail)
    else if (typeof reply.body !== 'string') reply.body.cancel()
  })
}

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

function answer(state: SessionState, reply: ApiReply, fail: () => void): void {
  const { body } = reply
  if (typeof body !== 'string') {
    state.source = body
    body.read({
      next: lines => sendLines(state, lines),
      end: () => ended(state),
      fail: () => {
        sendError(state, new GatewayError('internal_error', { message: 'The response was interrupted.' }))
        ended(state)
      },
    })
    return
  }
  if (reply.status < 400) sendLines(state, body)
  else {
    fail()
    send(state, [replyEvent(reply)])
    // A key that was revoked or lacks the permission now cannot be used on this connection again.
    if (reply.status === 401) close(state, 1008)
  }
  ended(state)
}

function ended(state: SessionState): void {
  state.running = undefined
  state.source = undefined
  if (state.phase === 'open') startIdle(state)
  runNext(state)
}

function sendLines(state: SessionState, lines: string): void {
  if (lines !== '') send(state, lines.slice(0, -1).split('\n'))
}

const sendError = (state: SessionState, error: GatewayError): void => send(state, [errorEvent(error)])

/** An error as a message: its HTTP status and body, and the headers that clients read. */
const event = (status: number, body: string, headers: Headers): string =>
  `{"type":"error","status":${status},${body.slice(1, -1)},"headers":${JSON.stringify(headers)}}`

/** An error of the connection itself. */
function errorEvent(error: GatewayError): string {
  const { message, type, code, param } = errorBody(error)
  return event(error.status, JSON.stringify({ error: { message, type, param, code } }), errorHeaders(error))
}

/** The headers that an error event repeats, in lower case. */
const eventHeaders: ReadonlySet<string> = new Set(Object.keys(responseHeaders).map(name => name.toLowerCase()))

/** The message for a request that failed before its first content. */
const replyEvent = ({ status, headers, body }: ApiReply): string =>
  event(status, String(body), Object.fromEntries(Object.entries(headers).filter(([name]) => eventHeaders.has(name))))

function send(state: SessionState, messages: readonly string[]): void {
  if (state.phase !== 'open' || state.port.send(messages)) return
  state.source?.pause()
  if (isFull(state)) return
  const { drainMs } = state.port
  state.drainTimer = state.gateway.clock.setTimeout(() => state.port.terminate(), drainMs)
}

function drained(state: SessionState): void {
  state.gateway.clock.clearTimeout(state.drainTimer)
  state.drainTimer = undefined
  state.source?.resume()
  runNext(state)
}

/** Closes a connection that must end, if nothing runs. */
function closeIfIdle(state: SessionState): boolean {
  const { site, isOld, isDraining } = state
  if (state.phase !== 'open' || state.running) return false
  if (isOld) sendError(state, tooOld(site.settings.webSockets.maxAgeMs))
  if (isOld || isDraining) close(state, isOld ? 1000 : 1001)
  return isOld || isDraining
}

function close(state: SessionState, code: CloseCode, reason: string = closeReasons[code]): void {
  if (state.phase !== 'open') return
  state.phase = 'closing'
  state.port.close(code, reason)
}

/** Cancels the running request and drops the waiting messages. */

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

function over(state: SessionState): void {
  if (state.phase === 'over') return
  state.phase = 'over'
  const { clock } = state.gateway
  clock.clearTimeout(state.ageTimer)
  clock.clearTimeout(state.idleTimer)
  clock.clearTimeout(state.drainTimer)
  for (const { upload } of state.waiting.splice(0)) upload.release()
  state.arriving?.release()
  // The signal goes first: it ends waits for an upstream, and only then is the response cancelled.
  state.running?.abort()
  state.source?.cancel()
  state.history.close()
  state.onEnd()
}

const tooManyWaiting = (count: number): GatewayError =>
  new GatewayError('concurrent_requests_exceeded', {
    message: `This connection has ${count} queued messages, the limit. Wait for a response to end before sending the next message.`,
    limitedBy: 'routing',
    retryAfterMs: 1_000,
  })

const tooOld = (maxAgeMs: number): GatewayError =>
  new GatewayError('websocket_connection_limit_reached', {
    message: `Responses websocket connection limit reached (${Math.round(maxAgeMs / 60_000)} minutes). Create a new websocket connection to continue.`,
  })
