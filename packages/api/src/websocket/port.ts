import type { Frame, JsonObject } from '@signalbox/dialects/protocol'
import type { Caller } from '@signalbox/gateway'

/** An accepted WebSocket connection. Either `open` or `abandon` must be called. */
export interface WebSocketOffer {
  /** Larger messages must be refused with close code 1009. */
  readonly maxMessageBytes: number
  /** Call it after the handshake. */
  open(port: WebSocketPort): WebSocketSession
  /** Call it if the handshake fails. */
  abandon(): void
}

/** The runtime's side of an open WebSocket. */
export interface WebSocketPort {
  /** Sends text messages in order. Returns false if the buffer is full; `WebSocketSession.drained` is called when it is not. */
  send(messages: readonly string[]): boolean
  /** Starts the closing handshake. */
  close(code: number, reason: string): void
  /** Closes the connection without a handshake, for a client that does not read. */
  terminate(): void
  /** Milliseconds after which a client that does not read waiting data is disconnected. */
  readonly drainMs: number
}

/** The protocol of one connection. The runtime's adapter calls it for incoming events, and is called through its `WebSocketPort`. */
export interface WebSocketSession {
  /** Reports a text message. `bytes` is its length in UTF-8. */
  receive(text: string, bytes?: number): void
  /** Reports a binary message, which closes the connection. */
  receiveBinary(): void
  /** Reports the bytes of an incomplete message in memory. If they exceed a limit, the connection is closed. */
  receiving(bytes: number): void
  /** Reports that the send buffer is empty. */
  drained(): void
  /** Reports that the connection has ended. A running request is cancelled. */
  closed(): void
  /** Closes the connection as soon as its response is complete, because the server stops. */
  drain(): void
}

/** A request that arrived as a message of a WebSocket connection. */
export interface WebSocketTurn {
  /** The length of the message in UTF-8. */
  readonly bytes: number
  /** The caller that opened the connection. Each message must have the same caller. */
  readonly caller: Pick<Caller, 'workspaceId' | 'keyId'>
  /** The body of the equivalent HTTP request. Throws 400 for an invalid message. */
  bodyOf(message: JsonObject): JsonObject
  /** Whether the client only prepares the connection for a later turn (`generate: false`). Known after `bodyOf`. */
  isWarmUp(): boolean
  /** The events of a stream as messages, one per line. The output of the last event is kept for the next turn. */
  linesOf(frames: readonly Frame[]): string
  /** Reports that the turn failed, so that the response that it continued is dropped. */
  fail(): void
}
