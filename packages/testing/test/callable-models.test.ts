import { createApi } from '@signalbox/api'
import { responsesProvider } from '@signalbox/dialects'
import type { Model, Offer } from '@signalbox/dialects/protocol'
import { openai } from '@signalbox/providers'
import { expect, test } from 'vitest'
import { acts, fakeClock, scriptedProvider, testGateway, testPrice } from '../src/index.ts'
import { ask } from './matrix/asking.ts'

const offer = (provider: string, more: Partial<Offer> = {}): Offer => ({
  provider,
  model: 'm',
  api: 'responses',
  price: testPrice,
  ...more,
})

const models: readonly Model[] = [
  { id: 'acme/both', offers: [offer('one', { contextWindow: 1_000 }), offer('two', { contextWindow: 2_000 })] },
  { id: 'keyless', offers: [offer('openai')] },
  { id: 'only-two', aliases: ['second'], created: 1_700_000_000, offers: [offer('two')] },
  { id: 'priceless', offers: [{ provider: 'one', model: 'm', api: 'responses' }] },
  { id: 'small', offers: [offer('one', { delivery: 'whole_only' })] },
]

async function scene() {
  const clock = fakeClock({ now: Date.UTC(2026, 1, 3) })
  const providers = [
    ...['one', 'two'].map(id => scriptedProvider({ id, dialect: responsesProvider, clock, acts: [acts.reply()] })),
    openai({}),
  ]
  const { gateway, caller, secret } = await testGateway({ clock, providers, models })
  const api = createApi(gateway)
  const get = (path: string) => ask({ api, secret }, `GET ${path}`)
  const ids = async () => (await get('/v1/models')).json.data.map(({ id }: Model) => id)
  return { gateway, settings: gateway.workspaces(caller.workspaceId).settings, api, secret, get, ids }
}

test('the list of models has those with a credential and a price', async () => {
  const { ids, get } = await scene()
  expect(await ids()).toEqual(['acme/both', 'only-two', 'small'])
  for (const id of ['keyless', 'priceless']) expect((await get(`/v1/models/${id}`)).status).toBe(404)
})

test('the list of models follows the workspace’s settings as soon as they change', async () => {
  const { ids, get, settings } = await scene()
  await settings.update({ allowedModels: ['second', 'small'] })
  expect(await ids()).toEqual(['only-two', 'small'])
  expect((await get('/v1/models/acme/both')).json.error).toMatchObject({
    code: 'model_not_found',
    message: expect.stringContaining('settings'),
  })
  await settings.update({ allowedModels: null, blockedProviders: ['two'] })
  expect(await ids()).toEqual(['acme/both', 'small'])
  expect((await get('/v1/models/acme/both')).json).toMatchObject({ context_window: 1_000, providers: [{ name: 'one' }] })
})

test('every model of the list can be called, and no other', async () => {
  const { ids, api, secret, settings } = await scene()
  await settings.update({ blockedProviders: ['two'] })
  const listed = new Set(await ids())
  for (const { id } of models) {
    const { status } = await ask({ api, secret }, 'POST /v1/responses', { body: { model: id, input: 'Hi' } })
    expect([id, status === 200]).toEqual([id, listed.has(id)])
  }
})

test('a model without a creation time has the start of the process, a family and an author', async () => {
  const { get } = await scene()
  expect((await get('/v1/models/acme/both')).json).toMatchObject({
    created: Date.UTC(2026, 1, 3) / 1_000,
    created_at: '2026-02-03T00:00:00.000Z',
  })
  expect((await get('/v1/models/second')).json).toMatchObject({ id: 'only-two', created: 1_700_000_000 })
  const { json } = await get('/v1/registry/models')
  expect(json.models.map(({ id, family, author }: Model) => [id, family, author])).toEqual([
    ['acme/both', 'both', 'acme'],
    ['keyless', 'keyless', 'openai'],
    ['only-two', 'only-two', 'two'],
    ['priceless', 'priceless', 'one'],
    ['small', 'small', 'one'],
  ])
})
