import { writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { waitFor, waitUntil } from '../../testing/test/waits.ts'
import { newFolder, stop, writeConfig } from './launch.ts'
import { countOutcomes, load, meteredConfig, meteredUpstream, type WorkersListening, workersListening } from './workers.ts'

const restarted = 'SIGHUP: the workers were restarted with the current config.'
const refused = 'SIGHUP: no worker could be started with the current config; the running workers continue.'

async function hangUp(server: WorkersListening, answer: string) {
  const before = server.linesWith(answer).length
  server.child.kill('SIGHUP')
  await waitUntil(() => server.linesWith(answer).length > before)
  return server.linesWith(answer).at(-1)
}

/** The list of models, over a connection of its own. */
const modelsOf = ({ url, key }: WorkersListening): Promise<string> =>
  new Promise((resolve, reject) => {
    get(`${url}/v1/models`, { agent: false, headers: { authorization: `Bearer ${key}` } }, response => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () => resolve(text))
    }).on('error', reject)
  })

const connections = inject('isLongRun') ? 16 : 8
const operators = inject('isLongRun') ? ['second', 'third', 'fourth'] : ['second']

test('SIGHUP under load: no request fails, and each restart reads the config again', async () => {
  const folder = newFolder()
  const base = meteredConfig(await meteredUpstream({ streamMs: 300 }))
  const server = await workersListening(2, { folder, config: { ...base, owned_by: 'first' } })
  const running = load(server, connections)
  await waitUntil(() => running.count() > 50)
  for (const operator of operators) {
    writeConfig(folder, { ...base, owned_by: operator })
    await hangUp(server, restarted)
    await waitFor(async () => expect(await modelsOf(server)).toContain(`"owned_by":"${operator}"`))
    const before = running.count()
    await waitUntil(() => running.count() > before + 50)
  }
  const outcomes = await running.stop()
  expect(countOutcomes(outcomes)).toEqual({ 200: outcomes.length })
  expect(server.workers()).toHaveLength(2 + 2 * operators.length)
  expect(await stop(server)).toEqual({ code: 0, signal: null })
  const used = new Set(server.lines().flatMap(({ route, worker }) => (route === '/v1/chat/completions' ? [worker] : [])))
  expect(used.size).toBeGreaterThan(operators.length + 1)
  expect(server.linesWith('A worker exited unexpectedly and is being replaced.')).toEqual([])
  expect(server.out().match(/listens on/g)).toHaveLength(1)
})

test('an invalid config at SIGHUP is logged, and the old workers stay', async () => {
  const folder = newFolder()
  const base = meteredConfig(await meteredUpstream())
  const server = await workersListening(2, { folder, config: base })
  const running = load(server, 4)
  // Wrong by itself, for a worker that starts with it, or on this machine.
  const wrong = [
    ['{ "workers": 2', /^signalbox\.config\.json is not valid JSON/],
    [{ ...base, workers: 'many' }, /^signalbox\.config\.json: `workers` is "many"; it takes `auto`/],
    [{ ...base, storage: 'memory:' }, /^`workers` is 2 and `storage` is "memory:"/],
    [{ ...base, models: [{ ...base.models[0], offers: [{ ...base.models[0]?.offers[0], provider: 'none' }] }] }, /"none"/],
    [{ ...base, host: '192.0.2.1' }, /^Port 0 on 192\.0\.2\.1 is not an address of this machine/],
  ] as const
  for (const [config, error] of wrong) {
    writeConfig(folder, config)
    expect(await hangUp(server, refused)).toMatchObject({
      level: 'error',
      error: expect.stringMatching(error),
      old_workers: 2,
      new_workers: 0,
    })
  }
  const outcomes = await running.stop()
  expect(countOutcomes(outcomes)).toEqual({ 200: outcomes.length })
  expect(server.workers()).toHaveLength(2)
  // And it can be mended.
  writeConfig(folder, { ...base, owned_by: 'mended', workers: 1 })
  expect(await hangUp(server, restarted)).toMatchObject({ workers: 1 })
  await waitFor(async () => expect(await modelsOf(server)).toContain('"owned_by":"mended"'))
  await stop(server)
})

test('a changed catalog file is used by all workers and logged by one', async () => {
  const folder = newFolder()
  const file = join(folder, 'own.json')
  const catalog = (id: string): string => {
    const offers = [{ provider: 'local', provider_model_id: 'm', dialect: 'chat', price: { input: 1, output: 1 } }]
    return JSON.stringify({ as_of: '2026-11-22', models: [{ id, offers }], providers: [] })
  }
  writeFileSync(file, catalog('old'))
  const base = meteredConfig(await meteredUpstream(), { catalog: { file: 'own.json' }, models: [] })
  const server = await workersListening(2, { folder, config: base })
  writeFileSync(file, catalog('the-new-one'))
  await server.says('its models are now in use')
  const lists = await Promise.all(Array.from({ length: 8 }, () => modelsOf(server)))
  expect(lists.every(list => list.includes('the-new-one'))).toBe(true)
  await stop(server)
  const used = new Set(server.lines().flatMap(({ route, worker }) => (route === '/v1/models' ? [worker] : [])))
  expect(used.size).toBe(2)
  expect(server.err().match(/its models are now in use/g)).toHaveLength(1)
})
