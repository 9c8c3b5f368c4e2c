import { pathTest } from '@signalbox/api'
import type { Gateway } from '@signalbox/core'
import { answering, type FetchOptions, orLeft } from './answering.ts'

/** The signature of the global fetch. */
export type GatewayFetch = (input: Request | string | URL, init?: RequestInit) => Promise<Response>

/** Paths and other sites are no matter here: there is no server. */
export type GatewayFetchOptions = Omit<FetchOptions, 'basePath' | 'cors'>

/**
 * The gateway as the `fetch` of an SDK: any host, no network, and the same keys, limits and money as over one.
 *
 * @example
 * const client = new OpenAI({ apiKey: 'ak_…', baseURL: 'http://signalbox.local/v1', fetch: gatewayFetch(gateway) })
 */
export function gatewayFetch(gateway: Gateway, options?: GatewayFetchOptions): GatewayFetch {
  const answer = answering(gateway, options)
  const ours = pathTest()
  // SDKs differ in whether their base URL ends in `/v1` or they write that themselves; either leads to the row.
  const place = (path: string): string => (!ours(path) && ours(`/v1${path}`) ? `/v1${path}` : path)
  return async (input, init) => {
    const request = new Request(input, init)
    return orLeft(answer(request, { place }), request.signal)
  }
}

/**
 * The gateway with a `fetch` of its own, to be handed on as it is.
 *
 * @example
 * const gateway = withFetch(createGateway({ providers, models, storage }))
 * const client = new OpenAI({ apiKey: 'ak_…', baseURL: 'http://signalbox.local/v1', fetch: gateway.fetch })
 */
export const withFetch = (gateway: Gateway, options?: GatewayFetchOptions): Gateway & { readonly fetch: GatewayFetch } => ({
  ...gateway,
  fetch: gatewayFetch(gateway, options),
})
