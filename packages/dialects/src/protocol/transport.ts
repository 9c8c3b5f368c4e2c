import type { Source } from './source.ts'

/**
 * One HTTP exchange with a provider, in plain values (Request and Response objects cost three times as much as the exchange). Redirects are
 * not followed. Rejects if there was no response (DNS, connect, TLS, reset); the message says why.
 */
export interface Transport {
  (request: TransportRequest): Promise<TransportReply>
  /** Whether a large body may be passed as `bytes` instead of `body`, which saves copies of it. Default: false. */
  readonly takesBytes?: boolean
}

/** The request of one HTTP exchange. */
export interface TransportRequest {
  readonly url: string
  readonly method: 'POST' | 'GET'
  /** Headers, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** The body as UTF-8. Only if the transport takes bytes; then `body` is absent. */
  readonly bytes?: Uint8Array<ArrayBuffer>
  /** Aborting closes the connection at once, before or during the response. */
  readonly signal: AbortSignal
}

/** The decoded response bytes: either pushed, or pulled by an async iterator whose `return()` closes the connection. */
export type TransportBody = Source<Uint8Array> | AsyncIterator<Uint8Array, undefined>

/** The response of one HTTP exchange, with the body still unread. */
export interface TransportReply {
  readonly status: number
  /** A header's value by lower-case name; repeated headers are joined by a comma. */
  readonly header: (name: string) => string | undefined
  /** Fails if the connection breaks before the end of the response. */
  readonly body: TransportBody
}
