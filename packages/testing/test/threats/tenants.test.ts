import { allRoutes as routes } from '@signalbox/api/routes'
import { responsesProvider } from '@signalbox/dialects'
import { type GatewayOptions, usd } from '@signalbox/gateway'
import { memoryStorage } from '@signalbox/storage-memory'
import { describe, expect, test } from 'vitest'
import { testModels } from '../../src/gateway.ts'
import { type Act, acts, scriptedProvider } from '../../src/scripted-provider.ts'
import { ask } from '../matrix/asking.ts'
import { waitFor } from '../waits.ts'
import { outcome, type Scene, scene } from './scene.ts'

/** Two workspaces with money and a key each, and their providers. */
async function town(
  options: {
    readonly acts?: readonly Act[]
    readonly storage?: ReturnType<typeof memoryStorage>
    readonly second?: boolean
    readonly limits?: GatewayOptions['limits']
  } = {},
) {
  const { storage = memoryStorage(), second = false } = options
  const providers = ['p', ...(second ? ['q'] : [])].map(id =>
    scriptedProvider({ id, dialect: responsesProvider, acts: id === 'p' ? (options.acts ?? []) : [] }),
  )
  const models = testModels(providers.map(({ id }) => ({ id, dialect: 'responses' })))
  const here = await scene({ storage, providers, models, strategy: 'order', ...(options.limits && { limits: options.limits }) })
  const keys: Record<string, string> = {}
  for (const id of ['w', 'other']) {
    await here.gateway.workspaces(id).billing.credit({ reference: 'first', amount: 1_000_000_000 })
    keys[id] = (await here.gateway.workspaces(id).apiKeys.create({ name: id, scopes: '*' })).secret
  }
  const say = (workspaceId: string, body: object = {}) =>
    here.gateway.responses.create({ model: 'test-model', input: 'The same words.', ...body }, { apiKey: keys[workspaceId] ?? '' })
  return { ...here, providers, keys, say }
}

/** A store, and the names under which conversations are looked up and written down in it. */
function listening(): { readonly names: Set<string>; readonly storage: ReturnType<typeof memoryStorage> } {
  const names = new Set<string>()
  // Routers publish only to a shared store.
  const storage = { ...memoryStorage(), isShared: true }
  const { routing } = storage
  if (!routing) return { names, storage }
  const readers: typeof routing.readers = (key, at) => {
    names.add(key)
    return routing.readers(key, at)
  }
  const remember: typeof routing.remember = (notes, at) => {
    for (const { key } of notes) names.add(key)
    return routing.remember(notes, at)
  }
  return { names, storage: { ...storage, routing: { ...routing, readers, remember } } }
}

/** Answers that come once they are let. */
function gated(count: number): { readonly acts: readonly Act[]; readonly open: () => void } {
  const gate = Promise.withResolvers<void>()
  const late: Act = context =>
    new Promise((resolve, reject) => {
      context.signal.addEventListener('abort', () => reject(context.signal.reason))
      void gate.promise.then(() => resolve(acts.reply('In the end.')(context)))
    })
  return { acts: Array.from({ length: count }, () => late), open: gate.resolve }
}

const rowsOf = ({ gateway }: Scene, id: string) => gateway.workspaces(id).analytics.requests({ limit: 100 })

describe('state of one workspace', () => {
  test('does not affect routing of another, in any order of requests', async () => {
    const { gateway, say } = await town()
    const strict = gateway.workspaces('w')
    await strict.settings.update({ blockedProviders: ['p'] })
    for (const id of ['w', 'other', 'other', 'w', 'other']) {
      const said = await outcome(say(id))
      expect([id, typeof said === 'string']).toEqual([id, id === 'w'])
    }
    await strict.settings.update({ blockedProviders: [] })
    await gateway.workspaces('other').settings.update({ allowedModels: [] })
    for (const id of ['other', 'w', 'other']) expect([id, typeof (await outcome(say(id)))]).toEqual([id, id === 'w' ? 'object' : 'string'])
  })

  test('limits no other: neither its budget nor its limits, and no money is spent by another', async () => {
    const { gateway, say } = await town()
    const mine = gateway.workspaces('w')
    await mine.budgets.create({ name: 'nothing more', limit: usd(0.000_001), enforce: true })
    await mine.budgets.create({ name: 'only watching', limit: usd(5) })
    for (const id of ['w', 'other', 'other', 'w', 'other']) {
      const said = await outcome(say(id))
      expect([id, typeof said === 'string' ? said : 'answered']).toEqual([id, id === 'w' ? 'budget_exceeded' : 'answered'])
    }
    expect((await mine.budgets.list()).map(({ used }) => used)).toEqual([0, 0])
    expect((await mine.billing.balance()).spent).toBe(0)
    expect((await gateway.workspaces('other').billing.balance()).spent).toBeGreaterThan(0)
  })

  test('uses no rate limit of another: each has its own requests a minute, and each key too', async () => {
    const { say, gateway } = await town({ limits: { inferenceRpm: 3, workspace: { requestsPerMinute: 4 } } })
    const codeOf = async (asked: Promise<unknown>): Promise<string> => {
      const said = await outcome(asked)
      return typeof said === 'string' ? said : 'answered'
    }
    const refused = 'requests_per_min_exceeded'
    for (const id of ['w', 'other']) {
      const said: string[] = []
      for (let at = 0; at < 4; at++) said.push(await codeOf(say(id)))
      expect(said).toEqual(['answered', 'answered', 'answered', refused])
      const { secret: apiKey } = await gateway.workspaces(id).apiKeys.create({ name: 'second' })
      const second = () => gateway.responses.create({ model: 'test-model', input: 'Hi' }, { apiKey })
      expect([await codeOf(second()), await codeOf(second())]).toEqual(['answered', refused])
    }
  })

  test('uses no management rate of another: each key has its own, and reads and writes are separate', async () => {
    const { api, keys } = await town({ limits: { managementReadsRpm: 2, managementWritesRpm: 1 } })
    for (const id of ['w', 'other']) {
      const read = async () => (await ask({ api, secret: keys[id] }, `GET /v1/workspaces/${id}/settings`)).status
      const write = async () =>
        (await ask({ api, secret: keys[id] }, `PATCH /v1/workspaces/${id}/settings`, { body: { name: 'n' } })).status
      const said: number[] = []
      for (const call of [read, write, read, write, read]) said.push(await call())
      expect([id, said]).toEqual([id, [200, 202, 200, 429, 429]])
    }
  })

  test('allows only its own number of concurrent requests', async () => {
    const { acts: four, open } = gated(4)
    const { say, providers } = await town({ acts: four, limits: { concurrentRequests: 2 } })
    const refused: unknown[] = []
    const asked = ['w', 'other', 'w', 'other', 'w', 'other'].map(async id => {
      const said = await outcome(say(id))
      if (typeof said === 'string') refused.push(said)
    })
    await waitFor(() => expect(refused).toEqual(['concurrent_requests_exceeded', 'concurrent_requests_exceeded']))
    await waitFor(() => expect(providers[0]?.calls).toHaveLength(4))
    open()
    await Promise.all(asked)
    expect(refused).toHaveLength(2)
  })

  test('about conversations has keys that no other can have, whatever their names', async () => {
    const long = 'The same long beginning. '.repeat(400)
    const named = ['mine', 'other test-model =mine', 'w test-model #'].map(prompt_cache_key => ({ prompt_cache_key }))
    const namesOf = async (id: string): Promise<ReadonlySet<string>> => {
      const { names, storage } = listening()
      const { say, gateway } = await town({ storage, second: true })
      for (const body of [{}, ...named]) await say(id, { input: long, ...body })
      await gateway.close()
      expect(names.size).toBe(1 + named.length)
      return names
    }
    const [mine, theirs] = [await namesOf('w'), await namesOf('other')]
    expect([...mine].filter(name => theirs.has(name))).toEqual([])
    expect([...(await namesOf('w'))]).toEqual([...mine])
    for (const name of [...mine, ...theirs]) expect(name).toMatch(/^[0-9a-f]{64}$/)
  })

  test('gives no 304 to another', async () => {
    const { api, keys, gateway } = await town()
    await gateway.workspaces('w').settings.update({ allowedModels: ['test-model'] })
    for (const row of routes.filter(({ cache, needs }) => cache !== undefined && needs !== 'nothing')) {
      const call = `GET ${row.path.replace(/:[a-z_]+\+?/, 'test-model')}`
      const [mine, theirs] = [await ask({ api, secret: keys.w }, call), await ask({ api, secret: keys.other }, call)]
      const asked = { headers: { 'if-none-match': theirs.headers.etag ?? '' } }
      const again = await ask({ api, secret: keys.w }, call, asked)
      expect([call, again.status]).toEqual([call, mine.text === theirs.text ? 304 : 200])
      const stranger = await ask({ api, secret: undefined }, call, asked)
      expect([stranger.status, stranger.headers.etag]).toEqual([401, undefined])
    }
  })

  test('is no cached response to the same request of another, nor to itself', async () => {
    let count = 0
    const numbered: Act = context => acts.reply(`Answer ${++count}.`)(context)
    const { say } = await town({ acts: Array.from({ length: 4 }, () => numbered) })
    const said = []
    for (const id of ['w', 'other', 'w', 'other']) said.push((await say(id)).output_text)
    expect(said).toEqual(['Answer 1.', 'Answer 2.', 'Answer 3.', 'Answer 4.'])
  })
})

describe('concurrent identical requests', () => {
  test('make one call, one response and one row each', async () => {
    let count = 0
    const numbered: Act = context => acts.stall(5, acts.reply(`Answer ${++count}.`))(context)
    const here = await town({ acts: Array.from({ length: 20 }, () => numbered) })
    const askers = Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? 'w' : 'other'))
    const said = await Promise.all(askers.map(async id => (await here.say(id)).output_text))
    expect(new Set(said).size).toBe(20)
    expect(here.providers[0]?.calls).toHaveLength(20)
    for (const id of ['w', 'other']) {
      await waitFor(async () => expect(await rowsOf(here, id)).toHaveLength(10))
      for (const row of await rowsOf(here, id)) expect([row.workspaceId, row.cost > 0]).toEqual([id, true])
    }
  })

  test('end only for the client that disconnects', async () => {
    const { acts: two, open } = gated(2)
    const here = await town({ acts: two })
    const leaving = new AbortController()
    const body = { model: 'test-model', input: 'The same words.' }
    const left = outcome(here.gateway.responses.create(body, { apiKey: here.keys.w ?? '', signal: leaving.signal }))
    const stayed = here.say('other')
    await waitFor(() => expect(here.providers[0]?.calls).toHaveLength(2))
    leaving.abort()
    await waitFor(() => expect(here.providers[0]?.calls.some(({ aborted }) => aborted)).toBe(true))
    open()
    expect((await stayed).output_text).toBe('In the end.')
    expect(typeof (await left)).toBe('string')
    expect(here.providers[0]?.calls.filter(({ aborted }) => aborted)).toHaveLength(1)
  })
})
