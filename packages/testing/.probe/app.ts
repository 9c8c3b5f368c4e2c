import { createGateway } from '@signalbox/core'
import { openai } from '@signalbox/core/providers'
import { createFetchHandler } from '@signalbox/fetch-handler'
import { memoryStorage } from '@signalbox/storage-memory'
export default createFetchHandler(createGateway({ providers: [openai({ apiKey: 'x' })], models: [], storage: memoryStorage() }))
