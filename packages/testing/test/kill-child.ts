import { flushCompileCache } from 'node:module'
import { createGateway } from '@signalbox/gateway'
import { serve } from '@signalbox/node-http'
import { simulated } from '@signalbox/providers'
import { sqliteStorage } from '@signalbox/storage-sql/sqlite'

/** A gateway on a SQLite file, to be killed. Prints its URL and a key in one line. */
const [file = ''] = process.argv.slice(2)
const price = { input: 1_000_000, output: 2_000_000 }
const gateway = createGateway({
  providers: [simulated({ id: 'sim', firstWordMs: 5, wordMs: 15 })],
  models: ['echo', 'story'].map(id => ({ id, offers: [{ provider: 'sim', model: id, api: 'chat', price }] })),
  storage: await sqliteStorage(file),
  limits: { concurrentRequests: 1_000 },
})
const { id } = await gateway.workspaces.create({ id: 'w', name: 'W' })
await gateway.workspaces(id).billing.credit({ reference: 'first', amount: 1_000_000_000 })
const { secret } = await gateway.workspaces(id).apiKeys.create({ name: 'k' })
const { url } = await serve(gateway, { port: 0 })
process.stdout.write(`${JSON.stringify({ url, secret })}\n`)
// It is killed, and so would not keep what it has compiled for the next one.
flushCompileCache()
