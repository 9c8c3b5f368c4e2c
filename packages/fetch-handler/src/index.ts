import { type ApiOptions, type ClientLimits, createApi, limitsOf } from '@signalbox/api'
import type { Gateway } from '@signalbox/core'
import type { Pace } from './pace.ts'
import { exchangeOf } from './request.ts'
import { responseOf } from './response.ts'

export type { ApiOptions, ClientLimits, RequestLine } from '@signalbox/api'

export interface FetchOptions extends ApiOptions, ClientLimits {}

/** Where a runtime may freeze after the reply, work that is still to be done is handed to `waitUntil`. */
export interface FetchContext {
  waitUntil(work: Promise<unknown>): void
}

/**
 * The second argument is what a server hands its handler (`{ waitUntil }`, or anything), or the init of a `fetch` call;
 * the third is the context of Workers.
 */
export type FetchHandler = (input: Request | string | URL, second?: unknown, third?: unknown) => Promise<Response>

/**
 * The gateway as a function from Request to Response: for Bun, Deno, Workers, Next.js, Hono and the like, and for SDKs as
 * their `fetch`, with no network between.
 *
 * @example
 * Bun.serve({ fetch: createFetchHandler(gateway) })
 * const client = new OpenAI({ apiKey, baseURL: 'http://gateway/v1', fetch: createFetchHandler(gateway) })
 */
export function createFetchHandler(gateway: Gateway, options?: FetchOptions): FetchHandler {
  const api = createApi(gateway, options)
  const pace: Pace = { clock: gateway.clock, ...limitsOf(options) }
  return async (input, second, third) => {
    const asFetch = typeof input === 'string' || input instanceof URL
    const request = asFetch ? new Request(input, isInit(second) ? second : undefined) : isInit(second) ? new Request(input, second) : input
    const exchange = exchangeOf(request, pace)
    const context = contextOf(second) ?? contextOf(third)
    const answering = api(exchange.request, context && { waitUntil: work => context.waitUntil(work) })
    const response = answering.then(reply => responseOf(reply, exchange, pace))
    return asFetch ? orLeft(response, request.signal) : response
  }
}

const contextOf = (value: unknown): FetchContext | undefined =>
  typeof value === 'object' && value !== null && 'waitUntil' in value && typeof value.waitUntil === 'function'
    ? (value as FetchContext)
    : undefined

const initFields = ['method', 'headers', 'body', 'signal']

/** Servers hand over a second argument too (bindings, params, the server itself); only what has a field of an init is one. */
const isInit = (value: unknown): value is RequestInit =>
  typeof value === 'object' && value !== null && contextOf(value) === undefined && initFields.some(field => Object.hasOwn(value, field))

/** As `fetch` does it: a caller who aborts hears of it at once, by an AbortError. */
function orLeft(answering: Promise<Response>, signal: AbortSignal): Promise<Response> {
  return new Promise((resolve, reject) => {
    const left = (): void => reject(signal.reason)
    if (signal.aborted) left()
    signal.addEventListener('abort', left, { once: true })
    answering.then(resolve, reject).finally(() => signal.removeEventListener('abort', left))
  })
}
