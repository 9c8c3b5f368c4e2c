import type { ApiRequest } from './exchange.ts'
import type { Headers } from './headers.ts'
import type { Cors } from './settings.ts'

const exposed = [
  'x-request-id',
  'request-id',
  'etag',
  'x-client-request-id',
  'x-warnings',
  'x-token-count',
  'x-rate-limit-source',
  'x-budget-limit-usd',
  'x-budget-used-usd',
  'x-budget-remaining-usd',
  'x-budget-reset',
  'x-export-row-count',
  'x-export-row-limit',
  'x-export-truncated',
  'idempotent-replayed',
  'retry-after',
  'retry-after-ms',
  'x-should-retry',
].join(', ')

/**
 * Keys travel in a header, never in a cookie, so credentials mode is not offered. Whoever keeps an answer must not hand that of
 * one origin to another, nor that of no origin to any.
 */
export function corsHeaders(cors: Cors, request: ApiRequest): Headers {
  if (cors.origins === '*') return { 'access-control-allow-origin': '*', 'access-control-expose-headers': exposed }
  const origin = request.header('origin')
  if (origin === undefined || !cors.origins.includes(origin)) return { vary: 'origin' }
  return { 'access-control-allow-origin': origin, 'access-control-expose-headers': exposed, vary: 'origin' }
}

export function preflightHeaders(cors: Cors | undefined, request: ApiRequest, allow: string): Headers {
  if (cors === undefined || request.header('access-control-request-method') === undefined) return {}
  const asked = request.header('access-control-request-headers')
  return {
    'access-control-allow-methods': allow,
    'access-control-max-age': '600',
    ...(asked !== undefined && { 'access-control-allow-headers': asked }),
  }
}
