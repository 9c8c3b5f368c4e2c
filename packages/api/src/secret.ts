import { sessionTokenPrefix } from '@signalbox/core/protocol'
import type { ApiRequest } from './api.ts'

const bearer = /^bearer +([\x21-\x2b\x2d-\x7e]{1,512})$/i
const tokenProtocol = /(?:^|,) *signalbox-token\.(st_[0-9A-Za-z]{49}) *(?:,|$)/
const bare = /^[\x21-\x2b\x2d-\x7e]{1,512}$/

/**
 * The key of `Authorization: Bearer <key>`. Undefined for every other form: two headers (they arrive joined by a comma),
 * another scheme, something behind the key. What is undefined here and what no one knows get the same answer.
 *
 * `keyHeader`: another header that may hold the key, bare. It is read only if there is no `Authorization`: of two headers
 * `Authorization` counts, even if its key is unknown. A page cannot set headers of a WebSocket, and names the token of its session
 * among the protocols: `new WebSocket(url, ['signalbox', 'signalbox-token.st_…'])`.
 */
export function secretOf(request: ApiRequest, keyHeader?: string): string | undefined {
  const authorization = request.header('authorization') ?? ''
  if (authorization !== '') return bearer.exec(authorization)?.[1]
  if (keyHeader !== undefined) return bare.exec(request.header(keyHeader) ?? '')?.[0]
  return tokenProtocol.exec(request.header('sec-websocket-protocol') ?? '')?.[1]
}

/** Whether a request brings the token of a session, which pages use, in one of the headers for keys. */
export const hasSessionToken = (request: ApiRequest): boolean =>
  (secretOf(request) ?? secretOf(request, 'x-api-key'))?.startsWith(sessionTokenPrefix) === true
