import { openSync, writeSync } from 'node:fs'
import { devNull } from 'node:os'
import { nodeTransport, type RequestLine, serve as serveGateway } from '@signalbox/node-http'
import { type Duties, openBenchGateway } from '../bench-gateway.ts'
import { serve } from '../ipc.ts'
import { openStore, type Store } from '../stores.ts'
import { measured } from './measured.ts'

/** Creates the request log of the standalone server. */
type CreateLog = (sink: { write(text: string): unknown }) => { readonly onRequest: (line: RequestLine) => void }

/**
 * The gateway as users start it on Node, including its request log, whose output is discarded. Process arguments: a store, its file or
 * schema, and what a request is checked for; without any, memory storage is used.
 */
export async function runGateway(createLog: CreateLog): Promise<void> {
  const [, , store = 'memory', name = '', duties] = process.argv
  const storage = await openStore(store as Store, name)
  const output = openSync(devNull, 'w')
  const { onRequest } = createLog({ write: text => writeSync(output, text) })
  serve(
    measured(async ({ upstream }) => {
      const { gateway, authorization } = await openBenchGateway({
        upstream,
        storage,
        transport: nodeTransport(),
        duties: duties as Duties | undefined,
      })
      const { port } = await serveGateway(gateway, { port: 0, onRequest })
      return { port, authorization, speaks: Object.keys({ ...gateway.dialects, ...gateway.dialectLoaders }) }
    }),
  )
}
