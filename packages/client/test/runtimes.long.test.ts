import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { createGateway } from '@signalbox/gateway'
import { toNodeHandler } from '@signalbox/node-http'
import { memoryStorage } from '@signalbox/storage-memory'
import { build } from 'esbuild'
import { Miniflare } from 'miniflare'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

// The client in every runtime, a browser too, against a gateway on 127.0.0.1.

const modules = resolve(import.meta.dirname, '../../../node_modules')
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'signalbox-client-')))
const run = promisify(execFile)
const chromium = '/usr/bin/chromium'

/** What each of them finds: a list that is iterated, an error, and a call that is aborted. */
const task = `
export async function task(baseURL, apiKey) {
  const client = createClient({ baseURL, apiKey })
  const names = []
  for await (const { name } of client.apiKeys.list({ limit: 1 })) names.push(name)
  const { code, requestId } = await client.budgets.get('0190a000-0000-7000-8000-00000000dead').catch(error => error)
  const aborted = await client.settings.get({ signal: AbortSignal.abort() }).catch(error => error.name)
  return { names, code, hasId: typeof requestId === 'string', aborted }
}`
const expected = { names: ['admin', 'other'], code: 'resource_not_found', hasId: true, aborted: 'AbortError' }

let base: string
let secret: string
const server = createServer()

/** One module with the client, the task and what starts it. */
async function bundle(name: string, ending: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: {
      contents: `import { createClient } from './src/index.ts'\n${task}\n${ending}`,
      resolveDir: resolve(import.meta.dirname, '..'),
    },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'neutral',
  })
  const text = outputFiles[0]?.text ?? ''
  writeFileSync(join(folder, name), text)
  return text
}

describe('the client', () => {
  beforeAll(async () => {
    const gateway = createGateway({ providers: [], models: [], storage: memoryStorage() })
    const { id } = await gateway.workspaces.create({ name: 'Acme' })
    secret = (await gateway.workspaces(id).apiKeys.create({ name: 'admin', scopes: '*' })).secret ?? ''
    await gateway.workspaces(id).apiKeys.create({ name: 'other' })
    const listener = toNodeHandler(gateway, { basePath: '/api' })
    server.on('request', async (request, response) => {
      if (request.url !== '/') return listener(request, response)
      const script = await bundle(
        'page.js',
        `task(location.origin + '/api', '${secret}').then(found => (document.body.textContent = JSON.stringify(found)))`,
      )
      response.setHeader('content-type', 'text/html').end(`<body><script type="module">${script}</script></body>`)
    })
    await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
    base = `http://127.0.0.1:${(server.address() as { port: number }).port}`
  })
  afterAll(() => {
    server.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const runtimes = [
    { name: 'Node 22', program: join(modules, `node22-linux-${process.arch}/bin/node`), args: [] },
    { name: 'Node 24', program: process.execPath, args: [] },
    { name: 'Bun', program: join(modules, 'bun/bin/bun.exe'), args: [] },
    { name: 'Deno', program: join(modules, 'deno/deno'), args: ['run', '--quiet', '--no-config', '--allow-net=127.0.0.1'] },
  ]
  test.each(runtimes)('runs in $name', async ({ program, args }) => {
    await bundle('script.mjs', `console.log(JSON.stringify(await task('${base}/api', '${secret}')))`)
    const { stdout } = await run(program, [...args, join(folder, 'script.mjs')], { env: { HOME: folder, DENO_DIR: folder, NO_COLOR: '1' } })
    expect(JSON.parse(stdout)).toEqual(expected)
  })

  test('runs in workerd', async () => {
    const script = await bundle(
      'worker.js',
      `export default { fetch: async () => Response.json(await task('${base}/api/v1', '${secret}')) }`,
    )
    const worker = new Miniflare({ modules: [{ type: 'ESModule', path: 'client.mjs', contents: script }], compatibilityDate: '2026-01-01' })
    try {
      expect(await (await worker.dispatchFetch('http://worker.example/')).json()).toEqual(expected)
    } finally {
      await worker.dispose()
    }
  })

  test.skipIf(!existsSync(chromium))('runs in a page', { timeout: 60_000 }, async () => {
    const flags = [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      `--user-data-dir=${join(folder, 'profile')}`,
      '--virtual-time-budget=5000',
    ]
    const { stdout } = await run(chromium, [...flags, '--dump-dom', `${base}/`])
    expect(JSON.parse(/<body>(\{.*?\})<\/body>/.exec(stdout)?.[1] ?? 'null')).toEqual(expected)
  })
})
