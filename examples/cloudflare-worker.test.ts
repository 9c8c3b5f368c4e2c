import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chaosProvider, defaultText } from '@signalbox/testing'
import { type BuildOptions, build } from 'esbuild'
import { Miniflare } from 'miniflare'
import { beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import { waitUntil } from '../packages/testing/test/waits.ts'

// The example in workerd, as its wrangler.jsonc binds it: two Workers over one object, whose files outlive both.

const secret = 'ak_of-the-example'
const root = join(import.meta.dirname, 'cloudflare-worker')
/** Of an answer; a token costs a microdollar. */
const tokens = 104

const bundle = async (entry: BuildOptions): Promise<string> => {
  const { outputFiles } = await build({
    ...entry,
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2023',
    platform: 'browser',
    mainFields: ['module', 'main'],
    conditions: ['signalbox-source', 'workerd', 'worker', 'browser'],
  })
  return outputFiles?.[0]?.text ?? ''
}

/** Tells what the object has kept. */
const readerCode = `
  import { workersStorage } from 'signalbox/workers'
  export default {
    async fetch(request, { STORAGE }) {
      const { usage, ledger } = workersStorage({ objects: STORAGE })
      const rows = await usage.list({ workspaceId: 'app', from: 0, to: Number.MAX_SAFE_INTEGER, limit: 10_000 })
      return Response.json({ rows, holds: await ledger.holds({ limit: 10_000 }), credit: await ledger.balance('credit:app') })
    },
  }`

let scripts: { readonly example: string; readonly reader: string }
beforeAll(async () => {
  const [example, reader] = await Promise.all([
    bundle({ entryPoints: [join(root, 'index.ts')] }),
    bundle({ stdin: { contents: readerCode, resolveDir: root } }),
  ])
  scripts = { example, reader }
})

interface Kept {
  readonly rows: readonly { readonly id: string; readonly cost: number; readonly result: string }[]
  readonly holds: readonly { readonly id: string }[]
  readonly credit: { readonly balance: number; readonly held: number; readonly spent: number }
}

interface Answer {
  readonly status: number
  readonly id: string
  readonly text: string
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-workers-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Two Workers of the example, at http://one and http://two, and the reader. */
function start(folder: string, credit: number, openai: Readonly<Record<string, string>> = {}) {
  const config = JSON.parse(readFileSync(join(root, 'wrangler.jsonc'), 'utf8').replaceAll(/^\s*\/\/.*$/gm, '')) as {
    readonly compatibility_date: string
    readonly compatibility_flags: string[]
    readonly migrations: readonly { readonly new_sqlite_classes: readonly string[] }[]
  }
  const className = config.migrations[0]?.new_sqlite_classes[0] ?? ''
  const worker = (name: string, script: string) => ({
    name,
    modules: [{ type: 'ESModule' as const, path: 'worker.mjs', contents: script }],
    compatibilityDate: config.compatibility_date,
    compatibilityFlags: config.compatibility_flags,
    routes: [`${name}/*`],
    bindings: { GATEWAY_KEY: secret, SEALING_KEY: '5'.repeat(64), CREDIT_USD: String(credit / 1_000_000), ...openai },
    durableObjects: { STORAGE: { className, useSQLite: true, ...(name !== 'one' && { scriptName: 'one' }) } },
  })
  const miniflare = new Miniflare({
    cf: false,
    durableObjectsPersist: folder,
    workers: [worker('one', scripts.example), worker('two', scripts.example), worker('reader', scripts.reader)],
  })
  let isOver = false
  const stop = async (): Promise<void> => {
    if (!isOver) await miniflare.dispose()
    isOver = true
  }
  onTestFinished(stop)
  const ask = async (at: number, stream = false): Promise<Answer> => {
    const response = await miniflare.dispatchFetch(`http://${at % 2 ? 'one' : 'two'}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'assistant', input: 'Trains', max_output_tokens: tokens, stream }),
    })
    return { status: response.status, id: response.headers.get('x-request-id') ?? '', text: await response.text() }
  }
  const kept = async (): Promise<Kept> => (await miniflare.dispatchFetch('http://reader/')).json() as Promise<Kept>
  return { ask, kept, stop, ready: miniflare.ready }
}

test('answers whole and streamed, and what it has kept is there after a restart', async () => {
  const folder = newFolder()
  const before = start(folder, 10_000)
  const whole = await before.ask(0)
  const streamed = await before.ask(1, true)
  expect([whole.status, streamed.status]).toEqual([200, 200])
  expect(whole.text).toContain('signalbox at a junction')
  expect(streamed.text).toMatch(/event: response\.created[\s\S]*event: response\.(completed|incomplete)/)
  await before.stop()
  const after = start(folder, 10_000)
  const { rows, credit, holds } = await after.kept()
  expect(rows.map(({ id }) => id)).toEqual([streamed.id, whole.id])
  expect({ credit, holds }).toMatchObject({ credit: { balance: 10_000 - 2 * tokens, held: 0 }, holds: [] })
  expect((await after.ask(0)).status).toBe(200)
  expect((await after.kept()).credit.balance).toBe(10_000 - 3 * tokens)
})

if (inject('isLongRun'))
  test('with a key of OpenAI, that answers', async () => {
    const provider = await chaosProvider()
    onTestFinished(() => provider.close())
    const { ask } = start(newFolder(), 10_000, { OPENAI_API_KEY: 'sk-example', OPENAI_BASE_URL: provider.url })
    const { text } = await ask(0)
    expect(JSON.parse(text)).toMatchObject({ output: [{ content: [{ text: defaultText }] }], routing_metadata: { provider: 'openai' } })
    expect(provider.requests[0]?.headers.authorization).toBe('Bearer sk-example')
  })

test('a stream whose client disconnects is settled soon, and leaves no hold', async () => {
  const { ask, kept, ready } = start(newFolder(), 10_000)
  await ask(0)
  const { hostname, port } = await ready
  const leaving = request({
    ...{ hostname, port, method: 'POST', path: '/v1/responses' },
    headers: { host: 'one', authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
  })
  leaving.on('error', () => {})
  leaving.end(JSON.stringify({ model: 'assistant', input: 'Trains', max_output_tokens: tokens, stream: true }))
  const [response] = (await once(leaving, 'response')) as [NodeJS.ReadableStream]
  response.on('error', () => {})
  await once(response, 'data')
  leaving.destroy()
  await waitUntil(async () => (await kept()).rows.length === 2, { interval: 200 })
  const { rows, holds, credit } = await kept()
  expect(rows.map(({ result }) => result).sort()).toEqual(['abandoned', 'ok'])
  expect({ holds, held: credit.held, spent: credit.spent }).toEqual({
    holds: [],
    held: 0,
    spent: rows.reduce((sum, { cost }) => sum + cost, 0),
  })
})

const race = inject('isLongRun') ? { requests: 1_000, affordable: 333 } : { requests: 75, affordable: 25 }

test(`two Workers at once admit ${race.affordable} of ${race.requests} requests on the credit for them`, async () => {
  const { ask, kept } = start(newFolder(), race.affordable * tokens)
  const answers = await Promise.all(Array.from({ length: race.requests }, (_, at) => ask(at, at % 4 === 0)))
  const count = (wanted: number) => answers.filter(({ status }) => status === wanted).length
  expect({ 200: count(200), 402: count(402) }).toEqual({ 200: race.affordable, 402: race.requests - race.affordable })
  const { rows, credit } = await kept()
  expect(rows.filter(({ cost }) => cost > 0)).toHaveLength(race.affordable)
  expect(credit).toMatchObject({ balance: 0, held: 0, spent: race.affordable * tokens })
})

const kills = 6

// It waits until holds are old enough to be settled.
if (inject('isLongRun'))
  test('Workers that are stopped at random lose no settlement, charge none twice, and leave no hold', async () => {
    const folder = newFolder()
    const answered: string[] = []
    for (let round = 0; round < kills; round++) {
      const workers = start(folder, 10_000_000)
      await workers.ask(0).then(({ id }) => answered.push(id))
      let isRunning = true
      const client = async (at: number): Promise<void> => {
        while (isRunning) {
          const answer = await workers.ask(at, at % 2 === 0).catch(() => undefined)
          const isWhole = answer?.status === 200 && /response\.(completed|incomplete)|"status":"(completed|incomplete)"/.test(answer.text)
          if (answer && isWhole) answered.push(answer.id)
        }
      }
      const clients = Array.from({ length: 16 }, (_, at) => client(at))
      await new Promise(resolve => setTimeout(resolve, 500 + Math.random() * 2_000))
      isRunning = false
      await workers.stop()
      await Promise.race([Promise.all(clients), new Promise(resolve => setTimeout(resolve, 2_000))])
    }
    const after = start(folder, 10_000_000)
    await after.ask(0)
    const { rows, credit } = await after.kept()
    const ids = new Set(rows.map(({ id }) => id))
    expect(ids.size).toBe(rows.length)
    expect(answered.length).toBeGreaterThan(kills * 5)
    expect(answered.filter(id => !ids.has(id))).toEqual([])
    expect(credit.spent).toBe(rows.reduce((sum, { cost }) => sum + cost, 0))
    // A hold that stood still for 45 s is settled as `interrupted`, by a Worker that gets requests.
    const until = Date.now() + 120_000
    while ((await after.kept()).holds.length > 0 && Date.now() < until) {
      await new Promise(resolve => setTimeout(resolve, 3_000))
      await Promise.all([after.ask(0), after.ask(1)])
    }
    const end = await after.kept()
    expect(end.holds).toEqual([])
    expect(end.credit.held).toBe(0)
    expect(end.credit.spent).toBe(end.rows.reduce((sum, { cost }) => sum + cost, 0))
  })
