import { pathTest } from '@signalbox/api'
import type { Gateway } from '@signalbox/gateway'
import { pathBelowMount, routeParamsOf, withoutRouteParams } from './mount.ts'
import { createResponder, type FetchContext, type FetchOptions, rejectOnAbort } from './responder.ts'

/**
 * A function from Request to Response that servers and frameworks can call. `second` is the argument that a server passes to its handler
 * (`{ waitUntil }`, the `{ params }` of a catch-all route in Next.js, or anything else), or the init of a `fetch` call; `third` is the
 * execution context of Workers.
 */
export type FetchHandler = (input: Request | string | URL, second?: unknown, third?: unknown) => Promise<Response>

/**
 * Mounts a gateway as a function from Request to Response: for Bun, Deno, Workers, Next.js, Hono and similar. `call` is the function name
 * in error messages.
 *
 * @example
 * Bun.serve({ fetch: toFetchHandler(gateway) })
 * @throws {TypeError} `gateway` is not a gateway, or an option is unknown or has the wrong type.
 */
export function toFetchHandler(gateway: Gateway, options?: FetchOptions, call = 'toFetchHandler'): FetchHandler {
  const respond = createResponder(call, gateway, options)
  const isApiPath = pathTest(options)
  const hasBasePath = options?.basePath !== undefined
  return async (input, second, third) => {
    const isFetchCall = typeof input === 'string' || input instanceof URL
    const init = isInit(second) ? second : undefined
    const request = isFetchCall || init !== undefined ? new Request(input, init) : input
    const found = routeParamsOf(second)
    const params = found && (await found)
    const response = respond(request, {
      context: contextOf(second) ?? contextOf(third),
      server: second,
      mapQuery: params ? query => withoutRouteParams(query, params) : undefined,
      mapPath: params && !hasBasePath ? path => pathBelowMount(path, params, isApiPath) : undefined,
    })
    return isFetchCall ? rejectOnAbort(response, request.signal) : response
  }
}

const contextOf = (value: unknown): FetchContext | undefined =>
  typeof value === 'object' && value !== null && 'waitUntil' in value && typeof value.waitUntil === 'function'
    ? (value as FetchContext)
    : undefined

const initFields = ['method', 'headers', 'body', 'signal']

/** Servers pass a second argument too (bindings, params, the server itself), so only an object with a field of RequestInit counts as one. */
const isInit = (value: unknown): value is RequestInit =>
  typeof value === 'object' && value !== null && contextOf(value) === undefined && initFields.some(field => Object.hasOwn(value, field))
