import { describeStorage } from '@signalbox/storage/conformance'
import { inject } from 'vitest'
import { sqliteStorage } from '../src/sqlite.ts'
import { usualShare } from './other-runtimes/expect-conformance.ts'
import { temporaryFile } from './temporary-file.ts'

describeStorage('sqlite', async () => {
  const path = temporaryFile()
  const storage = sqliteStorage(path)
  return {
    storage,
    async reopen() {
      await storage.close()
      return sqliteStorage(path)
    },
  }
})

// The same statements: random sequences are run in full over a file.
describeStorage('sqlite, in memory', async () => ({ storage: sqliteStorage(':memory:') }), { share: inject('isLongRun') ? 1 : usualShare })
