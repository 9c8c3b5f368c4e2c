import type { OutageLogger } from '@signalbox/storage/compose'
import type { RedisOptions } from 'ioredis'

/** Options of one connection of ioredis. Replies are read in one form only. */
export type ServerOptions = Omit<RedisOptions, 'replyMapping' | 'himportFieldsets'>

/** Options of `redisStores`. */
export interface RedisStoresOptions {
  /**
   * `redis://user:password@host:6379/0`, or `rediss://` for TLS. A list names nodes of a Redis Cluster; the others are found from them.
   */
  readonly url: string | readonly string[]
  /** What every key and channel begins with; without braces, which mean something to Redis Cluster. @default 'signalbox:' */
  readonly prefix?: string
  /** The longest wait of a call in milliseconds, with its connection and its place in a batch. @default 250 */
  readonly maxWaitMs?: number
  /**
   * Whose time decides about windows and slots. `server`: Redis's, so that processes need not agree on theirs. `caller`: the times that
   * are passed in, as in other storages.
   *
   * @default 'server'
   */
  readonly clock?: 'server' | 'caller'
  /** More options of ioredis for each connection, such as `tls` or `sentinels`. Those that this package sets cannot be changed. */
  readonly connection?: Omit<ServerOptions, 'host' | 'port' | 'path' | 'username' | 'password' | 'db'>
  /** Where a server that may evict counters is reported. @default the console */
  readonly logger?: Pick<OutageLogger, 'warn'>
}

/** The options with their defaults, and the addresses without credentials in `name`. */
export interface ResolvedOptions extends Required<Omit<RedisStoresOptions, 'url'>> {
  readonly servers: readonly ServerOptions[]
  readonly isCluster: boolean
  /** For messages: host and port of each server. */
  readonly name: string
}

/**
 * Checks the options. Its errors never quote a URL, which may have a password.
 *
 * @throws TypeError if an option has a value that it does not take.
 */
export function resolveOptions(options: RedisStoresOptions): ResolvedOptions {
  const { url, prefix = 'signalbox:', maxWaitMs = 250, clock = 'server', connection = {}, logger = consoleWarnings } = options
  const urls = typeof url === 'string' ? [url] : url
  if (urls.length === 0) throw new TypeError('redisStores: `url` is empty. Pass one URL, or the URLs of several nodes of a cluster.')
  if (!(Number.isSafeInteger(maxWaitMs) && maxWaitMs > 0))
    throw new TypeError(`redisStores: \`maxWaitMs\` must be whole milliseconds above 0, got ${maxWaitMs}.`)
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
    ...(url.username !== '' && { username: decodeURIComponent(url.username) }),
    ...(url.password !== '' && { password: decodeURIComponent(url.password) }),
    ...(db !== '' && { db: Number(db) }),
    ...(url.protocol === 'rediss:' && { tls: {} }),
  }
}

const consoleWarnings: Pick<OutageLogger, 'warn'> = {
  // biome-ignore lint/suspicious/noConsole: the default of an option, as in the gateway itself
  warn: (facts, message) => console.warn(message, facts),
}
