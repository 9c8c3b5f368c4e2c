import { openSync, writeSync } from 'node:fs'
import { devNull } from 'node:os'
import { nodeTransport, type RequestLine, serve as serveGateway } from '@signalbox/node-http'
import type { Storage } from '@signalbox/storage'
import { memoryStorage } from '@signalbox/storage-memory'
import { sqliteStorage } from '@signalbox/storage-sql/sqlite'
import { openBenchGateway } from '../bench-gateway.ts'
import { serve } from '../ipc.ts'
import { measured } from './measured.ts'

/** What makes the request log of the standalone server. */
type CreateLog = (sink: { write(text: string): unknown }) => { readonly onRequest: (line: RequestLine) => void }

/**
 * The gateway as a user starts it on Node, its request log included, which goes nowhere. The only argument of the process: a SQLite
 * file; without, the books are kept in memory.
 */
export async function runGateway(createLog: CreateLog): Promise<void> {
  const [, , file] = process.argv
  const storage: Storage = await (file === undefined ? memoryStorage() : sqliteStorage(file))
  const output = openSync(devNull, 'w')
  const { onRequest } = createLog({ write: text => writeSync(output, text) })
  serve(
    measured(async ({ upstream }) => {
      const { gateway, authorization } = await openBenchGateway({ upstream, storage, transport: nodeTransport() })
      const { port } = await serveGateway(gateway, { port: 0, onRequest })
      return { port, authorization, speaks: Object.keys(gateway.dialects) }
    }),
  )
}
