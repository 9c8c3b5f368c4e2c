import { flushCompileCache } from 'node:module'
import { responsesProvider } from '@signalbox/dialects'
import { createGateway } from '@signalbox/gateway'
import { serve } from '@signalbox/node-http'
import { sqliteStorage } from '@signalbox/storage-sql/sqlite'
import { type Act, acts, scriptedProvider, testModels } from '../src/index.ts'

// A server that stores items in a SQLite file, as one of several processes. It prints its URL and a key in one line.

const [file = ''] = process.argv.slice(2)
/** Responds with the number of its earlier responses in the request. */
const count: Act = context => acts.reply(`Heard ${JSON.stringify(context.body.input).split('Heard').length - 1} earlier answers.`)(context)
const provider = scriptedProvider({ id: 'counts', dialect: responsesProvider, acts: Array.from({ length: 50_000 }, () => count) })
const gateway = createGateway({
  providers: [provider],
  models: testModels([{ id: 'counts', dialect: 'responses' }]),
  storage: sqliteStorage(file),
  sealingKey: new Uint8Array(32).fill(7),
  storedItems: { store: true },
  limits: { inferenceRpm: 1_000_000, concurrentRequests: 10_000 },
})
const { id } = await gateway.workspaces.create({ name: 'Test' })
await gateway.workspaces(id).billing.credit({ reference: 'first', amount: 100_000_000_000 })
const { secret } = await gateway.workspaces(id).apiKeys.create({ name: 'test' })
const { url } = await serve(gateway, { port: 0 })
process.stdout.write(`${JSON.stringify({ url, secret })}\n`)
// It is killed, and so would not keep what it has compiled for the next one.
flushCompileCache()
