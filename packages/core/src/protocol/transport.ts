/**
 * One HTTP exchange with a provider, in plain values (a Request and a Response object cost three times the exchange).
 * Redirects are not followed. Rejects where no answer came (name, connect, TLS, reset); the message says which.
 */
export type Transport = (request: TransportRequest) => Promise<TransportReply>

export interface TransportRequest {
  readonly url: string
  readonly method: 'POST' | 'GET'
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Aborting closes the connection at once, before or during the answer. */
  readonly signal: AbortSignal
}

export interface TransportReply {
  readonly status: number
  /** A header's value by lower-case name; several values are joined by a comma. */
  readonly header: (name: string) => string | undefined
  /** Decoded bytes, at the pace of the reader. Rejects where the connection broke before its end. `return()` closes the connection. */
  readonly body: AsyncIterator<Uint8Array, undefined>
}
