import { sessionTokenPrefix } from '@signalbox/dialects/protocol'
import type { ApiRequest } from './api.ts'

const bearer = /^bearer +([\x21-\x2b\x2d-\x7e]{1,512})$/i
const tokenProtocol = /(?:^|,) *signalbox-token\.(st_[0-9A-Za-z]{49}) *(?:,|$)/
const bare = /^[\x21-\x2b\x2d-\x7e]{1,512}$/

/**
 * The key of `Authorization: Bearer <key>`. Undefined for every other form: two headers (joined by a comma), another scheme, or text after
 * the key. Such requests get the same reply as those with an unknown key.
 *
 * `keyHeader`: another header that may contain just the key. It is only read without `Authorization`, which takes precedence even if its
 * key is unknown. Browsers cannot set headers of a WebSocket, so pages put the token of their session into its protocols:
 * `new WebSocket(url, ['signalbox', 'signalbox-token.st_…'])`.
 */
export function secretOf(request: ApiRequest, keyHeader?: string): string | undefined {
  const authorization = request.header('authorization') ?? ''
  if (authorization !== '') return bearer.exec(authorization)?.[1]
  if (keyHeader !== undefined) return bare.exec(request.header(keyHeader) ?? '')?.[0]
  return tokenProtocol.exec(request.header('sec-websocket-protocol') ?? '')?.[1]
}

/** Whether a request has a session token, which web pages use, in one of the key headers. */
export const hasSessionToken = (request: ApiRequest): boolean =>
  (secretOf(request) ?? secretOf(request, 'x-api-key'))?.startsWith(sessionTokenPrefix) === true
