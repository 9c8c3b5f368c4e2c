import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import {
  type Api,
  type ApiReply,
  type ApiRequest,
  loadWebSockets,
  type SignIn,
  signedInBy,
  type WebSocketOffer,
  watchUpload,
} from '@signalbox/api'
import type { Gateway } from '@signalbox/gateway'
import type { WebSocket, WebSocketServer } from 'ws'
import { invalidRequestReply, sendReply } from './reply.ts'
import { addressOf, faultOfRequest, requestHeader, splitTarget } from './request.ts'
import type { BodyPace } from './request-body.ts'

/** A listener for `server.on('upgrade', listener)`. It responds to every request it receives, including those it rejects. */
export type UpgradeListener = (request: IncomingMessage, socket: Duplex, head: Buffer) => void

// Loaded with the first connection, or when a server starts: apps without WebSockets do not need it, and bundles start without it.
const loadServer = () => import('ws')

/** Loads everything that the first connection needs. */
export const loadConnections = async (): Promise<void> => void (await Promise.all([loadServer(), loadWebSockets()]))

/** The WebSocket connections of one listener. */
export interface WebSockets {
  readonly upgrade: UpgradeListener
  /** Closes each connection with code 1001, after its current response. */
  drain(): void
  /** Closes all connections at once. */
  terminate(): void
}

interface WebSocketsContext {
  readonly api: Api
  readonly gateway: Gateway
  readonly pace: BodyPace
  readonly signIn: SignIn<IncomingMessage> | undefined
}

/** Milliseconds between pings. A client that sends nothing until the next ping is disconnected. */
const pingMs = 30_000
/** Milliseconds that a client has to close its side of a finished connection. */
const closeAfterMs = 2_000
/** Maximum fragments of a message. Browsers send a message of 32 MiB in fewer. A client that sends more is closed with code 1008. */
const maxFragments = 1_024
/** Bytes of memory that `ws` needs for a fragment in addition to its payload, and fewest bytes of a fragment on the wire. */
const fragmentOverhead = 200
const minFragmentBytes = 7

/** The memory of an incomplete message, from its bytes on the wire: at most twice this. A message never counts as more than the longest. */
const heldBytes = (bytes: number, maxBytes: number): number =>
  Math.max(bytes, Math.min(Math.ceil(bytes / minFragmentBytes) * fragmentOverhead, maxFragments * fragmentOverhead, maxBytes))

/** Bytes of a client's ping or pong in addition to its payload. */
const controlFrameBytes = 6

interface OpenConnection {
  readonly socket: WebSocket
  readonly drain: () => void
  isAlive: boolean
}

/** The arguments of a server's `upgrade` event. */
interface Upgrade {
  readonly request: IncomingMessage
  readonly socket: Duplex
  readonly head: Buffer
}

/** Accepts WebSocket connections for the API. */
export function createWebSockets(context: WebSocketsContext): WebSockets {
  const { api, gateway } = context
  const connections = createConnections()
  const refuseInvalid = (request: IncomingMessage, socket: Duplex, message: string): void =>
    refuse(request, socket, invalidRequestReply(message, gateway.ids.uuid()))
  let server: WebSocketServer | undefined
  const serverFor = async (maxPayload: number): Promise<WebSocketServer> => {
    const { WebSocketServer: Server } = await loadServer()
    // Compression would cost hundreds of kilobytes per connection.
    server ??= new Server({ noServer: true, clientTracking: false, perMessageDeflate: false, maxPayload, maxFragments }).on(
      'wsClientError',
      (error, socket, request) => refuseInvalid(request, socket, `${error.message}.`),
    )
    return server
  }
  const accept = async ({ request, socket, head }: Upgrade, { headers, webSocket }: Accepted): Promise<void> => {
    const accepting = server ?? (await serverFor(webSocket.maxMessageBytes))
    if (socket.destroyed) {
      webSocket.abandon()
      return
    }
    let isOpen = false
    const addHeaders = (lines: string[]): void => {
      for (const name in headers) lines.push(`${name}: ${headers[name]}`)
    }
    accepting.once('headers', addHeaders)
    accepting.handleUpgrade(request, socket, head, opened => {
      isOpen = true
      const connection: OpenConnection = connect(opened, socket, { ...context, webSocket, onEnd: () => connections.remove(connection) })
      connections.add(connection)
    })
    accepting.off('headers', addHeaders)
    if (!isOpen) webSocket.abandon()
  }
  const upgrade: UpgradeListener = (request, socket, head) => {
    socket.on('error', () => socket.destroy())
    const fault = faultOfRequest(request)
    if (fault !== undefined) {
      refuseInvalid(request, socket, fault)
      return
    }
    void api(upgradeRequest(request, socket, context.signIn)).then(reply => {
      const { webSocket } = reply
      if (webSocket === undefined) refuse(request, socket, reply)
      else if (socket.destroyed) webSocket.abandon()
      else
        accept({ request, socket, head }, { ...reply, webSocket }).catch((error: unknown) => {
          webSocket.abandon()
          gateway.logger.error({ error: String(error) }, 'A WebSocket could not be opened.')
          socket.destroy()
        })
    })
  }
  return { upgrade, drain: connections.drain, terminate: connections.terminate }
}

/** The open connections, which are pinged while there are any. */
function createConnections() {
  const connections = new Set<OpenConnection>()
  let pinging: NodeJS.Timeout | undefined
  let isDraining = false
  return {
    add(connection: OpenConnection): void {
      connections.add(connection)
      pinging ??= setInterval(() => pingAll(connections), pingMs).unref()
      if (isDraining) connection.drain()
    },
    remove(connection: OpenConnection): void {
      connections.delete(connection)
      if (connections.size > 0) return
      clearInterval(pinging)
      pinging = undefined
    },
    drain(): void {
      isDraining = true
      for (const { drain } of connections) drain()
    },
    terminate(): void {
      for (const { socket } of connections) socket.terminate()
    },
  }
}

type Accepted = ApiReply & { readonly webSocket: WebSocketOffer }

function upgradeRequest(message: IncomingMessage, socket: Duplex, signIn: SignIn<IncomingMessage> | undefined): ApiRequest {
  const { path, query } = splitTarget(message)
  const controller = new AbortController()
  socket.once('close', () => controller.abort())
  return {
    method: message.method ?? 'GET',
    path,
    query,
    header: name => requestHeader(message, name),
    arrived: () => true,
    text: () => ({ ok: true, text: '' }),
    signal: controller.signal,
    canUpgrade: true,
    ...addressOf(message),
    ...(signIn && signedInBy(signIn, message)),
  }
}

/** Responds without an upgrade and closes the connection, because Node has stopped reading requests from it. */
function refuse(request: IncomingMessage, socket: Duplex, reply: ApiReply): void {
  const response = new ServerResponse(request)
  response.assignSocket(socket as ConstructorParameters<typeof ServerResponse>[0]['socket'])
  response.once('finish', () => socket.end())
  // Does not wait for a client that keeps its side open.
  setTimeout(() => socket.destroy(), closeAfterMs).unref()
  sendReply(response, { ...reply, close: true }, { onDisconnect: run => void response.once('close', run), drainMs: closeAfterMs })
}

interface ConnectionContext extends WebSocketsContext {
  readonly webSocket: WebSocketOffer
  readonly onEnd: () => void
}

/** Connects an open WebSocket to its session. */
function connect(opened: WebSocket, socket: Duplex, { pace, webSocket, onEnd }: ConnectionContext): OpenConnection {
  const session = webSocket.open({
    send(messages) {
      // One write for all messages of a batch.
      socket.cork()
      for (const message of messages) opened.send(message)
      socket.uncork()
      return !socket.writableNeedDrain
    },
    close: (code, reason) => opened.close(code, reason),
    terminate: () => opened.terminate(),
    drainMs: pace.drainMs,
  })
  const connection: OpenConnection = { socket: opened, drain: () => session.drain(), isAlive: true }
  const arriving = watchArrival(pace, {
    onBytes: bytes => session.receiving(heldBytes(bytes, webSocket.maxMessageBytes)),
    onTooSlow: () => opened.terminate(),
  })
  let isOver = false
  const over = (): void => {
    isOver = true
    arriving.complete()
    session.closed()
    onEnd()
  }
  /** The client has closed the WebSocket: the response is no longer needed, even if the connection stays open. */
  const leave = (): void => {
    if (isOver) return
    over()
    setTimeout(() => opened.terminate(), closeAfterMs).unref()
  }
  opened.on('message', (data: Buffer, isBinary) => {
    arriving.complete()
    if (isBinary) session.receiveBinary()
    else session.receive(data.toString('utf8'), data.length)
  })
  opened.on('ping', arriving.control)
  opened.on('pong', arriving.control)
  opened.on('close', over)
  // On a protocol violation, `ws` closes the connection with its code.
  opened.on('error', () => {})
  socket.on('drain', () => session.drained())
  // Runs after the listener of `ws`, which has already taken the messages out of the chunk.
  socket.on('data', (chunk: Buffer) => {
    connection.isAlive = true
    if (opened.readyState === opened.OPEN) arriving.add(chunk.length)
    else leave()
  })
  return connection
}

interface ArrivalHandlers {
  readonly onBytes: (bytes: number) => void
  readonly onTooSlow: () => void
}

/** Counts the memory of an incomplete message and checks its speed, from its first byte on. A message within one chunk costs nothing. */
function watchArrival(pace: BodyPace, { onBytes, onTooSlow }: ArrivalHandlers) {
  let bytes = 0
  let isComplete = false
  let speed: ReturnType<typeof watchUpload> | undefined
  const stop = (): void => {
    speed?.stop()
    speed = undefined
  }
  return {
    add(more: number): void {
      // The chunk that ends a message is not part of the next one, except for a few bytes.
      if (isComplete) {
        isComplete = false
        return
      }
      bytes += more
      // The chunk was the rest of a ping.
      if (bytes <= 0) {
        stop()
        return
      }
      onBytes(bytes)
      speed ??= watchUpload(pace.clock, pace, onTooSlow)
      speed.heard(more)
    },
    /** A ping or pong is not part of a message. */
    control(payload: Buffer): void {
      bytes -= payload.length + controlFrameBytes
    },
    complete(): void {
      bytes = 0
      isComplete = true
      stop()
    },
  }
}

function pingAll(connections: ReadonlySet<OpenConnection>): void {
  for (const connection of connections) {
    if (connection.isAlive) connection.socket.ping()
    else connection.socket.terminate()
    connection.isAlive = false
  }
}
