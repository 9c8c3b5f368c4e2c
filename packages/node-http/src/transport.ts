import type { ConnectionOptions } from 'node:tls'
import type { Transport, TransportReply } from '@signalbox/core/runtime'
import { decoded } from './transport/decode.ts'
import { exchange } from './transport/exchange.ts'
import { createPools } from './transport/pool.ts'

export interface NodeTransportOptions {
  /** Name lookup, connect and TLS together. Default 5,000. */
  readonly connectMs?: number
  /** How long an idle connection is kept for the next request. Default 30,000. */
  readonly keepAliveMs?: number
  /** Most decoded bytes of an answer that came compressed, though we ask for none. Default 33,554,432. */
  readonly decodedBytes?: number
  /** Authorities, client certificates and the like, for all providers. */
  readonly tls?: Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'rejectUnauthorized'>
}

/** A Transport that holds connections. */
export interface NodeTransport extends Transport {
  /** Cuts every connection, idle or not. */
  close(): Promise<void>
}

/**
 * Calls providers over undici's HTTP/1.1 client, one request a connection at a time, without web streams, Request or
 * Response. There is no timeout here but that of connecting: the gateway's own deadlines rule.
 *
 * @example createGateway({ …, transport: nodeTransport() })
 */
export function nodeTransport({
  connectMs = 5_000,
  keepAliveMs = 30_000,
  decodedBytes = 33_554_432,
  tls,
}: NodeTransportOptions = {}): NodeTransport {
  const pools = createPools({ connectMs, keepAliveMs, ...(tls !== undefined && { tls }) })
  const decode = (reply: TransportReply): TransportReply | Promise<TransportReply> => decoded(reply, decodedBytes)
  const transport: Transport = request => exchange(pools, request, decode)
  return Object.assign(transport, { close: () => pools.close() })
}
