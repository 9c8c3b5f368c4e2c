import type { ConnectionOptions } from 'node:tls'
import type { OutageLogger } from '@signalbox/storage/compose'
import { checkUnquoted, inSource } from '@signalbox/storage/option-table'
import type { RedisOptions } from 'ioredis'

/** Options of one ioredis connection. Reply formats are fixed. */
export type ServerOptions = Omit<RedisOptions, 'replyMapping' | 'himportFieldsets'>

/** Options of ioredis for each connection that this package does not set itself. Declared here, since an app without Redis has no ioredis. */
export interface RedisConnectionOptions {
  /** TLS, as for `tls.connect`: an authority (`ca`), a client certificate (`cert`, `key`). `rediss://` alone has the defaults. */
  readonly tls?: ConnectionOptions
  /** IP version. */
  readonly family?: 4 | 6
  /** Milliseconds until the first TCP keep-alive probe. */
  readonly keepAlive?: number
  /** Name of the connection in `CLIENT LIST`. */
  readonly connectionName?: string
  /** Servers of Redis Sentinel. They are asked for the address of the group `name`. */
  readonly sentinels?: { readonly host?: string; readonly port?: number }[]
  readonly name?: string
  readonly sentinelUsername?: string
  readonly sentinelPassword?: string
  /** TLS of the connections to Sentinel servers. Requires `enableTLSForSentinelMode`. */
  readonly sentinelTLS?: ConnectionOptions
  readonly enableTLSForSentinelMode?: boolean
  /** Addresses that servers announce → addresses to connect to, as in a network with address translation. */
  readonly natMap?: Record<string, { readonly host: string; readonly port: number }>
}

/** Options of `redisStores`. */
export interface RedisStoresOptions {
  /** `redis://user:password@host:6379/0`, or `rediss://` for TLS. A list names nodes of a Redis Cluster, which discover the others. */
  readonly url: string | readonly string[]
  /** Prefix of every key and channel, without braces, which are special in Redis Cluster. @default 'signalbox:' */
  readonly prefix?: string
  /** Maximum milliseconds of a call, including connecting and batching. @default 250 */
  readonly maxWaitMs?: number
  /**
   * The clock that decides about windows and slots. `server`: that of Redis, so that processes with different clocks agree. `caller`: the
   * time passed in, as in other storages.
   *
   * @default 'server'
   */
  readonly clock?: 'server' | 'caller'
  /** More options for each connection, such as `tls` or `sentinels`. */
  readonly connection?: RedisConnectionOptions
  /** Logs a warning if the server may evict counters. @default the console */
  readonly logger?: Pick<OutageLogger, 'warn'>
}

/** The options with defaults, and the addresses without credentials in `name`. */
export interface ResolvedOptions extends Required<Omit<RedisStoresOptions, 'url'>> {
  readonly servers: readonly ServerOptions[]
  readonly isCluster: boolean
  /** Host and port of each server, for messages. */
  readonly name: string
}

/**
 * Checks the options. Error messages never contain a URL, which may include a password.
 *
 * @throws {TypeError} An option has an invalid value.
 */
export function resolveOptions(options: RedisStoresOptions): ResolvedOptions {
  const { url, prefix = 'signalbox:', maxWaitMs = 250, clock = 'server', connection = {}, logger = consoleWarnings } = options
  checkUnquoted('redisStores', { url })
  const urls = typeof url === 'string' ? [url] : url
  if (urls.length === 0) throw new TypeError('redisStores: `url` is empty. Pass one URL, or the URLs of several nodes of a cluster.')
  if (!(Number.isSafeInteger(maxWaitMs) && maxWaitMs > 0))
    throw new TypeError(`redisStores: \`maxWaitMs\` must be whole milliseconds above 0, got ${inSource(maxWaitMs)}.`)
  if (/[{}]/.test(prefix)) throw new TypeError(`redisStores: \`prefix\` must have no braces, got "${prefix}".`)
  if (clock !== 'server' && clock !== 'caller') throw new TypeError('redisStores: `clock` must be "server" or "caller".')
  const servers = urls.map((text, place) => serverOf(text, typeof url === 'string' ? '`url`' : `\`url[${place}]\``))
  const name = servers.map(({ host, port }) => `${host}:${port}`).join(', ')
  return { servers, name, isCluster: typeof url !== 'string', prefix, maxWaitMs, clock, connection, logger }
}

function serverOf(text: string, name: string): ServerOptions {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const db = url?.pathname.slice(1) ?? ''
  if (!url || !['redis:', 'rediss:'].includes(url.protocol) || url.hostname === '' || !/^\d*$/.test(db))
    throw new TypeError(`redisStores: ${name} must be of the form redis://user:password@host:6379/0, or rediss:// for TLS.`)
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || 6379),
    username: url.username !== '' ? decodeURIComponent(url.username) : undefined,
    password: url.password !== '' ? decodeURIComponent(url.password) : undefined,
    db: db !== '' ? Number(db) : undefined,
    tls: url.protocol === 'rediss:' ? {} : undefined,
  }
}

const consoleWarnings: Pick<OutageLogger, 'warn'> = {
  // biome-ignore lint/suspicious/noConsole: the default of an option, as in the gateway itself
  warn: (facts, message) => console.warn(message, facts),
}
