import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createGateway } from '@signalbox/gateway'
import { nodeTransport, serve } from '@signalbox/node-http'
import { compatible } from '@signalbox/providers'
import { memoryStorage } from '@signalbox/storage-memory'

// The gateway under measurement, in a process of its own, with a provider beside it that reads everything and answers briefly.

const provider = createServer((request, response) => {
  request.resume().on('end', () => {
    const message = { role: 'assistant', content: 'Seen.' }
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({
        id: 'c',
        object: 'chat.completion',
        created: 1,
        model: 'm',
        choices: [{ index: 0, message, finish_reason: 'stop' }],
        usage,
      }),
    )
  })
})
await new Promise<void>(resolve => provider.listen(0, '127.0.0.1', resolve))

const baseURL = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`
const gateway = createGateway({
  providers: [compatible({ id: 'local', baseURL, apiKey: 'sk-local' })],
  models: [{ id: 'small', offers: [{ provider: 'local', model: 'm', api: 'chat', price: { input: 0, output: 0 } }] }],
  storage: memoryStorage(),
  transport: nodeTransport(),
  logger: { info: () => {}, warn: () => {}, error: () => {} },
})
await gateway.workspaces.create({ id: 'w', name: 'Uploads', billing: 'postpaid' })
const secrets: string[] = []
for (let at = 0; at < 20; at++) secrets.push((await gateway.workspaces('w').apiKeys.create({ name: `k${at}` })).secret)
const { port } = await serve(gateway, { port: 0 })
process.send?.({ port, secrets })
