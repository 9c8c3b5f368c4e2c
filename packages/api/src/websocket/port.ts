import type { Caller } from '@signalbox/core'
import type { Frame, JsonObject } from '@signalbox/core/protocol'

/** A WebSocket connection that was accepted. One of the two must be called. */
export interface WebSocketOffer {
  /** Larger messages are to be refused with close code 1009. */
  readonly maxMessageBytes: number
  /** Call it when the handshake is done. */
  open(port: WebSocketPort): WebSocketSession
  /** Call it if the handshake fails. */
  abandon(): void
}

/** One end of an open WebSocket, as a runtime has it. */
export interface WebSocketPort {
  /** Sends text messages in order. False: the buffer is full, and `WebSocketSession.drained` will be called when it is not. */
  send(messages: readonly string[]): boolean
  /** Starts the closing handshake. */
  close(code: number, reason: string): void
  /** Cuts the connection of a client that reads nothing. */
  terminate(): void
  /** Milliseconds that a client may read nothing while data waits for it. */
  readonly drainMs: number
}

/** The protocol of one connection. The adapter of a runtime calls it with what comes, and is called through its `WebSocketPort`. */
export interface WebSocketSession {
  /** A text message has come. `bytes`: its length in UTF-8. */
  receive(text: string, bytes?: number): void
  /** A binary message has come. It closes the connection. */
  receiveBinary(): void
  /** So many bytes of an incomplete message are in memory. Undefined: they may stay; else the connection is being closed. */
  receiving(bytes: number): void
  /** What was sent has left the buffer. */
  drained(): void
  /** The connection is over: whatever runs is cancelled. */
  closed(): void
  /** Closes the connection as soon as its response is over, because the server stops. */
  drain(): void
}

/** A request that came as a message of a WebSocket connection. */
export interface WebSocketTurn {
  /** The length of the message in UTF-8. */
  readonly bytes: number
  /** The caller that opened the connection: each message must come from the same. */
  readonly caller: Pick<Caller, 'workspaceId' | 'keyId'>
  /** The body of the same request over HTTP. Throws 400 if the message is none that the connection takes. */
  bodyOf(message: JsonObject): JsonObject
  /** The client only prepares the connection for a later turn (`generate: false`). Known once `bodyOf` was called. */
  isWarmUp(): boolean
  /** The events of a stream as messages, one a line. The output of the last one is kept for the next turn. */
  linesOf(frames: readonly Frame[]): string
  /** The turn failed: the response that it continued is forgotten. */
  fail(): void
}
