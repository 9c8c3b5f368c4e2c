import { nodeTransport, serve as serveGateway } from '@signalbox/node-http'
import type { Storage } from '@signalbox/storage'
import { memoryStorage } from '@signalbox/storage-memory'
import { sqliteStorage } from '@signalbox/storage-sql/sqlite'
import { openBenchGateway } from '../bench-gateway.ts'
import { serve } from '../ipc.ts'
import { measured } from './measured.ts'

/** The gateway as a user runs it on Node. Its only argument: a SQLite file; without, the books are kept in memory. */
const [, , file] = process.argv
const storage: Storage = await (file === undefined ? memoryStorage() : sqliteStorage(file))

serve(
  measured(async ({ upstream }) => {
    const { gateway, authorization } = await openBenchGateway({ upstream, storage, transport: nodeTransport() })
    const { port } = await serveGateway(gateway, { port: 0 })
    return { port, authorization, speaks: Object.keys(gateway.dialects) }
  }),
)
