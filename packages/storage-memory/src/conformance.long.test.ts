import { asyncStorage, describeStorage } from '@signalbox/testing/storage'
import { memoryStorage } from './index.ts'

// The whole suite where the store is the same: its results come by promise, or its bounds are narrow.

describeStorage('memory, by promise', async () => ({ storage: asyncStorage(memoryStorage()) }), { lacks: ['reopen', 'spool'] })
describeStorage(
  'memory, with narrow bounds',
  async () => ({ storage: memoryStorage({ maxEntries: 1_000, maxUsageRows: 1_500, maxIds: 500 }) }),
  { lacks: ['reopen', 'spool'] },
)
