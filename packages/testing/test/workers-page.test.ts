import { createHmac } from 'node:crypto'
import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { bundleFiles, forWorkers } from '../tools/runtimes/bundle.ts'
import { blocksOf, offline } from '../tools/runtimes/page-blocks.ts'
import { waitUntil } from './waits.ts'

// The Worker with routes of its own of docs/getting-started/workers.md, word for word, in workerd.

const hasWorkerd = existsSync(resolve(import.meta.dirname, '../../../node_modules/miniflare'))
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'signalbox-workers-page-')))
const sessionSecret = 'a secret of the app'

beforeAll(async () => {
  const app = blocksOf('docs/getting-started/workers.md').find(({ file }) => file === 'src/app.ts')
  const files = {
    'offline.ts': offline,
    'app.ts': app?.code ?? '',
    'main.ts': "import './offline.ts'\nexport * from './app.ts'\nexport { default } from './app.ts'\n",
  }
  await bundleFiles(folder, 'app', { files, ...forWorkers })
}, 600_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function startApp() {
  const { Miniflare } = await import('miniflare')
  const worker = new Miniflare({
    modules: [{ type: 'ESModule', path: join(folder, 'app.mjs') }],
    modulesRoot: folder,
    compatibilityDate: '2025-09-01',
    compatibilityFlags: ['nodejs_compat', 'enable_request_signal'],
    bindings: { OPENAI_API_KEY: 'sk-nobody', SEALING_KEY: '5'.repeat(64), SESSION_SECRET: sessionSecret },
    durableObjects: { STORAGE: { className: 'StorageObject', useSQLite: true } },
    d1Databases: { DB: 'log' },
    host: '127.0.0.1',
    cf: false,
  })
  onTestFinished(() => worker.dispose())
  const ask = async (path: string, cookie?: string, body?: object) => {
    const headers = { 'content-type': 'application/json', ...(cookie !== undefined && { cookie }) }
    const post = body && { method: 'POST', body: JSON.stringify(body) }
    const reply = await worker.dispatchFetch(`http://app.example${path}`, { headers, ...post })
    return { status: reply.status, text: await reply.text() }
  }
  return { ask, db: await worker.getD1Database('DB') }
}

const signed = (user: string, secret = sessionSecret): string =>
  `theme=dark; session=${user}.${createHmac('sha256', secret).update(user).digest('base64')}`

test.skipIf(!hasWorkerd)('serves its own routes, responds to signed-in users below /llm, and logs their requests in D1', async () => {
  const { ask, db } = await startApp()
  expect(await ask('/')).toEqual({ status: 200, text: 'The app.' })
  expect(await ask('/llmx/v1/models')).toEqual({ status: 200, text: 'The app.' })
  expect((await ask('/llm/v1/models')).status).toBe(401)
  expect((await ask('/llm/v1/models', signed('u_42', 'another secret'))).status).toBe(401)
  const answer = await ask('/llm/v1/responses', signed('u_42'), { model: 'small', input: 'Hello' })
  expect(answer).toMatchObject({ status: 200, text: expect.stringContaining('Hello from the block.') })
  const rows = async () => (await db.prepare('SELECT count(*) AS rows FROM usage').all<{ readonly rows: number }>()).results[0]?.rows
  await waitUntil(async () => (await rows()) === 1, { interval: 100 })
})
