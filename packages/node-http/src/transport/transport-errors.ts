import { own } from '@signalbox/dialects/protocol'

/** Code and message of a transport error, by system error code. */
const reasons: Readonly<Record<string, readonly [code: string, message: string]>> = {
  ENOTFOUND: ['NAME_NOT_FOUND', 'The host name of the server was not found.'],
  EAI_AGAIN: ['NAME_NOT_FOUND', 'The host name of the server could not be resolved.'],
  ECONNREFUSED: ['CONNECTION_REFUSED', 'The connection was refused.'],
  UND_ERR_CONNECT_TIMEOUT: ['CONNECT_TIMEOUT', 'Connecting to the server timed out.'],
  ETIMEDOUT: ['CONNECT_TIMEOUT', 'Connecting to the server timed out.'],
  ENETUNREACH: ['UNREACHABLE', 'The network of the server cannot be reached.'],
  EHOSTUNREACH: ['UNREACHABLE', 'The server cannot be reached.'],
  ERR_PROXY_UNREACHABLE: ['PROXY_UNREACHABLE', 'The proxy cannot be reached.'],
  ERR_PROXY_REFUSED: ['PROXY_REFUSED', 'The proxy refused to connect to the server.'],
  EPROTO: ['TLS_FAILED', 'The TLS connection failed.'],
  ECONNRESET: ['CONNECTION_RESET', 'The connection broke.'],
  EPIPE: ['CONNECTION_RESET', 'The connection broke.'],
  UND_ERR_SOCKET: ['CONNECTION_RESET', 'The connection was closed early.'],
  UND_ERR_HEADERS_OVERFLOW: ['HEADERS_TOO_LARGE', 'The response headers are too large.'],
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: ['CUT_SHORT', 'The response ended early.'],
  UND_ERR_INVALID_ARG: ['BAD_REQUEST', 'The request cannot be sent: a URL or a header is not valid.'],
}

/** Patterns for families of system error codes. */
const codePatterns: readonly (readonly [pattern: RegExp, reason: readonly [code: string, message: string]])[] = [
  [/^(?:CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH)/, ['TLS_FAILED', 'The TLS connection failed.']],
  [/^(?:HPE_|HTTPParserError$)/, ['BAD_ANSWER', 'The response is not valid HTTP.']],
]

/** A transport error. Its message contains no address, certificate or part of the request. */
export const transportError = (code: string, message: string): Error & { readonly code: string } =>
  Object.assign(new Error(message), { code })

export function toTransportError(error: unknown): Error & { readonly code: string } {
  const code = systemCode(error)
  const [ours, message] = own(reasons, code) ??
    codePatterns.find(([pattern]) => pattern.test(code))?.[1] ?? ['UNREACHABLE', 'No answer came.']
  return transportError(ours, message)
}

/** Whether the error means that the other side had already closed the connection. */
export const isClosedConnection = (error: unknown): boolean => ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(systemCode(error))

/** Trying several addresses of one name fails with an AggregateError. */
function systemCode(error: unknown): string {
  const inner: unknown = error instanceof AggregateError ? (error.errors[0] ?? error) : error
  if (!(inner instanceof Error)) return ''
  return 'code' in inner && typeof inner.code === 'string' ? inner.code : inner.name
}
