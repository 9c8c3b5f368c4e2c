import type { WebSocketOffer } from '@signalbox/api'
import type { ClientPace } from './idle-timer.ts'

/** The inputs a runtime needs to open a WebSocket. */
export interface WebSocketUpgrade {
  readonly request: Request
  /** The second argument of the fetch handler: the server in Bun. */
  readonly server: unknown
  readonly offer: WebSocketOffer
  readonly pace: ClientPace
}

/** Opens the WebSockets of one runtime. */
export interface WebSocketRuntime {
  /** Performs the handshake and returns its response. Undefined if the runtime responded itself. Throws on failure. */
  upgrade(upgrade: WebSocketUpgrade): Response | undefined
  /** Closes all connections with code 1001, each after its current response, and any that are opened later. */
  closeWebSockets(): void
}

/** Accepts the first protocol that a client offers, because browsers give up if none is accepted. The others may contain a token. */
function protocolIn({ headers }: Request): string | undefined {
  const [first = ''] = (headers.get('sec-websocket-protocol') ?? '').split(',')
  return first.trim() || undefined
}

/** The header that names the protocol. */
function protocolHeaders(request: Request): Record<string, string> {
  const protocol = protocolIn(request)
  return protocol === undefined ? {} : { 'sec-websocket-protocol': protocol }
}

type Session = ReturnType<WebSocketOffer['open']>

/** The open connections of one runtime. */
function createConnections() {
  const sessions = new Set<Session>()
  let isDraining = false
  return {
    add(session: Session): void {
      sessions.add(session)
      if (isDraining) session.drain()
    },
    end(session: Session): void {
      sessions.delete(session)
      session.closed()
    },
    drain(): void {
      isDraining = true
      for (const session of sessions) session.drain()
    },
  }
}

type Connections = ReturnType<typeof createConnections>

/** Bytes that may be buffered for a client before its provider is paused. */
const maxBufferedBytes = 65_536
/** Milliseconds between checks of a full buffer, because standard WebSockets have no event for it. */
const lookMs = 20

/** A standard server-side WebSocket. */
interface StandardSocket {
  /** Absent in Workers, which do not report it. */
  readonly bufferedAmount?: number
  send(text: string): void
  close(code?: number, reason?: string): void
  addEventListener(type: 'open' | 'message' | 'close' | 'error', listener: (event: { readonly data?: unknown }) => void): void
}

/** Connects an open standard WebSocket to its session. */
function connect(socket: StandardSocket, { offer, pace: { clock, drainMs } }: WebSocketUpgrade, connections: Connections): void {
  let looking: unknown
  let isOver = false
  const isFull = (): boolean => (socket.bufferedAmount ?? 0) > maxBufferedBytes
  const look = (): void => {
    looking = undefined
    if (isFull()) looking = clock.setTimeout(look, lookMs)
    else session.drained()
  }
  const over = (): void => {
    if (isOver) return
    isOver = true
    clock.clearTimeout(looking)
    connections.end(session)
  }
  const session = offer.open({
    send(messages) {
      for (const message of messages) socket.send(message)
      if (!isFull()) return true
      looking ??= clock.setTimeout(look, lookMs)
      return false
    },
    close: (code, reason) => closeSocket(socket, code, reason),
    terminate() {
      closeSocket(socket, 1008, 'The client does not read its messages.')
      over()
    },
    drainMs,
  })
  socket.addEventListener('message', ({ data }) => {
    if (typeof data === 'string') session.receive(data)
    else session.receiveBinary()
  })
  socket.addEventListener('close', over)
  socket.addEventListener('error', over)
  connections.add(session)
}

/** Some runtimes reserve the protocol's close codes; there 4001 stands for 1001, and so on. */
function closeSocket(socket: StandardSocket, code: number, reason: string): void {
  try {
    socket.close(code, reason)
  } catch {
    socket.close(code + 3_000, reason)
  }
}

interface DenoRuntime {
  upgradeWebSocket(
    request: Request,
    options: { readonly protocol?: string },
  ): { readonly socket: StandardSocket; readonly response: Response }
}

/**
 * WebSockets of Deno.
 *
 * @example
 * Deno.serve(toFetchHandler(gateway, { webSocket: denoWebSockets() }))
 */
export const denoWebSockets = (): WebSocketRuntime => {
  const connections = createConnections()
  return {
    upgrade(upgrade) {
      const { Deno } = globalThis as unknown as { readonly Deno: DenoRuntime }
      const { socket, response } = Deno.upgradeWebSocket(upgrade.request, { protocol: protocolIn(upgrade.request) ?? '' })
      let isOpen = false
      socket.addEventListener('open', () => {
        isOpen = true
        connect(socket, upgrade, connections)
      })
      socket.addEventListener('close', () => {
        if (!isOpen) upgrade.offer.abandon()
      })
      return response
    },
    closeWebSockets: connections.drain,
  }
}

interface WorkersRuntime {
  readonly WebSocketPair: new () => { readonly 0: unknown; readonly 1: StandardSocket & { accept(): void } }
}

/**
 * WebSockets of Cloudflare Workers.
 *
 * @example
 * export default { fetch: toFetchHandler(gateway, { webSocket: workersWebSockets() }) }
 */
export const workersWebSockets = (): WebSocketRuntime => {
  const connections = createConnections()
  return {
    upgrade(upgrade) {
      const { WebSocketPair } = globalThis as unknown as WorkersRuntime
      const { 0: client, 1: socket } = new WebSocketPair()
      socket.accept()
      connect(socket, upgrade, connections)
      return new Response(null, { status: 101, webSocket: client, headers: protocolHeaders(upgrade.request) } as ResponseInit)
    },
    closeWebSockets: connections.drain,
  }
}

interface BunSocket {
  readonly data: BunConnection
  send(text: string): number
  getBufferedAmount(): number
  close(code: number, reason: string): void
  terminate(): void
}

interface BunConnection {
  readonly open: (socket: BunSocket) => Session
  session: Session | undefined
}

interface BunServer {
  upgrade(request: Request, options: { readonly data: BunConnection; readonly headers: Record<string, string> }): boolean
}

/** WebSockets of Bun. Pass `handlers` to `Bun.serve` as `websocket`. */
export interface BunWebSockets extends WebSocketRuntime {
  readonly handlers: {
    open(socket: BunSocket): void
    message(socket: BunSocket, data: unknown): void
    drain(socket: BunSocket): void
    close(socket: BunSocket): void
    readonly maxPayloadLength: number
    readonly idleTimeout: number
    readonly sendPings: boolean
  }
}

/**
 * Creates WebSockets for Bun. `maxPayloadLength`: largest message in bytes, default 33,554,432.
 *
 * @example
 * const webSocket = bunWebSockets()
 * Bun.serve({ fetch: toFetchHandler(gateway, { webSocket }), websocket: webSocket.handlers })
 */
export const bunWebSockets = ({ maxPayloadLength = 33_554_432 }: { readonly maxPayloadLength?: number } = {}): BunWebSockets => {
  const connections = createConnections()
  return {
    upgrade({ request, server, offer, pace: { drainMs } }) {
      const open: BunConnection['open'] = socket =>
        offer.open({
          send(messages) {
            for (const message of messages) socket.send(message)
            return socket.getBufferedAmount() <= maxBufferedBytes
          },
          close: (code, reason) => socket.close(code, reason),
          terminate: () => socket.terminate(),
          drainMs,
        })
      if ((server as BunServer).upgrade(request, { data: { open, session: undefined }, headers: protocolHeaders(request) }))
        return undefined
      offer.abandon()
      return new Response('The request is not a WebSocket handshake.', { status: 400 })
    },
    handlers: {
      open(socket) {
        const session = socket.data.open(socket)
        socket.data.session = session
        connections.add(session)
      },
      message({ data: { session } }, data) {
        if (typeof data === 'string') session?.receive(data)
        else session?.receiveBinary()
      },
      drain: ({ data: { session } }) => session?.drained(),
      close({ data: { session } }) {
        if (session) connections.end(session)
      },
      maxPayloadLength,
      idleTimeout: 120,
      sendPings: true,
    },
    closeWebSockets: connections.drain,
  }
}
