import { describeStorage } from '@signalbox/storage/conformance'
import { memoryStorage } from '../src/index.ts'

describeStorage('memory', async () => ({ storage: memoryStorage() }))
