import { memoryStorage } from '@signalbox/storage-memory'
import { scenario } from './scenario.ts'

// biome-ignore lint/style/noDefaultExport: Workers ask for it.
export default { fetch: async (): Promise<Response> => Response.json(await scenario(memoryStorage())) }
