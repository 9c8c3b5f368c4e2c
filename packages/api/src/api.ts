import type { EndUserOf } from '@signalbox/core/management'
import type { Source } from '@signalbox/core/protocol'
import type { Awaitable } from '@signalbox/core/runtime'
import type { WebSocketOffer, WebSocketTurn } from './websocket/port.ts'

/** An HTTP request as plain values. */
export interface ApiRequest {
  readonly method: string
  /** As it arrived: still escaped, without the query. */
  readonly path: string
  /** What the client's path has before `path`, where a framework mounted the API below another path: `/llm`. Default: nothing. */
  readonly mount?: string
  /** Without `?`; empty if there is none. */
  readonly query: string
  /** A header by lower-case name; several values are joined by `, `. */
  readonly header: (name: string) => string | undefined
  /** True: the whole body lies in memory already, or there is none, so reading it takes neither time nor more memory. Default: false. */
  readonly arrived?: () => boolean
  /**
   * Reads the body as UTF-8 text, at most `limit` bytes, counted as they come; past them reading stops. `heard` gets the sum
   * after each piece; where it returns false reading stops too.
   */
  readonly text: (limit: number, heard?: (bytes: number) => boolean) => Awaitable<BodyText>
  /** Fires when the client disconnects before the reply is over. */
  readonly signal: AbortSignal
  /** Address of the peer of the connection, for the audit log. Never read from a header; nothing is decided by it. */
  readonly ip?: string
  /** The adapter can open a WebSocket for this request. Default: requests for one are 426. */
  readonly canUpgrade?: boolean
  /**
   * Asks the app which embeds the gateway for the user that it has signed in, or a reply instead of an answer, such as a redirect to its
   * sign-in. Undefined, and the default: the API key of the request decides.
   */
  readonly signedIn?: () => Promise<SignedIn | undefined>
  /** Set if the request came as a message of a WebSocket connection. */
  readonly turn?: WebSocketTurn
}

/**
 * The text of a request body, or why there is none: `too_large`, `broken` (the connection), `stopped` (by the caller of `text`), `not_utf8`,
 * `consumed` (read by something else before).
 */
export type BodyText =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly why: 'too_large' | 'broken' | 'stopped' | 'not_utf8' | 'consumed' }

/** A reply of the API in plain values, for a server to send. */
export interface ApiReply {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Each text of a source is one write: whole events. It is paused while the client reads nothing, and cancelled when it disconnects. */
  readonly body: string | Source<string>
  /** Values of `Set-Cookie`, each a header of its own. */
  readonly cookies?: readonly string[]
  /** The rest of the request body was not read: the connection cannot be used again. */
  readonly close?: boolean
  /** Status 101: the WebSocket to open. */
  readonly webSocket?: WebSocketOffer
}

/** What the sign-in of the app makes of a request: its user, or a reply instead of an answer. */
export type SignedIn = { readonly user: EndUserOf } | { readonly reply: ApiReply }

/** `waitUntil`: where a runtime may freeze after the reply, what still has to be settled is handed to it. */
export interface ApiContext {
  readonly waitUntil?: (work: Promise<unknown>) => void
}

/** Answers a request. Never rejects: errors are replies. */
export type Api = (request: ApiRequest, context?: ApiContext) => Promise<ApiReply>
