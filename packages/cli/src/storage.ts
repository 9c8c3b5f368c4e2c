import type { Storage } from '@signalbox/storage'
import { type ChangeChannel, composeStorage, type OutageLogger, withChanges } from '@signalbox/storage/compose'
import { withOutageGrace } from '@signalbox/storage/outage-grace'
import { StartError, withoutPassword } from './fault.ts'
import type { Config } from './schema.ts'
import { type StorageScheme, schemeOf } from './storage-schemes.ts'

/** The field `storage` as an object: the URL, and the given options. */
type StorageSettings = Exclude<Config['storage'], string>

/** A storage that the config names. */
export interface NamedStorage {
  readonly scheme: StorageScheme
  readonly settings: StorageSettings
  /** The URL without secrets. */
  readonly shown: string
  /** The database, if it is a local file. */
  readonly file?: string
}

/**
 * The storage that the field names. Opens nothing.
 *
 * @throws {StartError} The URL is unknown, or the storage does not have one of the options.
 */
export function namedStorage(storage: Config['storage']): NamedStorage {
  const settings = typeof storage === 'string' ? { url: storage } : storage
  const shown = withoutPassword(settings.url)
  const scheme = schemeOf(settings.url)
  if (!scheme) throw new StartError(`\`storage\` is "${shown}", which is not a storage URL.`)
  if (settings.url === 'sqlite::memory:') throw new StartError('`storage` is "sqlite::memory:"; for storage in memory, use `memory:`.')
  const strange = Object.keys(settings).find(name => name !== 'url' && !scheme.options.some(option => option === name))
  if (strange !== undefined) {
    const takes = scheme.options.length === 0 ? 'no options' : scheme.options.join(', ')
    throw new StartError(`\`storage.${strange}\` is for other storages; \`${scheme.example}\` takes ${takes}.`)
  }
  return { scheme, settings, shown, file: scheme.reach === 'machine' ? settings.url.slice(settings.url.indexOf(':') + 1) : undefined }
}

/** The default spool for a network database: files with this name in the working directory. */
const usualSpool = 'signalbox'

type Open = (settings: StorageSettings) => Promise<Storage>

/** How each kind is opened. Its package is only loaded then, so that a start does not wait for the others. */
const openers: Readonly<Record<StorageScheme['name'], Open>> = {
  async memory() {
    const { memoryStorage } = await import('@signalbox/storage-memory')
    return memoryStorage()
  },
  async sqlite({ url, durability }) {
    const { sqliteStorage } = await withoutExperimentalWarning(() => import('@signalbox/storage-sql/sqlite'))
    return sqliteStorage(url.slice('sqlite:'.length), durability && { durability })
  },
  async postgres({ url, pool_size: connections, spool = usualSpool, schema, migrate, prepare }) {
    const { postgresStorage } = await import('@signalbox/storage-sql/postgres')
    const options = { connections, spool, schema, migrate, prepare }
    return postgresStorage(url, Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)))
  },
  async libsql({ url, token }) {
    const { libsqlStorage } = await import('@signalbox/storage-sql/libsql')
    return libsqlStorage({ url, authToken: token })
  },
}

/** What the storage is combined with. */
export interface StorageCompanions {
  readonly redis?: Config['redis']
  /** The channel to the other workers of this machine. */
  readonly channel?: ChangeChannel | undefined
  readonly logger: OutageLogger
  /** Processes of this machine that share the storage. Default: 1. */
  readonly workers?: number | undefined
}

/**
 * Opens the storage with its companions: Redis for limits and messages, or only messages between workers. Redis may be unavailable.
 *
 * @throws {StartError} The storage cannot be read or written.
 */
export async function openStorages(named: NamedStorage, { redis, channel, logger, workers = 1 }: StorageCompanions): Promise<Storage> {
  const durable = await withGrace(await openStorage(named), { named, logger, workers })
  if (redis === undefined) return channel ? withChanges(durable, channel) : durable
  const { url, prefix, max_wait_ms: maxWaitMs, fallback } = typeof redis === 'string' ? { url: redis } : redis
  const { redisStores } = await import('@signalbox/storage-redis').catch(error => {
    throw new StartError(`Redis is not available: ${missingPackage(error) ?? String(error)}`)
  })
  const ephemeral = redisStores({ url, logger, prefix, maxWaitMs })
  const local = fallback === 'local' ? { fallback: { local: (await openStorage(namedStorage('memory:'))).counters } } : {}
  return composeStorage({ durable, ephemeral, logger, ...local })
}

interface GraceParts extends Required<Pick<StorageCompanions, 'logger'>> {
  readonly named: NamedStorage
  readonly workers: number
}

/** The storage unchanged, or with the grace that `on_outage` configures. */
async function withGrace(storage: Storage, { named, logger, workers }: GraceParts): Promise<Storage> {
  const { on_outage = 'stop' } = named.settings
  if (on_outage === 'stop') return storage
  const { processes = workers, grace_ms, max_wait_ms, ...usd } = on_outage === 'continue' ? {} : on_outage
  const { counters } = await openStorage(namedStorage('memory:'))
  const numbers = {
    graceMs: grace_ms,
    maxWaitMs: max_wait_ms,
    maxPerProcess: microdollarsOf(usd.per_process_usd),
    maxPerAccount: microdollarsOf(usd.per_account_usd),
    maxPerLimitedAccount: microdollarsOf(usd.per_limited_account_usd),
  }
  const given = Object.fromEntries(Object.entries(numbers).filter(([, value]) => value !== undefined))
  return withOutageGrace(storage, { counters, processes: () => processes, logger, ...given })
}

const microdollarsOf = (usd: number | undefined): number | undefined => (usd === undefined ? undefined : Math.round(usd * 1_000_000))

/** The URL of Redis without secrets; undefined if there is none. */
export const shownRedis = (redis: Config['redis']): string | undefined =>
  redis && [typeof redis === 'string' ? redis : redis.url].flat().map(withoutPassword).join(', ')

/**
 * Opens the storage, or creates it.
 *
 * @throws {StartError} It cannot be read or written.
 */
export async function openStorage({ scheme, settings }: NamedStorage): Promise<Storage> {
  try {
    const storage = await openers[scheme.name](settings)
    await storage.ping()
    return storage
  } catch (error) {
    const message = missingPackage(error) ?? inConfigNames(String((error as Error).message).replace(/^\w+: /, ''))
    throw new StartError(`The storage is not available: ${message}`)
  }
}

/** Names options of a storage in a message as the config does: `prepare: false` is `storage.prepare: false`. */
const inConfigNames = (message: string): string =>
  message.replace(/`(schema|migrate|prepare|connections)\b(: \w+)?`/g, (_, name: string, value = '') => {
    return `\`storage.${name === 'connections' ? 'pool_size' : name}${value}\``
  })

/** The message about a package that is not installed; undefined for other errors. */
function missingPackage(error: unknown): string | undefined {
  const { code, message } = error as NodeJS.ErrnoException
  if (code !== 'ERR_MODULE_NOT_FOUND') return undefined
  const name = /package '([^']+)'/.exec(String(message))?.[1]
  return name === undefined ? undefined : `the package ${name} is not installed. Install it beside signalbox: npm install ${name}.`
}

/** Suppresses the warning that Node 22 prints about its SQLite on every start. */
async function withoutExperimentalWarning<T>(load: () => Promise<T>): Promise<T> {
  const { emitWarning } = process
  const quiet = (...[warning, kind, ...rest]: Parameters<typeof emitWarning>): void => {
    const name = typeof kind === 'object' ? (kind as { readonly type?: string }).type : kind
    if (name !== 'ExperimentalWarning') Reflect.apply(emitWarning, process, [warning, kind, ...rest])
  }
  process.emitWarning = quiet as typeof emitWarning
  try {
    return await load()
  } finally {
    process.emitWarning = emitWarning
  }
}
