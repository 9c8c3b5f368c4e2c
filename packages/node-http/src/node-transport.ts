import type { ConnectionOptions } from 'node:tls'
import type { Transport, TransportReply } from '@signalbox/dialects/protocol'
import { decompress } from './transport/decompress.ts'
import { exchange } from './transport/exchange.ts'
import { createPools } from './transport/pool.ts'
import type { ProxyOptions } from './transport/proxy.ts'

/** Options of `nodeTransport`. */
export interface NodeTransportOptions {
  /** Milliseconds for DNS, connect and TLS together. Default: 5,000. */
  readonly connectMs?: number
  /** Milliseconds for which an idle connection is kept. Default: 30,000. */
  readonly keepAliveMs?: number
  /** Maximum bytes of a response after decompression. Requests do not ask for compression, but some servers compress anyway. Default: 33,554,432. */
  readonly decodedBytes?: number
  /** Certificate authorities and client certificates, for all providers. */
  readonly tls?: Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'rejectUnauthorized'>
  /** The proxies of a network that lets no direct calls out; `proxyFromEnvironment(process.env)` reads the usual variables. Default: none. */
  readonly proxy?: ProxyOptions
}

/** A transport that keeps connections open. */
export interface NodeTransport extends Transport {
  /** Closes every connection, also those in use. */
  close(): Promise<void>
}

/**
 * Creates a transport that calls providers with undici's HTTP/1.1 client, one request per connection at a time, without web streams,
 * Request or Response. It only times out connecting; the gateway's own timeouts cover the rest.
 *
 * @example createGateway({ ...options, transport: nodeTransport() })
 */
export function nodeTransport({
  connectMs = 5_000,
  keepAliveMs = 30_000,
  decodedBytes = 33_554_432,
  tls,
  proxy,
}: NodeTransportOptions = {}): NodeTransport {
  const pools = createPools({ connectMs, keepAliveMs, tls, proxy })
  const decode = (reply: TransportReply): TransportReply | Promise<TransportReply> => decompress(reply, decodedBytes)
  const transport: Transport = request => exchange(pools, request, decode)
  return Object.assign(transport, { takesBytes: true, close: () => pools.close() })
}
