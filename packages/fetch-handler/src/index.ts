import { pathTest } from '@signalbox/api'
import type { Gateway } from '@signalbox/core'
import { answering, type FetchContext, type FetchOptions, orLeft } from './answering.ts'
import { belowMount, ownQuery, paramsOf } from './mount.ts'

export type { ApiOptions, ClientLimits, RequestLine } from '@signalbox/api'
export type { FetchContext, FetchOptions } from './answering.ts'
export { type GatewayFetch, type GatewayFetchOptions, gatewayFetch, withFetch } from './gateway-fetch.ts'

/**
 * The second argument is what a server hands its handler (`{ waitUntil }`, or anything), or the init of a `fetch` call;
 * the third is the context of Workers. In a catch-all route of Next.js the `params` tell where it is mounted.
 */
export type FetchHandler = (input: Request | string | URL, second?: unknown, third?: unknown) => Promise<Response>

/**
 * The gateway as a function from Request to Response: for Bun, Deno, Workers, Next.js, Hono and the like.
 *
 * @example
 * Bun.serve({ fetch: createFetchHandler(gateway) })
 */
export function createFetchHandler(gateway: Gateway, options?: FetchOptions): FetchHandler {
  const answer = answering(gateway, options)
  const ours = pathTest(options)
  const isPlaced = options?.basePath !== undefined
  return async (input, second, third) => {
    const asFetch = typeof input === 'string' || input instanceof URL
    const request = asFetch ? new Request(input, isInit(second) ? second : undefined) : isInit(second) ? new Request(input, second) : input
    const given = paramsOf(second)
    const params = given && (await given)
    const response = answer(request, {
      context: contextOf(second) ?? contextOf(third),
      ...(params && { ownQuery: query => ownQuery(query, params) }),
      ...(params && !isPlaced && { place: path => belowMount(path, params, ours) }),
    })
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
