import type { Storage } from '@signalbox/storage'
import type { Connection } from './sqlite/connection.ts'
import { migrate, readVersion } from './sqlite/migrate.ts'
import { verbRunner } from './sqlite/run-verb.ts'
import { sqliteStores } from './sqlite/stores.ts'
import type { Row, Value } from './sqlite/verb.ts'

/** The part of a Durable Object's `ctx.storage` (with SQLite) that is used. */
export interface DurableObjectStorage {
  readonly sql: { exec(query: string, ...bindings: Value[]): { toArray(): Row[] } }
  transactionSync<T>(run: () => T): T
}

/**
 * Opens a storage in the SQLite database of a Durable Object, for use within that object. The object has exclusive access, so every method
 * returns synchronously and is one transaction. Creates the tables, or migrates them to the newest schema. Results leave the object only
 * once they are durable, because the platform holds back all output until then.
 *
 * @throws {Error} The tables were created by a newer version.
 * @example
 * // In the constructor of a Durable Object, with its `ctx`.
 * const storage = durableObjectStorage(ctx.storage)
 * storage.ledger.reserve(hold)
 */
export function durableObjectStorage(storage: DurableObjectStorage): Storage {
  const runner = verbRunner({ prepare: sql => preparedIn(storage, sql) })
  void migrate(statements => storage.transactionSync(() => runner.batch(statements)))
  const connection: Connection = {
    hoursPerStep: 24,
    pause() {},
    write(verb) {
      const { rows, verdict } = storage.transactionSync(() => runner.run(verb))
      return verb.answer(rows, verdict)
    },
    read: verb => verb.answer(runner.batch(verb.statements), undefined),
  }
  return {
    ...sqliteStores(connection),
    isShared: true,
    ping() {
      if (runner.batch(readVersion.statements)[0]?.length === 0)
        throw new Error('durableObjectStorage: the database has lost its tables. Restore the object to an earlier point in time.')
    },
    close() {},
  }
}

/** The platform caches prepared statements by their text. */
function preparedIn({ sql }: DurableObjectStorage, text: string) {
  return {
    all: (...values: readonly Value[]) => sql.exec(text, ...values).toArray(),
    get: (...values: readonly Value[]) => sql.exec(text, ...values).toArray()[0],
  }
}
