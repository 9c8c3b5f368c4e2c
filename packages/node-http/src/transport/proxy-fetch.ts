import type { ConnectionOptions } from 'node:tls'
import { EnvHttpProxyAgent, fetch as undiciFetch } from 'undici'
import type { ProxyOptions } from './proxy.ts'

/** Options of `proxyFetch`. */
export interface ProxyFetchOptions {
  readonly proxy: ProxyOptions
  readonly tls?: Pick<ConnectionOptions, 'ca' | 'cert' | 'key'>
}

/**
 * Creates a `fetch` that uses proxies, for calls that are no calls of providers, such as an update of the catalog.
 *
 * @example await proxyFetch({ proxy: { https: 'http://proxy:3128' } })('https://models.dev/api.json')
 */
export function proxyFetch({ proxy, tls = {} }: ProxyFetchOptions): typeof fetch {
  const { http = '', https = http, noProxy = '' } = proxy
  // Empty values keep undici from reading the environment itself.
  const dispatcher = new EnvHttpProxyAgent({ httpProxy: http, httpsProxy: https, noProxy, requestTls: tls, proxyTls: tls, connect: tls })
  return ((url: string, init: object) => undiciFetch(url, { ...init, dispatcher })) as unknown as typeof fetch
}
