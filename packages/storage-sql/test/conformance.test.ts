import { describeStorage } from '@signalbox/storage/conformance'
import { inject } from 'vitest'
import { sqliteStorage } from '../src/sqlite.ts'
import { usualShare } from './other-runtimes/expect-conformance.ts'
import { memoryFolder, temporaryFile } from './temporary-file.ts'

/** The default run does not wait for a disk. */
const folder = inject('isLongRun') ? undefined : memoryFolder()

describeStorage('sqlite', async () => {
  const path = temporaryFile(folder)
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
