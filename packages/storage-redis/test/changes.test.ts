import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { webClock } from '@signalbox/core/runtime'
import { createGateway, type Gateway } from '@signalbox/gateway'
import { compatible } from '@signalbox/providers'
import { composeStorage } from '@signalbox/storage/compose'
import { sqliteStorage } from '@signalbox/storage-sql/sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { describeWith } from '../../testing/test/services.ts'
import { waitFor } from '../../testing/test/waits.ts'
import { redisStores } from '../src/index.ts'
import { type RedisServer, testRedis } from './redis-server.ts'

// Two gateways with separate connections to one database and one Redis, like two processes.

const describeServer = describeWith('redis-server')

/** Time does not pass for caches, so that only a message can end what they hold. */
const clock = { ...webClock(), monotonic: () => 1_000 }
const quiet = { info: () => {}, warn: () => {}, error: () => {} }

/** A provider that accepts everything, and the keys it was called with. */
async function vendor() {
  const keys: string[] = []
  const server = createServer((request, reply) => {
    keys.push(String(request.headers.authorization))
    request.resume().on('end', () =>
      reply.writeHead(200, { 'content-type': 'application/json' }).end(
        JSON.stringify({
          id: randomUUID(),
          object: 'chat.completion',
          created: 1,
          model: 'm',
          choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
          usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
        }),
      ),
    )
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { keys, baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` }
}

interface Scene {
  readonly here: Gateway
  readonly there: Gateway
  readonly server: RedisServer
  /** The keys with which the provider was called. */
  readonly keys: readonly string[]
  /** One call in a process, with the secret of a key. */
  readonly call: (gateway: Gateway, secret: string) => Promise<unknown>
}

async function scene(): Promise<Scene> {
  const server = await testRedis()
  const { keys, baseURL } = await vendor()
  const folder = mkdtempSync(join(tmpdir(), 'changes-'))
  const open = (): Gateway => {
    const storage = composeStorage({
      durable: sqliteStorage(join(folder, 'signalbox.db')),
      ephemeral: redisStores({ url: server.url, maxWaitMs: 250 }),
      logger: quiet,
    })
    const price = { input: 1, output: 1 }
    const gateway = createGateway({
      providers: [compatible({ id: 'vendor', baseURL, apiKey: 'of-the-operator' })],
      models: [{ id: 'm', offers: [{ provider: 'vendor', model: 'm', api: 'chat', price }] }],
      sealingKey: new Uint8Array(32).fill(7),
      storage,
      clock,
      logger: quiet,
    })
    onTestFinished(() => gateway.close())
    return gateway
  }
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const [here, there] = [open(), open()]
  await here.workspaces.create({ id: 'w', name: 'W', billing: 'postpaid' })
  const call = async (gateway: Gateway, secret: string): Promise<unknown> => {
    const caller = await gateway.authenticate(secret)
    return gateway.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'Hello' }] }, { caller })
  }
  await waitFor(async () => {
    const subscribers = await server.admin(redis => redis.pubsub('NUMSUB', 'signalbox:changes'))
    expect(subscribers[1]).toBe(2)
  })
  return { here, there, server, keys, call }
}

const codeOf = (run: Promise<unknown>): Promise<unknown> =>
  run.then(
    () => 'done',
    (error: { readonly code?: string }) => error.code,
  )

const soon = <T>(look: () => Promise<T>, wanted: T) => waitFor(async () => expect(await look()).toEqual(wanted), { interval: 20 })

describeServer('a change in one process reaches the other', () => {
  test('a revoked key is refused', async () => {
    const { here, there, call } = await scene()
    const { id, secret } = await here.workspaces('w').apiKeys.create({ name: 'k', scopes: '*' })
    expect(await codeOf(call(there, secret))).toBe('done')
    await here.workspaces('w').apiKeys.revoke(id)
    await soon(() => codeOf(call(there, secret)), 'invalid_api_key')
  })

  test('a key below a revoked one is refused, and those of other workspaces still work', async () => {
    const { here, there, call } = await scene()
    await here.workspaces.create({ id: 'other', name: 'O', billing: 'postpaid' })
    const { id, scopes } = await here.workspaces('w').apiKeys.create({ name: 'above', scopes: '*' })
    const { secret } = await here
      .workspaces('w', { key: { id, name: 'above', scopes: new Set(scopes) } })
      .apiKeys.create({ name: 'below', scopes: ['inference:invoke'] })
    const { secret: stranger } = await here.workspaces('other').apiKeys.create({ name: 'k', scopes: '*' })
    for (const each of [secret, stranger]) expect(await codeOf(call(there, each))).toBe('done')
    await here.workspaces('w').apiKeys.revoke(id)
    await soon(() => codeOf(call(there, secret)), 'invalid_api_key')
    expect(await codeOf(call(there, stranger))).toBe('done')
  })

  test('a revoked session is refused, and others still work', async () => {
    const { here, there, call } = await scene()
    const { sessions } = here.workspaces('w')
    const [gone, kept] = [await sessions.create({ user: 'u1' }), await sessions.create({ user: 'u1' })]
    for (const { token } of [gone, kept]) expect(await codeOf(call(there, token))).toBe('done')
    await sessions.revoke(gone.id)
    await soon(() => codeOf(call(there, gone.token)), 'invalid_api_key')
    expect(await codeOf(call(there, kept.token))).toBe('done')
  })

  test('settings, limits and budgets apply', async () => {
    const { here, there, call } = await scene()
    const { id, secret } = await here.workspaces('w').apiKeys.create({ name: 'k', scopes: '*' })
    expect(await codeOf(call(there, secret))).toBe('done')
    await here.workspaces('w').settings.update({ blockedProviders: ['vendor'] })
    const before = await codeOf(call(here, secret))
    expect(before).not.toBe('done')
    await soon(() => codeOf(call(there, secret)), before)
    await here.workspaces('w').settings.update({ blockedProviders: null })
    await soon(() => codeOf(call(there, secret)), 'done')
    await here.workspaces('w').apiKeys.update(id, { rateLimitRpm: 1 })
    await soon(() => codeOf(call(there, secret)), 'requests_per_min_exceeded')
  })

  test('a provider key of the workspace is used after it is added, changed and deleted', async () => {
    const { here, there, call, keys } = await scene()
    const { secret } = await here.workspaces('w').apiKeys.create({ name: 'k', scopes: '*' })
    const usedThere = async (): Promise<unknown> => {
      await call(there, secret)
      return keys.at(-1)
    }
    expect(await usedThere()).toBe('Bearer of-the-operator')
    const { id } = await here.workspaces('w').byokKeys.create({ provider: 'vendor', name: 'own', apiKey: 'vendor-key-0123456789' })
    await soon(usedThere, 'Bearer vendor-key-0123456789')
    await here.workspaces('w').byokKeys.delete(id)
    await soon(usedThere, 'Bearer of-the-operator')
  })

  test('a new key is accepted at once, even if it was refused just before it was created', async () => {
    const { here, there, call } = await scene()
    const chosen = 'ak_chosen-by-an-operator'
    expect(await codeOf(call(there, chosen))).toBe('invalid_api_key')
    await here.workspaces('w').apiKeys.create({ name: 'k', scopes: '*', secret: chosen })
    await waitFor(async () => expect(await codeOf(call(there, chosen))).toBe('done'), { interval: 5 })
    const { secret } = await here.workspaces('w').apiKeys.create({ name: 'generated', scopes: '*' })
    expect(await codeOf(call(there, secret))).toBe('done')
  })
})

describeServer('messages that are lost', () => {
  test('during an outage are caught up when it ends', async () => {
    const { here, there, server, call } = await scene()
    const { id, secret } = await here.workspaces('w').apiKeys.create({ name: 'k', scopes: '*' })
    expect(await codeOf(call(there, secret))).toBe('done')
    await server.signal('SIGKILL')
    await here.workspaces('w').apiKeys.revoke(id)
    await server.restart()
    await waitFor(async () => expect(await codeOf(call(there, secret))).toBe('invalid_api_key'), { interval: 50 })
  })

  test('missed through a cut connection are caught up when it is back', async () => {
    const { here, there, server, call } = await scene()
    const { id, secret } = await here.workspaces('w').apiKeys.create({ name: 'k', scopes: '*' })
    expect(await codeOf(call(there, secret))).toBe('done')
    await server.admin(redis => redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub'))
    await here.workspaces('w').apiKeys.revoke(id)
    await waitFor(async () => expect(await codeOf(call(there, secret))).toBe('invalid_api_key'), { interval: 50 })
  })
})

describeServer('messages', () => {
  test('are received again after a firewall silently dropped the subscription', async () => {
    const server = await testRedis()
    const sockets: { readonly client: Socket; readonly redis: Socket }[] = []
    const firewall = createTcpServer(client => {
      const redis = connect(server.port, '127.0.0.1')
      sockets.push({ client, redis })
      client.on('error', () => {}).on('close', () => redis.destroy())
      redis.on('error', () => {}).on('close', () => client.destroy())
      client.pipe(redis).pipe(client)
    })
    await new Promise<void>(resolve => firewall.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void firewall.close())
    const stores = redisStores({ url: `redis://127.0.0.1:${(firewall.address() as AddressInfo).port}` })
    onTestFinished(() => stores.close())
    let heard = 0
    stores.changes.subscribe(() => {
      heard += 1
    })
    await waitFor(() => expect(heard).toBe(1))
    for (const { client, redis } of sockets) {
      client.unpipe(redis).resume()
      redis.unpipe(client).resume()
    }
    // It listens over another connection, and all that is cached may have changed.
    await waitFor(() => expect(heard).toBe(2))
    await server.admin(redis => redis.publish('signalbox:changes', '{}'))
    await waitFor(() => expect(heard).toBe(3))
  })

  test('contain the names of records, not their content', async () => {
    const { here, server } = await scene()
    const messages: string[] = []
    await server.admin(async redis => {
      redis.on('message', (_, message) => messages.push(message))
      await redis.subscribe('signalbox:changes')
      const { id, secret } = await here.workspaces('w').apiKeys.create({ name: 'my name', scopes: '*' })
      await here.workspaces('w').byokKeys.create({ provider: 'vendor', name: 'own', apiKey: 'vendor-key-0123456789' })
      await waitFor(() => expect(messages.join()).toContain('credential'))
      expect(messages.join()).toContain(`["key","w","${id}"]`)
      for (const hidden of [secret, secret.slice(3), 'my name', 'vendor-key', 'inference:invoke'])
        expect(messages.join()).not.toContain(hidden)
    })
  })

  test('that cannot be parsed count as any change, and cause no failure', async () => {
    const { server } = await scene()
    const stores = redisStores({ url: server.url })
    onTestFinished(() => stores.close())
    const heard: unknown[] = []
    stores.changes.subscribe(changes => heard.push(changes))
    await waitFor(() => expect(heard).toEqual([undefined]))
    for (const message of ['', '{', 'null', '{"changes":5}', '{"changes":[["key","w","k"]]}'])
      await server.admin(redis => redis.publish('signalbox:changes', message))
    await waitFor(() => expect(heard).toHaveLength(6))
    expect(heard.slice(1)).toEqual([undefined, undefined, undefined, undefined, [{ kind: 'key', workspaceId: 'w', id: 'k' }]])
  })
})
