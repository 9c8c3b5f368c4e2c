import type { Storage } from '@signalbox/storage'
import { sqliteAdmit } from './admit.ts'
import { sqliteAudit } from './audit.ts'
import type { Connection } from './connection.ts'
import { makeSweep, sqliteCounters } from './counters.ts'
import { sqliteItems } from './items.ts'
import { sqliteLedger } from './ledger.ts'
import { sqliteRecords } from './records.ts'
import { sqliteRouting } from './routing.ts'
import { sqliteSettle } from './settle.ts'
import { sqliteUsage } from './usage.ts'
import { sqliteRollup } from './usage-rollup.ts'

/** The stores of a database, independent of the driver that runs their verbs. */
export function sqliteStores(connection: Connection): Omit<Storage, 'isShared' | 'spool' | 'ping' | 'close'> {
  const rollup = sqliteRollup(connection)
  const sweep = makeSweep()
  const parts = { counters: sqliteCounters(connection, sweep), ledger: sqliteLedger(connection), usage: sqliteUsage(connection, rollup) }
  return {
    records: sqliteRecords(connection),
    audit: sqliteAudit(connection),
    ...parts,
    admit: sqliteAdmit(connection, sweep),
    settle: sqliteSettle(connection, { ...parts, rollup }),
    items: sqliteItems(connection),
    routing: sqliteRouting(connection),
  }
}
