import { openSync, writeSync } from 'node:fs'
import { devNull } from 'node:os'
import { nodeTransport, type RequestLine, serve as serveGateway } from '@signalbox/node-http'
import { openBenchGateway } from '../bench-gateway.ts'
import { serve } from '../ipc.ts'
import { openStore, type Store } from '../stores.ts'
import { measured } from './measured.ts'

/** What makes the request log of the standalone server. */
type CreateLog = (sink: { write(text: string): unknown }) => { readonly onRequest: (line: RequestLine) => void }

/**
 * The gateway as a user starts it on Node, its request log included, which goes nowhere. The arguments of the process: a
 * store, and its file or schema; without, the books are kept in memory.
 */
export async function runGateway(createLog: CreateLog): Promise<void> {
  const [, , store = 'memory', name = ''] = process.argv
  const storage = await openStore(store as Store, name)
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
