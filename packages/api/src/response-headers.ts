/**
 * The documented names of the API's response headers, which are sent in lower case. The types of the code that sets headers and the list
 * that CORS exposes to browsers are derived from it, and `openapi/response-headers.ts` describes each header.
 */
export const responseHeaderNames = [
  'X-Request-ID',
  'request-id',
  'X-Client-Request-ID',
  'X-Warnings',
  'X-Token-Count',
  'ETag',
  'Cache-Control',
  'WWW-Authenticate',
  'Allow',
  'Upgrade',
  'Accept-Encoding',
  'Retry-After',
  'Retry-After-Ms',
  'X-Should-Retry',
  'X-Rate-Limit-Source',
  'X-Budget-Limit-USD',
  'X-Budget-Used-USD',
  'X-Budget-Remaining-USD',
  'X-Budget-Reset',
  'X-Export-Row-Count',
  'X-Export-Row-Limit',
  'X-Export-Truncated',
  'Idempotent-Replayed',
] as const

/** The documented name of a response header. */
export type HeaderName = (typeof responseHeaderNames)[number]

/** Documented response headers, with names in lower case. */
export type DocumentedHeaders = { readonly [Name in Lowercase<HeaderName>]?: string }
