import type { ApiRequest } from './api.ts'
import type { Headers } from './headers.ts'
import { responseHeaders } from './response-headers.ts'
import { hasSessionToken } from './secret.ts'
import type { Cors } from './settings.ts'

const exposed = Object.keys(responseHeaders).join(', ').toLowerCase()

/**
 * The CORS headers of a response. Keys are sent in a header and never in a cookie, so credentials mode is not supported. `Vary` keeps
 * caches from serving the response for one origin to another. A page that sends a session token may read the response, which is a
 * refusal if the token is not for its origin.
 */
export function corsHeaders(cors: Cors | undefined, request: ApiRequest): Headers {
  if (cors?.origins === '*') return { 'access-control-allow-origin': '*', 'access-control-expose-headers': exposed }
  const origin = request.header('origin')
  if (origin === undefined || !(cors?.origins.includes(origin) || hasSessionToken(request))) return cors ? { vary: 'origin' } : {}
  return { 'access-control-allow-origin': origin, 'access-control-expose-headers': exposed, vary: 'origin' }
}

/** Request headers that may contain a session token. */
const tokenHeader = /(?:^|[\s,])(?:authorization|x-api-key)(?:$|[\s,])/i

interface PreflightFacts {
  readonly cors: Cors | undefined
  readonly allow: string
  readonly isManagement: boolean
}

/**
 * The headers of a response to a preflight request; none for an ordinary OPTIONS request. A preflight does not include the token, so
 * every page is allowed to send one, because browsers never send tokens by themselves. Not for management, which accepts no session
 * token.
 */
export function preflightHeaders(request: ApiRequest, { cors, allow, isManagement }: PreflightFacts): Headers {
  if (request.header('access-control-request-method') === undefined) return {}
  const requested = request.header('access-control-request-headers')
  const origin = request.header('origin')
  const forToken = !isManagement && origin !== undefined && requested !== undefined && tokenHeader.test(requested)
  if (cors === undefined && !forToken) return {}
  return {
    ...(forToken && cors?.origins !== '*' && { 'access-control-allow-origin': origin, vary: 'origin' }),
    'access-control-allow-methods': allow,
    'access-control-max-age': '600',
    ...(requested !== undefined && { 'access-control-allow-headers': requested }),
  }
}
