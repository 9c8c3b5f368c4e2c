import { flushCompileCache } from 'node:module'
import { DatabaseSync } from 'node:sqlite'
import { createGateway } from '@signalbox/gateway'
import { serve } from '@signalbox/node-http'
import { simulated } from '@signalbox/providers'
import { sqliteStorage } from '@signalbox/storage-sql/sqlite'
import { fasterClock } from '../../src/faster-clock.ts'
import { models } from './fixture.ts'

/**
 * A gateway on a SQLite file, to be killed, and to have no room: `full` and `room` on standard input. Prints its address.
 * `speed`: how many times as fast its clock runs, so that leases can be waited for.
 */
const [file = '', speed = '1', busyTimeoutMs = '5000'] = process.argv.slice(2)

// A full disk, as SQLite itself knows it: no database of this process may grow.
const databases = new Set<DatabaseSync>()
const { exec } = DatabaseSync.prototype
let limit = 2 ** 30
const limitPages = (db: DatabaseSync): void => {
  try {
    exec.call(db, `PRAGMA max_page_count = ${limit}`)
  } catch {
    // It is closed.
    databases.delete(db)
  }
}
DatabaseSync.prototype.exec = function (this: DatabaseSync, sql: string): void {
  if (!databases.has(this)) {
    databases.add(this)
    limitPages(this)
  }
  exec.call(this, sql)
}
process.stdin.setEncoding('utf8').on('data', text => {
  limit = text.includes('full') ? 1 : 2 ** 30
  for (const db of databases) limitPages(db)
})

const gateway = createGateway({
  providers: [simulated({ id: 'sim', firstWordMs: 5, wordMs: 25 })],
  models,
  storage: sqliteStorage(file, { busyTimeoutMs: Number(busyTimeoutMs) }),
  limits: { concurrentRequests: 10_000, inferenceRpm: 1_000_000 },
  logger: { info: () => {}, warn: () => {}, error: (facts, message) => process.stderr.write(`${message} ${JSON.stringify(facts)}\n`) },
  clock: fasterClock(Number(speed)),
})
await gateway.health()
const { url } = await serve(gateway, { port: 0 })
process.stdout.write(`${url}\n`)
// It is killed, and so would not keep what it has compiled for the next one.
flushCompileCache()
