import { describeStorage } from '@signalbox/storage/conformance'
import { memoryStorage } from './index.ts'

describeStorage('memory', async () => ({ storage: memoryStorage() }), { lacks: ['reopen', 'spool'] })
