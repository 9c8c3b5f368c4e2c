import { createGateway } from '@signalbox/gateway'
import { serve } from '@signalbox/node-http'
import { simulated } from '@signalbox/providers'
import { memoryStorage } from '@signalbox/storage-memory'

/** A gateway in a process of its own, which answers each line of its input with the bytes of memory that it uses after a collection. */
const price = { input: 1_000_000, output: 2_000_000 }
const gateway = createGateway({
  providers: [simulated({ id: 'sim' })],
  models: [{ id: 'echo', offers: [{ provider: 'sim', model: 'echo', api: 'chat', price }] }],
  storage: memoryStorage(),
})
const { id } = await gateway.workspaces.create({ id: 'w', name: 'W', billing: 'postpaid' })
const { secret } = await gateway.workspaces(id).apiKeys.create({ name: 'k' })
const { url } = await serve(gateway, { port: 0, webSockets: { maxConnectionsPerWorkspace: 2_000 } })
process.stdout.write(`${JSON.stringify({ url, secret })}\n`)
process.stdin.on('data', () => {
  globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  process.stdout.write(`${heapUsed + external}\n`)
})
process.stdin.on('end', () => process.exit(0))
