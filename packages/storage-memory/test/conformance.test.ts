import { answerByPromise, describeStorage } from '@signalbox/storage/conformance'
import { memoryStorage } from '../src/index.ts'

describeStorage('memory', async () => ({ storage: memoryStorage() }))
describeStorage('memory, by promise', async () => ({ storage: answerByPromise(memoryStorage()) }))
