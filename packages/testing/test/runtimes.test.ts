import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bundleInto } from '../tools/runtimes/bundle.ts'
import { type Found, said, tokens } from '../tools/runtimes/scenario.ts'

// The gateway as it is published, in every runtime that we promise, with no network. Run one: `pnpm test runtimes`.

const modules = resolve(import.meta.dirname, '../../../node_modules')
// macOS and others reach their temporary folder by way of a link, and bundlers see through it.
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'signalbox-runtimes-')))

beforeAll(() => bundleInto(folder), 60_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Runtime {
  readonly name: string
  readonly program: string
  readonly args: readonly string[]
}

const runtimes: readonly Runtime[] = [
  { name: 'Node 22', program: join(modules, `node22-linux-${process.arch}/bin/node`), args: ['--no-warnings'] },
  { name: 'Node 24', program: process.execPath, args: ['--no-warnings'] },
  { name: 'Bun', program: join(modules, 'bun/bin/bun.exe'), args: ['--no-install'] },
  // Without a single permission: nothing is read from disk or environment, and nothing goes out.
  {
    name: 'Deno',
    program: join(modules, 'deno/deno'),
    args: ['run', '--quiet', '--no-prompt', '--no-config', '--no-lock', '--no-remote', '--cached-only'],
  },
]

/** The real programs, not wrappers, so that the started process can be ended. */
async function run({ program, args }: Runtime, entry: string): Promise<Found> {
  const quiet = { DENO_DIR: join(folder, 'deno'), DENO_NO_UPDATE_CHECK: '1', DO_NOT_TRACK: '1', NO_COLOR: '1', HOME: folder }
  const { stdout } = await promisify(execFile)(program, [...args, join(folder, `${entry}.mjs`)], {
    cwd: folder,
    env: quiet,
    timeout: 240_000,
  })
  return JSON.parse(stdout)
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/

function expectAll(found: Found): void {
  expect(found.whole).toEqual({ status: 200, requestId: expect.stringMatching(uuid), text: said })
  expect(found.streamed).toMatchObject({
    status: 200,
    type: expect.stringContaining('text/event-stream'),
    requestId: expect.stringMatching(uuid),
    text: said,
  })
  expect(found.streamed.events.slice(0, 4)).toEqual([
    'response.created',
    'response.in_progress',
    'response.output_item.added',
    'response.content_part.added',
  ])
  expect(found.streamed.events.at(-1)).toBe('response.completed')
  expect(found.refused).toEqual({ status: 401, code: 'invalid_api_key' })
  const cost = tokens.input + 2 * tokens.output
  const row = { result: 'ok', inputTokens: tokens.input, outputTokens: tokens.output, cost }
  expect(found.usage).toEqual([
    { ...row, id: found.streamed.requestId, streamed: true },
    { ...row, id: found.whole.requestId, streamed: false },
  ])
  expect(found).toMatchObject({ spent: 2 * cost, held: 0 })
}

describe.each(runtimes)('$name', runtime => {
  const missing = !existsSync(runtime.program)
  test.skipIf(missing)('responds whole and streamed, with memory storage', async () => expectAll(await run(runtime, 'memory')))
  test.skipIf(missing)('responds whole and streamed, with SQLite', async () => expectAll(await run(runtime, 'sqlite')))
})

describe('workerd', () => {
  const missing = !existsSync(join(modules, 'miniflare'))
  test.skipIf(missing)('responds whole and streamed, with memory storage', async () => {
    const { Miniflare } = await import('miniflare')
    const worker = new Miniflare({
      modules: [{ type: 'ESModule', path: join(folder, 'worker.mjs') }],
      modulesRoot: folder,
      compatibilityDate: '2025-09-01',
      host: '127.0.0.1',
      // Otherwise it requests from the network for an example of Cloudflare's request facts.
      cf: false,
    })
    try {
      const response = await worker.dispatchFetch('http://gateway.example/')
      expectAll((await response.json()) as Found)
    } finally {
      await worker.dispose()
    }
  })
})
