import { describeStorage } from '@signalbox/storage/conformance'
import { sqliteStorage } from '../src/sqlite.ts'
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

describeStorage('sqlite, in memory', async () => ({ storage: sqliteStorage(':memory:') }))
