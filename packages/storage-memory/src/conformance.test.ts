import { asyncStorage, describeStorage } from '@signalbox/storage/conformance'
import { inject } from 'vitest'
import { memoryStorage } from './index.ts'

describeStorage('memory', async () => ({ storage: memoryStorage() }))
describeStorage('memory, by promise', async () => ({ storage: asyncStorage(memoryStorage()) }), { share: inject('isLongRun') ? 1 : 0.1 })
