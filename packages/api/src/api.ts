import type { EndUserOf } from '@signalbox/core/access'
import type { Source } from '@signalbox/dialects/protocol'
import type { Awaitable } from '@signalbox/storage'
import type { WebSocketOffer, WebSocketTurn } from './websocket/port.ts'

/** An HTTP request as plain values. */
export interface ApiRequest {
  readonly method: string
  /** The path as received: still escaped, without the query. */
  readonly path: string
  /** The part of the client's path before `path`, such as `/llm` if a framework mounted the API there. Default: empty. */
  readonly mount?: string
  /** Without `?`; empty if there is none. */
  readonly query: string
  /** A header by lower-case name. Multiple values are joined by `, `. */
  readonly header: (name: string) => string | undefined
  /** Whether the whole body is in memory already, or there is none, so that reading it takes neither time nor memory. Default: false. */
  readonly arrived?: () => boolean
  /**
   * Reads the body as UTF-8 text. Reading stops once more than `limit` bytes have arrived, or when `onBytes`, which gets the number of bytes
   * so far after each piece, returns false.
   */
  readonly text: (limit: number, onBytes?: (bytes: number) => boolean, coding?: string) => Awaitable<BodyText>
  /** Content codings that `text` decodes, best first; then its limit and bytes are those of the decoded body. Default: none. */
  readonly codings?: readonly string[]
  /** Fires when the client disconnects before the reply is complete. */
  readonly signal: AbortSignal
  /** Address of the connection's peer, for the audit log. Never read from a header, and not used for decisions. */
  readonly ip?: string
  /** Whether the adapter can open a WebSocket for this request. By default such requests get 426. */
  readonly canUpgrade?: boolean
  /**
   * Asks the app that embeds the gateway for its signed-in user, or for a reply to send instead, such as a redirect to its sign-in page.
   * Undefined, or absent: the request is authenticated by its API key.
   */
  readonly signedIn?: () => Promise<SignedIn | undefined>
  /** Set if the request came as a message of a WebSocket connection. */
  readonly turn?: WebSocketTurn
}

/**
 * The text of a request body, or the reason why it is missing: `too_large`, `broken` (the connection), `stopped` (by the caller of
 * `text`), `not_utf8`, `not_decodable` (its content coding), `bomb` (`isBomb`), or `consumed` (already read by other code).
 */
export type BodyText =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly why: 'too_large' | 'broken' | 'stopped' | 'not_utf8' | 'not_decodable' | 'bomb' | 'consumed' }

/** A reply of the API as plain values, for a server to send. */
export interface ApiReply {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /**
   * Each text of a source is one write and contains whole events. The source is paused while the client reads nothing, and cancelled when
   * it disconnects.
   */
  readonly body: string | Source<string>
  /** Values of `Set-Cookie`, each sent as a separate header. */
  readonly cookies?: readonly string[]
  /** Whether the connection ends with this reply: part of the request body was not read, or the server stops. */
  readonly close?: boolean
  /** The WebSocket to open, with status 101. */
  readonly webSocket?: WebSocketOffer
}

/** The result of the app's sign-in: the user, or a reply to send instead. */
export type SignedIn = { readonly user: EndUserOf } | { readonly reply: ApiReply }

/** `waitUntil`: receives the work that must finish after the reply, on runtimes that may freeze then. */
export interface ApiContext {
  readonly waitUntil?: (work: Promise<unknown>) => void
}

/** Handles a request. Never rejects: errors are replies. */
export type Api = (request: ApiRequest, context?: ApiContext) => Promise<ApiReply>
