import { setImmediate } from 'node:timers/promises'
import { chatProvider } from '@signalbox/dialects'
import { toFetchHandler } from '@signalbox/fetch-handler'
import { createGateway } from '@signalbox/gateway'
import { simulated } from '@signalbox/providers'
import type { Storage } from '@signalbox/storage'
import { memoryStorage } from '@signalbox/storage-memory'
import { expect, onTestFinished, test } from 'vitest'
import { acts, fakeClock, scriptedProvider } from '../src/index.ts'

// A gateway whose store admits requests and then accepts no settlement, as a client of it sees that.

async function scene(requests: number) {
  const kept = memoryStorage()
  const state = { isDown: false }
  const settle: Storage['settle'] = settlement =>
    state.isDown ? Promise.reject(new Error('ENOSPC: no space left on device')) : kept.settle(settlement)
  const storage: Storage = { ...kept, settle }
  const clock = fakeClock()
  const script = Array.from({ length: requests }, () => acts.reply())
  const providers = [scriptedProvider({ id: 'one', dialect: chatProvider, clock, acts: script })]
  const models = [{ id: 'model', offers: [{ provider: 'one', model: 'm', api: 'chat', price: { input: 1, output: 1 } }] }]
  const logger = { info: () => {}, warn: () => {}, error: () => {} }
  const limits = { inferenceRpm: 100_000 }
  const gateway = createGateway({ providers, models, storage, clock, logger, limits })
  await gateway.workspaces.create({ id: 'w', name: 'W', billing: 'postpaid' })
  const { secret } = await gateway.workspaces('w').apiKeys.create({ name: 'k', scopes: '*' })
  const handler = toFetchHandler(gateway)
  const ask = (...context: readonly unknown[]): Promise<Response> =>
    handler(
      new Request('http://x/v1/responses', {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'model', input: 'Hi' }),
      }),
      ...context,
    )
  const rows = async () => (await kept.usage.list({ workspaceId: 'w', from: 0, to: Number.MAX_SAFE_INTEGER, limit: 5_000 })).length
  return { gateway, state, clock, ask, rows }
}

test('while a thousand settlements are queued, new requests get 503 with Retry-After and readiness fails, until the queue is empty', async () => {
  const { gateway, state, clock, ask, rows } = await scene(1_100)
  state.isDown = true
  for (let n = 0; n < 1_000; n++) expect((await ask()).status).toBe(200)
  const refused = await ask()
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
  expect(await refused.json()).toMatchObject({ error: { code: 'service_unavailable' } })
  expect((await gateway.health()).problems.join()).toContain('settlements are waiting')
  state.isDown = false
  for (let second = 0; second < 10; second++) await clock.advance(1_000)
  expect(await rows()).toBe(1_000)
  expect((await ask()).status).toBe(200)
  expect((await gateway.health()).problems).toEqual([])
})

test('a runtime without a disk that freezes after its response gets a `waitUntil` for its reply and its settlement', async () => {
  const { state, clock, ask, rows } = await scene(2)
  const context = {
    work: [] as Promise<unknown>[],
    waitUntil(work: Promise<unknown>): void {
      this.work.push(work)
    },
  }
  await ask(context)
  const looks = context.work.length
  await Promise.all(context.work)
  state.isDown = true
  expect((await ask(context)).status).toBe(200)
  let isOver = false
  void context.work.at(-1)?.then(() => {
    isOver = true
  })
  for (let second = 0; second < 5; second++) await clock.advance(1_000)
  expect([context.work.length - looks, isOver, await rows()]).toEqual([3, false, 1])
  state.isDown = false
  for (let second = 0; second < 5; second++) await clock.advance(1_000)
  expect([isOver, await rows()]).toEqual([true, 2])
})

test('an in-process call is passed to the gateway’s `waitUntil` for as long as it lasts', async () => {
  const work: Promise<unknown>[] = []
  const gateway = createGateway({
    providers: [simulated({ id: 'sim', firstWordMs: 0, wordMs: 0 })],
    models: [{ id: 'story', offers: [{ provider: 'sim', model: 'story', api: 'chat', price: { input: 0, output: 1 } }] }],
    storage: memoryStorage(),
    waitUntil: promise => void work.push(promise),
    async setup({ workspaces }) {
      await workspaces.create({ id: 'app', name: 'App', billing: 'postpaid' })
    },
  })
  onTestFinished(() => gateway.close())
  const caller = await gateway.workspaces('app').asUser({ user: 'u' })
  const stream = await gateway.responses.create({ model: 'story', input: 'Hi', stream: true }, { caller })
  const handed = work.length
  let isOver = false
  void Promise.all(work).then(() => {
    isOver = true
  })
  await setImmediate()
  expect([handed > 0, isOver]).toEqual([true, false])
  for await (const _ of stream);
  await Promise.all(work)
})
