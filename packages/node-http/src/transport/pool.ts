import type { ConnectionOptions } from 'node:tls'
import { buildConnector, Client } from 'undici'
import { createProxySelector, type ProxyOptions, type ProxySelector, proxiedConnector, proxyAuthorization } from './proxy.ts'
import { type InterimFilter, interimFilter } from './skip-interim.ts'

/** A connection to a provider, used by one request at a time. Reconnects automatically. */
export interface PooledConnection {
  readonly client: Client
  /** Responses received over the open connection; 0 if there is none. */
  served: number
  /** Filters the open connection. Undefined before it is opened. */
  interim: InterimFilter | undefined
}

/** The connections to one origin. */
export interface Pool {
  /** Takes the most recently used connection, which is the most likely to be still open. `fresh`: a new one. */
  take(fresh?: boolean): PooledConnection
  give(connection: PooledConnection): void
  drop(connection: PooledConnection): void
}

/** How a URL is requested. */
interface PooledUrl {
  /** The pool of its origin. */
  readonly pool: Pool
  /** The path; the whole URL for a proxy that forwards the request. */
  readonly path: string
  /** Headers for such a proxy. */
  readonly headers: Readonly<Record<string, string>> | undefined
}

/** The pools of all origins. */
export interface Pools {
  at(url: string): PooledUrl
  close(): Promise<void>
}

export interface PoolOptions {
  readonly connectMs: number
  readonly keepAliveMs: number
  readonly tls?: Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'rejectUnauthorized'>
  readonly proxy?: ProxyOptions
}

/** Maximum cached parsed URLs; a provider has a handful. */
const maxCachedUrls = 1_000

/**
 * Creates pools, each a stack. undici's pools do not reveal whether a broken connection had been used before, in which case the provider
 * merely closed it and the request can be sent again.
 */
export function createPools({ connectMs, keepAliveMs, tls, proxy }: PoolOptions): Pools {
  const context: PoolContext = {
    // One shared connector, so that TLS sessions are resumed across connections.
    connect: buildConnector({ timeout: connectMs, allowH2: false, maxCachedSessions: 100, ...tls }),
    connectMs,
    keepAliveMs,
    proxyOf: proxy === undefined ? () => undefined : createProxySelector(proxy),
    all: new Set(),
  }
  const pools = new Map<string, Pool>()
  const places = new Map<string, PooledUrl>()

  return {
    at(url) {
      const known = places.get(url)
      if (known !== undefined) return known
      const parsed = new URL(url)
      const { origin, pathname, search, protocol } = parsed
      const pool = pools.get(origin) ?? createPool(origin, context)
      pools.set(origin, pool)
      if (places.size >= maxCachedUrls) places.clear()
      const path = pathname + search
      const forwarding = protocol === 'http:' ? context.proxyOf(parsed) : undefined
      const place = forwarding ? { pool, path: origin + path, headers: proxyAuthorization(forwarding) } : { pool, path, headers: undefined }
      places.set(url, place)
      return place
    },
    async close() {
      await Promise.allSettled([...context.all].map(connection => connection.client.destroy()))
      context.all.clear()
      pools.clear()
      places.clear()
    },
  }
}

/** Opens connections, and tracks the open ones. */
interface PoolContext {
  readonly connect: buildConnector.connector
  readonly connectMs: number
  readonly keepAliveMs: number
  readonly proxyOf: ProxySelector
  readonly all: Set<PooledConnection>
}

function createPool(origin: string, shared: PoolContext): Pool {
  const proxy = shared.proxyOf(new URL(origin))
  const context = proxy === undefined ? shared : { ...shared, connect: proxiedConnector({ ...shared, proxy }) }
  const idle: PooledConnection[] = []
  const drop = (connection: PooledConnection): void => {
    context.all.delete(connection)
    const at = idle.indexOf(connection)
    if (at !== -1) idle.splice(at, 1)
    connection.client.destroy().catch(() => {})
  }
  const open = (): PooledConnection => {
    const connection = openConnection(origin, context)
    connection.client.on('disconnect', () => {
      connection.served = 0
      if (idle.includes(connection)) drop(connection)
    })
    return connection
  }
  return {
    take: fresh => (fresh ? open() : (idle.pop() ?? open())),
    give: connection => {
      connection.served++
      idle.push(connection)
    },
    drop,
  }
}

function openConnection(origin: string, { connect, keepAliveMs, all }: PoolContext): PooledConnection {
  const client = new Client(origin, {
    connect: (options, callback) =>
      connect(options, (...args) => {
        const [error, socket] = args
        if (error === null) connection.interim = interimFilter(socket)
        callback(...args)
      }),
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: 300_000,
    maxHeaderSize: 65_536,
    allowH2: false,
  })
  const connection: PooledConnection = { client, served: 0, interim: undefined }
  all.add(connection)
  return connection
}
