import type { Storage } from '@signalbox/storage'
import { StartError, shown } from './fault.ts'
import type { Config } from './schema.ts'

/** Where the books are kept. */
export type Place = { readonly kind: 'memory' } | { readonly kind: 'sqlite'; readonly path: string }

/** Says so where this version cannot keep its books yet. Touches nothing. */
export function placeOf({ storage, redis }: Pick<Config, 'storage' | 'redis'>): Place {
  if (redis !== undefined) {
    throw new StartError(`\`redis\` is ${shown(redis, 'redis')}; this version has no Redis storage yet: leave it out.`)
  }
  if (storage === 'memory:') return { kind: 'memory' }
  if (!storage.startsWith('sqlite:')) {
    throw new StartError(
      `\`storage\` is ${shown(storage, 'storage')}; this version has no Postgres storage yet: use memory: or sqlite:FILE.`,
    )
  }
  const path = storage.slice('sqlite:'.length)
  if (path === ':memory:')
    throw new StartError('`storage` is "sqlite::memory:"; what lives no longer than the process is called `memory:`.')
  return { kind: 'sqlite', path }
}

/** Opens what is there, or makes it. Throws a StartError where it cannot be read or written. */
export async function openStorage(place: Place): Promise<Storage> {
  try {
    const storage = place.kind === 'memory' ? await openMemory() : await openSqlite(place.path)
    await storage.ping()
    return storage
  } catch (error) {
    throw new StartError(`The storage cannot be used: ${String((error as Error).message).replace(/^\w+: /, '')}`)
  }
}

// Each is loaded only where it is used: a start should not wait for a database that nobody asked for.

async function openMemory(): Promise<Storage> {
  const { memoryStorage } = await import('@signalbox/storage-memory')
  return memoryStorage()
}

async function openSqlite(path: string): Promise<Storage> {
  const { sqliteStorage } = await withoutExperimentalWarning(() => import('@signalbox/storage-sql/sqlite'))
  return sqliteStorage(path)
}

/** Node 22 warns of its SQLite on every start. We know, and pin the versions that we test with. */
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
