import { createGateway } from '@signalbox/gateway'
import { serve } from '@signalbox/node-http'
import { simulated } from '@signalbox/providers'
import { postgresStorage } from '@signalbox/storage-sql/postgres'

// A server of signed-in users, as one of several processes on one PostgreSQL. The header `x-user` signs in; it prints its URL in one line.

const [url = '', schema = '', limit = '0'] = process.argv.slice(2)
const price = { input: 1_000_000, output: 1_000_000 }
const offer = { provider: 'sim', model: 'echo', api: 'chat' as const, price, maxOutputTokens: 100 }
const gateway = createGateway({
  providers: [simulated({ id: 'sim', firstWordMs: 0, wordMs: 0 })],
  models: [{ id: 'small', offers: [offer] }],
  storage: postgresStorage(url, { schema }),
  storedItems: false,
  limits: { inferenceRpm: 1_000_000, concurrentRequests: 10_000 },
  logger: { info() {}, warn() {}, error() {} },
})
const server = await serve(gateway, {
  port: 0,
  authenticate({ headers: { 'x-user': user } }) {
    if (typeof user !== 'string') return undefined
    return { workspace: 'app', user, budgets: [{ limit: Number(limit), period: 'total' }] }
  },
})
process.stdout.write(`${JSON.stringify({ url: server.url })}\n`)
