import { budgetHeaders, codeRow, type ErrorCode, type GatewayError, isRetryPointless, retryWaitMs } from '@signalbox/dialects/errors'
import type { Warning } from '@signalbox/dialects/protocol'
import type { ApiRequest } from './api.ts'
import type { DocumentedHeaders, HeaderName } from './response-headers.ts'

export type Headers = Readonly<Record<string, string>>

/** Sent with every response, so that browsers do not interpret text of a client or a model as a page or a script. */
export const commonHeaders: Headers = { 'x-content-type-options': 'nosniff' }

/** Ids that are safe to return: they cannot end a header or a log line. */
const idPattern = /^[A-Za-z0-9._-]{1,128}$/

/**
 * The id headers of a response. `X-Request-ID` is always generated here, because it is also the id of the usage row: a client could send
 * the same id twice, and two requests with one id are billed once. The client's own id is returned as `X-Client-Request-ID`.
 */
export function idHeaders(requestId: string, request: ApiRequest): Headers {
  const clientId = request.header('x-client-request-id') ?? request.header('x-request-id')
  return clientId !== undefined && idPattern.test(clientId)
    ? { 'x-request-id': requestId, 'x-client-request-id': clientId }
    : { 'x-request-id': requestId }
}

/** Codes only, because messages may contain characters that are invalid in headers. */
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
  // The value is set where the path is matched.
  { names: ['Allow'], isOn: code => code === 'method_not_allowed', headers: () => ({}) },
  // The codings that the mount decodes, which it knows itself.
  { names: ['Accept-Encoding'], isOn: code => code === 'unsupported_media_type', headers: () => ({}) },
  // The protocol that the client should use instead.
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

/** The response headers that follow from an error's code and facts. */
export const errorHeaders = (error: GatewayError): Headers =>
  Object.assign({}, ...errorHeaderRows.filter(({ isOn }) => isOn(error.code)).map(({ headers }) => headers(error)))

/** Names of the headers that errors with this code can have. */
export const errorHeaderNames = (code: ErrorCode): readonly HeaderName[] =>
  errorHeaderRows.flatMap(({ names, isOn }) => (isOn(code) ? names : []))

const unsafe = /[^\t\x20-\x7e\xa0-\xff]/g

/** Removes line breaks and characters that are invalid in headers, so that a model name cannot inject a header or cause a crash. */
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
