import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { expect, onTestFinished, test } from 'vitest'

// Apps bundle their server to one file of ES modules. `ws` is CommonJS and asks for `require`, which is not there.

const program = `
  import { createGateway } from '@signalbox/gateway'
  import { simulated } from '@signalbox/providers'
  import { serve } from '@signalbox/node-http'
  import { memoryStorage } from '@signalbox/storage-memory'
  const gateway = createGateway({ providers: [simulated({ id: 'sim' })], models: [], storage: memoryStorage() })
  const { url } = await serve(gateway, { port: 0 })
  console.log(url)`

test('a server bundled to ES modules starts and responds without `require`, and refuses only WebSockets', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-bundled-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const outfile = join(folder, 'server.mjs')
  await build({
    stdin: { contents: program, resolveDir: import.meta.dirname },
    bundle: true,
    format: 'esm',
    platform: 'node',
    conditions: ['signalbox-source'],
    outfile,
    logLevel: 'error',
  })
  const child = spawn(process.execPath, [outfile], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const { value: url } = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next()
  expect((await fetch(`${url}/healthz`)).status).toBe(200)
  const headers = { upgrade: 'websocket', connection: 'Upgrade' }
  await fetch(`${url}/v1/responses`, { headers }).catch(() => undefined)
  expect((await fetch(`${url}/healthz`)).status).toBe(200)
})

// Tools of Workers bundle to one file. A module that is loaded later then shares what others import of `zod`.
test('an app that imports names of zod, bundled to one file, starts and writes the OpenAPI document', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-bundled-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const contents = `
    import { createGateway } from '@signalbox/gateway'
    import { toFetchHandler } from '@signalbox/fetch-handler'
    import { memoryStorage } from '@signalbox/storage-memory'
    import { lazy, string } from 'zod/v4'
    const parsed = lazy(() => string()).parse('a')
    const handler = toFetchHandler(createGateway({ providers: [], models: [], storage: memoryStorage() }))
    const reply = await handler(new Request('http://x/v1/openapi.json'))
    console.log(reply.status, parsed, Object.keys((await reply.json()).paths).length > 20)`
  const outfile = join(folder, 'app.mjs')
  await build({
    stdin: { contents, resolveDir: import.meta.dirname },
    nodePaths: [join(import.meta.dirname, '../../api/node_modules')],
    ...{ bundle: true, format: 'esm', platform: 'node' },
    ...{ conditions: ['signalbox-source'], outfile, logLevel: 'error' },
  })
  const { stdout } = await promisify(execFile)(process.execPath, [outfile])
  expect(stdout.trim()).toBe('200 a true')
})
