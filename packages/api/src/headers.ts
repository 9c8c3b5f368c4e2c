import type { BudgetFacts, GatewayError } from '@signalbox/core/errors'
import type { Warning } from '@signalbox/core/protocol'
import type { ApiRequest } from './exchange.ts'

export type Headers = Readonly<Record<string, string>>

/** Of every answer: what a client sent, and what a model wrote, is never taken for a page or a script. */
export const commonHeaders: Headers = { 'x-content-type-options': 'nosniff' }

/** Safe to hand back: nothing in it can end a header, or a log line. */
const idPattern = /^[A-Za-z0-9._-]{1,128}$/

/**
 * X-Request-ID is always minted here, because it is also the id of the usage row: an id of the client's choice could be
 * sent twice, and what happens twice under one id is billed once. What the client calls its request comes back beside it.
 */
export function idHeaders(requestId: string, request: ApiRequest): Headers {
  const theirs = request.header('x-client-request-id') ?? request.header('x-request-id')
  return theirs !== undefined && idPattern.test(theirs)
    ? { 'x-request-id': requestId, 'x-client-request-id': theirs }
    : { 'x-request-id': requestId }
}

/** Codes only: messages may hold what no header can. */
export const warningHeaders = (warnings: readonly Warning[]): Headers =>
  warnings.length === 0 ? {} : { 'x-warnings': [...new Set(warnings.map(warning => warning.code))].join(', ') }

/** Of the budget that refuses, or would be the first to. */
export const budgetHeaders = (budget: BudgetFacts | undefined): Headers =>
  budget === undefined
    ? {}
    : {
        'x-budget-limit-usd': String(budget.limit / 1_000_000),
        'x-budget-used-usd': String(budget.used / 1_000_000),
        'x-budget-remaining-usd': String(budget.remaining / 1_000_000),
        'x-budget-reset': budget.resetsAt === undefined ? 'never' : new Date(budget.resetsAt).toISOString(),
      }

/** We have asked everyone there was to ask, or nothing will change by itself: a client's own retry only costs. */
const pointless: readonly string[] = [
  'insufficient_credits',
  'budget_exceeded',
  'routing_failed',
  'provider_error',
  'provider_timeout',
  'deadline_exceeded',
  'duplicate_resource',
  'state_precondition_failed',
]

/** Some SDKs sleep however long they are told to, and seem to hang: past this it is for their caller to decide. */
const longestWaitMs = 60_000

export function errorHeaders({ status, code, facts }: GatewayError): Headers {
  const wait = facts.shouldRetry === false ? undefined : (facts.retryAfterMs ?? (status === 429 ? 1000 : undefined))
  const isGone = code === 'idempotency_replay_unavailable' && wait === undefined
  const isPointless = facts.shouldRetry === false || isGone || pointless.includes(code) || (wait !== undefined && wait > longestWaitMs)
  return {
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
    ...(wait !== undefined && {
      'retry-after': String(Math.max(1, Math.ceil(wait / 1000))),
      'retry-after-ms': String(Math.max(1, Math.ceil(wait))),
    }),
    ...(status === 429 && { 'x-rate-limit-source': facts.limitedBy ?? 'routing' }),
    ...(isPointless && { 'x-should-retry': 'false' }),
    ...budgetHeaders(facts.budget),
  }
}

const unsafe = /[^\t\x20-\x7e\xa0-\xff]/g

/** Line breaks and what no header can carry are taken out: a model name from outside must never become a header, or a crash. */
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
