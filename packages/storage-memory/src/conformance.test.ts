import { describeStorage } from '@signalbox/testing/storage'
import { memoryStorage } from './index.ts'

describeStorage('memory', async () => ({ storage: memoryStorage() }), { lacks: ['reopen', 'spool'] })
