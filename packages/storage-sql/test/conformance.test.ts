import { describeStorage } from '@signalbox/testing/storage'
import { inject } from 'vitest'
import { sqliteStorage } from '../src/sqlite.ts'
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
