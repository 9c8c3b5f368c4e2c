import { pathTest } from '@signalbox/api'
import type { Gateway } from '@signalbox/gateway'
import { createResponder, type FetchOptions, rejectOnAbort } from './responder.ts'

/** A function with the signature of the global `fetch`. */
export type GatewayFetch = (input: Request | string | URL, init?: RequestInit) => Promise<Response>

/** The options of a fetch handler, except `basePath` and `cors`, which only a server needs. */
export type GatewayFetchOptions = Omit<FetchOptions, 'basePath' | 'cors'>

/**
 * Turns a gateway into the `fetch` of an SDK. Any host is accepted and no network is used; keys, limits and budgets apply as over HTTP.
 * Gateway errors are responses, as over HTTP; the promise only rejects when the request is aborted.
 *
 * @example
 * const client = new OpenAI({ apiKey: 'ak_…', baseURL: 'http://signalbox.local/v1', fetch: gatewayFetch(gateway) })
 */
export function gatewayFetch(gateway: Gateway, options?: GatewayFetchOptions): GatewayFetch {
  const respond = createResponder('gatewayFetch', gateway, options)
  const isApiPath = pathTest()
  // Some SDKs expect a base URL that ends in `/v1`, others add `/v1` themselves; both forms are accepted.
  const mapPath = (path: string): string => (!isApiPath(path) && isApiPath(`/v1${path}`) ? `/v1${path}` : path)
  return async (input, init) => {
    const request = new Request(input, init)
    return rejectOnAbort(respond(request, { mapPath }), request.signal)
  }
}
