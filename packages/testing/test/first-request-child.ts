import { registerHooks } from 'node:module'

/**
 * A gateway in a process of its own, which answers each line of its input with the names of the files that it has loaded since it
 * listens.
 */
const loaded: string[] = []
registerHooks({
  load(url, context, next) {
    if (url.startsWith('file:')) loaded.push(url.split('/').slice(-3).join('/'))
    return next(url, context)
  },
})
const { createGateway } = await import('@signalbox/gateway')
const { simulated } = await import('@signalbox/providers')
const { serve } = await import('@signalbox/node-http')
const { memoryStorage } = await import('@signalbox/storage-memory')
const price = { input: 1_000_000, output: 2_000_000 }
const gateway = createGateway({
  providers: [simulated({ id: 'sim' })],
  models: [{ id: 'echo', offers: [{ provider: 'sim', model: 'echo', api: 'chat', price }] }],
  storage: memoryStorage(),
})
const { id } = await gateway.workspaces.create({ id: 'w', name: 'W', billing: 'postpaid' })
const { secret } = await gateway.workspaces(id).apiKeys.create({ name: 'k' })
const { url } = await serve(gateway, { port: 0 })
loaded.splice(0)
process.stdout.write(`${JSON.stringify({ url, secret })}\n`)
process.stdin.on('data', () => process.stdout.write(`${JSON.stringify(loaded.splice(0))}\n`))
process.stdin.on('end', () => process.exit(0))
