import { describeStorage } from '@signalbox/testing/storage'
import { sqliteStorage } from '../src/sqlite.ts'

// The statements are those of a file.

describeStorage('sqlite, in memory', async () => ({ storage: sqliteStorage(':memory:') }), { lacks: ['reopen', 'spool'] })
