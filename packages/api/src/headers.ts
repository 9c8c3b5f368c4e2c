import { budgetHeaders, codeRow, type ErrorCode, type GatewayError, isRetryPointless, retryWaitMs } from '@signalbox/core/errors'
import type { Warning } from '@signalbox/core/protocol'
import type { ApiRequest } from './api.ts'
import type { DocumentedHeaders, HeaderName } from './response-headers.ts'

export type Headers = Readonly<Record<string, string>>

/** Sent with every response: browsers must not take text of a client or a model for a page or a script. */
export const commonHeaders: Headers = { 'x-content-type-options': 'nosniff' }

/** Ids that are safe to send back: they cannot end a header or a log line. */
const idPattern = /^[A-Za-z0-9._-]{1,128}$/

/**
 * The ids of a request. `X-Request-ID` is always generated here, since it is also the id of the usage row: a client could send the
 * same id twice, and two requests under one id are billed once. The client's own id is returned as `X-Client-Request-ID`.
 */
export function idHeaders(requestId: string, request: ApiRequest): Headers {
  const clientId = request.header('x-client-request-id') ?? request.header('x-request-id')
  return clientId !== undefined && idPattern.test(clientId)
    ? { 'x-request-id': requestId, 'x-client-request-id': clientId }
    : { 'x-request-id': requestId }
}

/** Codes only: messages may contain characters that a header cannot carry. */
export const warningHeaders = (warnings: readonly Warning[]): Headers =>
  warnings.length === 0 ? {} : { 'x-warnings': [...new Set(warnings.map(warning => warning.code))].join(', ') }

/** Headers of errors, and the codes that can have them. */
interface ErrorHeaderRow {
  readonly names: readonly HeaderName[]
  readonly isOn: (code: ErrorCode) => boolean
  readonly headers: (error: GatewayError) => DocumentedHeaders
}

const isRateLimit = (code: ErrorCode): boolean => codeRow(code).status === 429

const errorHeaderRows: readonly ErrorHeaderRow[] = [
  // Its value is known where the path is matched, and set there.
  { names: ['Allow'], isOn: code => code === 'method_not_allowed', headers: () => ({}) },
  // The protocol to use instead of the one that the client asked for.
  { names: ['Upgrade'], isOn: code => code === 'upgrade_required', headers: () => ({ upgrade: 'HTTP/1.1' }) },
  {
    names: ['WWW-Authenticate'],
    isOn: code => codeRow(code).status === 401,
    headers: () => ({ 'www-authenticate': 'Bearer' }),
  },
  {
    names: ['Retry-After', 'Retry-After-Ms'],
    isOn: code => isRateLimit(code) || code === 'service_unavailable' || code === 'idempotency_replay_unavailable',
    headers(error) {
      const waitMs = retryWaitMs(error)
      if (waitMs === undefined) return {}
      return { 'retry-after': `${Math.max(1, Math.ceil(waitMs / 1000))}`, 'retry-after-ms': `${Math.max(1, Math.ceil(waitMs))}` }
    },
  },
  {
    names: ['X-Rate-Limit-Source'],
    isOn: isRateLimit,
    headers: ({ facts }) => ({ 'x-rate-limit-source': facts.limitedBy ?? 'routing' }),
  },
  {
    names: ['X-Should-Retry'],
    isOn: code => isRateLimit(code) || codeRow(code).retry === false,
    headers: error => (isRetryPointless(error) ? { 'x-should-retry': 'false' } : {}),
  },
  {
    names: ['X-Budget-Limit-USD', 'X-Budget-Used-USD', 'X-Budget-Remaining-USD', 'X-Budget-Reset'],
    isOn: code => code === 'budget_exceeded',
    headers: ({ facts }) => budgetHeaders(facts.budget),
  },
]

/** The headers that a response to an error has because of its code. */
export const errorHeaders = (error: GatewayError): Headers =>
  Object.assign({}, ...errorHeaderRows.filter(({ isOn }) => isOn(error.code)).map(({ headers }) => headers(error)))

/** Names of the headers that errors with this code can have. */
export const errorHeaderNames = (code: ErrorCode): readonly HeaderName[] =>
  errorHeaderRows.flatMap(({ names, isOn }) => (isOn(code) ? names : []))

const unsafe = /[^\t\x20-\x7e\xa0-\xff]/g

/** Removes line breaks and characters that a header cannot carry: a model name from outside must not become a header, or a crash. */
export function cleanHeaders(headers: Headers): Headers {
  let clean: Record<string, string> | undefined
  for (const name in headers) {
    const value = headers[name] ?? ''
    if (value.search(unsafe) === -1) continue
    clean ??= { ...headers }
    clean[name] = value.replace(unsafe, '')
  }
  return clean ?? headers
}
