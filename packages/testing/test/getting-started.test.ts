import { type ChildProcess, spawn } from 'node:child_process'
import { copyFileSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createContext, Script } from 'node:vm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { builtPackages } from '../tools/runtimes/built-packages.ts'
import { bundleFiles, forWorkers } from '../tools/runtimes/bundle.ts'
import { freePort } from '../tools/runtimes/free-port.ts'
import {
  askBlock,
  type BlockAnswers,
  embedBlock,
  expectedAnswers,
  fakeProvider,
  gatewayBlock,
  offline,
  startBlock,
} from '../tools/runtimes/page-blocks.ts'
import { serveFakeProvider } from '../tools/runtimes/provider-server.ts'

// The apps of docs/getting-started over the packages as they are published, in every runtime.

const modules = resolve(import.meta.dirname, '../../../node_modules')
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'signalbox-getting-started-')))
const key = 'ak_getting-started-0123456789'
const env = {
  GATEWAY_KEY: key,
  OPENAI_API_KEY: 'sk-nobody',
  DENO_DIR: join(folder, 'deno'),
  DENO_NO_UPDATE_CHECK: '1',
  NO_COLOR: '1',
  HOME: folder,
}
let provider: Awaited<ReturnType<typeof serveFakeProvider>>

beforeAll(async () => {
  provider = await serveFakeProvider()
  await builtPackages()
}, 600_000)
afterAll(() => {
  provider.close()
  rmSync(folder, { recursive: true, force: true })
})

const expected = { ...expectedAnswers, keyId: expect.any(String) }

/** Starts a server, sends the first requests of a new user, and ends it. */
async function run(program: string, args: readonly string[], port: number): Promise<BlockAnswers> {
  const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'ignore', 'inherit'] })
  try {
    const base = `http://127.0.0.1:${port}`
    await untilListening(base, child)
    return await askBlock(fetch, key, base)
  } finally {
    const ended = new Promise(resolve => child.once('exit', resolve))
    if (child.exitCode === null) {
      child.kill()
      await ended
    }
  }
}

async function untilListening(base: string, child: ChildProcess): Promise<void> {
  while (child.exitCode === null) {
    const isUp = await fetch(`${base}/healthz`).then(
      reply => reply.ok,
      () => false,
    )
    if (isUp) return
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  throw new Error(`The server ended with ${child.exitCode}.`)
}

const denoArgs = ['run', '-A', '--quiet', '--no-prompt', '--no-config', '--no-lock', '--no-remote', '--cached-only']

describe.each([
  ['Node', process.execPath, ['--no-warnings']],
  ['Bun', join(modules, 'bun/bin/bun.exe'), ['--no-install']],
  ['Deno', join(modules, 'deno/deno'), denoArgs],
] as const)('on %s', (name, program, args) => {
  test.skipIf(!existsSync(program))('the app responds, creates its workspace and key once, and finds them after a restart', async () => {
    const port = await freePort()
    const files = {
      'gateway.ts': embedBlock(provider.port, `${name}.db`),
      'server.ts': startBlock(name.toLowerCase(), 'server.ts').replace('8787', String(port)),
    }
    await bundleFiles(folder, name, { files, platform: 'node' })
    const first = await run(program, [...args, join(folder, `${name}.mjs`)], port)
    expect(first).toEqual(expected)
    expect(await run(program, [...args, join(folder, `${name}.mjs`)], port)).toEqual(first)
  })
})

test.skipIf(!existsSync(join(modules, 'miniflare')))(
  'on Workers the app responds, and finds its workspace and key after a restart',
  async () => {
    const { Miniflare } = await import('miniflare')
    const files = {
      'offline.ts': offline,
      'index.ts': startBlock('workers', 'src/index.ts'),
      'main.ts': "import './offline.ts'\nexport * from './index.ts'\nexport { default } from './index.ts'\n",
    }
    await bundleFiles(folder, 'workers', { files, ...forWorkers })
    const start = () =>
      new Miniflare({
        modules: [{ type: 'ESModule', path: join(folder, 'workers.mjs') }],
        modulesRoot: folder,
        compatibilityDate: '2025-09-01',
        compatibilityFlags: ['nodejs_compat'],
        bindings: { GATEWAY_KEY: key, OPENAI_API_KEY: 'sk-nobody', SEALING_KEY: '5'.repeat(64) },
        durableObjects: { STORAGE: { className: 'StorageObject', useSQLite: true } },
        durableObjectsPersist: join(folder, 'objects'),
        host: '127.0.0.1',
        cf: false,
      })
    const asking = async (): Promise<BlockAnswers> => {
      const worker = start()
      try {
        return await askBlock(async request => {
          const { method, url, headers } = request
          const body = method === 'GET' ? undefined : await request.text()
          const reply = await worker.dispatchFetch(url, {
            method,
            headers: Object.fromEntries(headers),
            ...(body !== undefined && { body }),
          })
          return new Response(await reply.text(), { status: reply.status })
        }, key)
      } finally {
        await worker.dispose()
      }
    }
    const first = await asking()
    expect(first).toEqual(expected)
    expect(await asking()).toEqual(first)
  },
)

const nextRoute = 'app/api/[...path]/route.ts'

type Route = (request: Request, context: { readonly params: unknown }) => Promise<Response>
type Routes = Readonly<Record<'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS', Route>>

describe('in a catch-all route of Next.js', () => {
  const pathOf = (request: Request, below: string): readonly string[] => new URL(request.url).pathname.slice(below.length + 1).split('/')

  beforeAll(() => {
    const files = {
      'gateway.ts': gatewayBlock(provider.port, join(folder, 'next.db')),
      'route.ts': startBlock('next', nextRoute),
    }
    return bundleFiles(folder, 'next', { files, platform: 'node' })
  })

  test.each(['/api', '/api/llm', '/deep/down/in/the/app'])('the route is mounted at %s, with every method', async prefix => {
    Object.assign(process.env, { GATEWAY_KEY: key })
    // A module of its own for each, and as Node loads it: the test runner would transform megabytes first.
    const file = join(folder, `next${prefix.replaceAll('/', '-')}.mjs`)
    copyFileSync(join(folder, 'next.mjs'), file)
    const routes = createRequire(import.meta.url)(file) as Routes
    const call = (request: Request): Promise<Response> =>
      routes[request.method as keyof Routes](request, { params: Promise.resolve({ path: pathOf(request, prefix) }) })
    expect(await askBlock(call, key, `http://gateway.example${prefix}`)).toEqual(expected)
    for (const method of ['PATCH', 'DELETE'] as const) {
      const gone = new Request(`http://gateway.example${prefix}/v1/workspaces/my-app/api-keys/none`, {
        method,
        headers: { authorization: `Bearer ${key}` },
        ...(method === 'PATCH' && { body: '{}' }),
      })
      expect((await call(gone)).status).toBe(403)
    }
  })

  test('the route runs on the edge too: no Node APIs, no eval, and no randomness or timer while it loads; the path is in the query', async () => {
    const files = {
      'gateway.ts': gatewayBlock(provider.port)
        .replace("import { sqliteStorage } from 'signalbox/sqlite'", "import { memoryStorage } from 'signalbox'")
        .replace(/sqliteStorage\(.*?\)/, 'memoryStorage()'),
      'route.ts': startBlock('next', nextRoute),
    }
    await bundleFiles(folder, 'edge', { files, ...forWorkers, format: 'iife', globalName: 'routes' })
    const edge = edgeContext()
    const routes = edge.load(readFileSync(join(folder, 'edge.mjs'), 'utf8')) as Routes
    const prefix = '/api/edge'
    const call = (request: Request): Promise<Response> => {
      const path = pathOf(request, prefix)
      const query = path.map(segment => `path=${encodeURIComponent(segment)}`).join('&')
      return routes[request.method as keyof Routes](new Request(`${request.url}?${query}`, request), { params: Promise.resolve({ path }) })
    }
    expect(await askBlock(call, key, `http://gateway.example${prefix}`)).toEqual(expected)
  })
})

/** What the edge runtime has: the Web's globals and `process.env`. While a module is loaded, chance and timers throw, as on Workers. */
function edgeContext(): { load(code: string): unknown } {
  let loading = true
  const later =
    <T extends readonly unknown[], R>(name: string, run: (...args: T) => R) =>
    (...args: T): R => {
      if (loading) throw new Error(`Disallowed operation called within global scope: ${name}`)
      return run(...args)
    }
  const answer = new Function(`${fakeProvider}; return globalThis.fakeProvider`)() as (request: Request) => Promise<Response>
  const global = {
    ...{ Request, Response, Headers, URL, URLSearchParams, TextEncoder, TextDecoder, TextDecoderStream, AbortController, AbortSignal },
    ...{ ReadableStream, WritableStream, TransformStream, Blob, FormData, Event, EventTarget, atob, btoa, structuredClone, console },
    ...{ performance, queueMicrotask, Uint8Array, ArrayBuffer },
    process: { env: { GATEWAY_KEY: key } },
    fetch: later('fetch', (...args: Parameters<typeof fetch>) => answer(new Request(...args))),
    setTimeout: later('setTimeout', setTimeout),
    setInterval: later('setInterval', setInterval),
    clearTimeout,
    clearInterval,
    crypto: {
      subtle: crypto.subtle,
      randomUUID: later('randomUUID', () => crypto.randomUUID()),
      getRandomValues: later('getRandomValues', (bytes: Uint8Array<ArrayBuffer>) => crypto.getRandomValues(bytes)),
    },
  }
  const context = createContext({ ...global }, { codeGeneration: { strings: false, wasm: false } })
  return {
    load(code) {
      new Script(`${code}\n;globalThis.routes = routes`).runInContext(context)
      loading = false
      return context.routes
    },
  }
}
