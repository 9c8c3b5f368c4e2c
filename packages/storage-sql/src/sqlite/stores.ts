import type { Storage } from '@signalbox/storage'
import { sqliteAudit } from './audit.ts'
import type { Connection } from './connection.ts'
import { sqliteCounters } from './counters.ts'
import { sqliteItems } from './items.ts'
import { sqliteLedger } from './ledger.ts'
import { sqliteRecords } from './records.ts'
import { sqliteRouting } from './routing.ts'
import { sqliteUsage } from './usage.ts'

/** The stores of a database, whichever driver runs their verbs. */
export const sqliteStores = (connection: Connection): Omit<Storage, 'isShared' | 'spool' | 'ping' | 'close'> => ({
  records: sqliteRecords(connection),
  audit: sqliteAudit(connection),
  counters: sqliteCounters(connection),
  ledger: sqliteLedger(connection),
  usage: sqliteUsage(connection),
  items: sqliteItems(connection),
  routing: sqliteRouting(connection),
})
