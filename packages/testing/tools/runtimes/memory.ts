import { memoryStorage } from '@signalbox/storage-memory'
import { scenario } from './scenario.ts'

console.log(JSON.stringify(await scenario(memoryStorage())))
