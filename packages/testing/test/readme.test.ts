import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { createContext, Script } from 'node:vm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildInto, bundleText, forWorkers } from '../tools/runtimes/bundle.ts'
import { embedding, lastingEmbedding, mountLine, offline, probe } from '../tools/runtimes/readme.ts'

// The block of README.md, word for word, over the packages as they are published, in every place that it names.

const modules = resolve(import.meta.dirname, '../../../node_modules')
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'signalbox-readme-')))
const key = 'ak_for-the-readme-0123456789'

beforeAll(() => buildInto(folder), 120_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const expected = { answer: [200, 'Hello from the block.'], me: [200, 'my-app'], stranger: 401, isSame: true, keyId: expect.any(String) }
const print = 'console.log(JSON.stringify(await probe(handler)))'

async function run(program: string, args: readonly string[], name: string): Promise<{ readonly keyId: string }> {
  const env = {
    GATEWAY_KEY: key,
    OPENAI_API_KEY: '',
    DENO_DIR: join(folder, 'deno'),
    DENO_NO_UPDATE_CHECK: '1',
    NO_COLOR: '1',
    HOME: folder,
  }
  const { stdout } = await promisify(execFile)(program, [...args, join(folder, `${name}.mjs`)], { cwd: folder, env, timeout: 60_000 })
  return JSON.parse(stdout)
}

const denoArgs = ['run', '--quiet', '--no-prompt', '--no-config', '--no-lock', '--no-remote', '--cached-only', '--allow-env']

describe.each([
  ['Node', process.execPath, ['--no-warnings']],
  ['Bun', join(modules, 'bun/bin/bun.exe'), ['--no-install']],
  ['Deno', join(modules, 'deno/deno'), denoArgs],
] as const)('on %s', (name, program, args) => {
  test.skipIf(!existsSync(program))('the block answers, and makes its workspace and key before the first of many requests', async () => {
    await bundleText(folder, 'plain', { code: `${offline}${embedding}\n${probe}\n${print}` })
    expect(await run(program, args, 'plain')).toEqual(expected)
  })

  test.skipIf(!existsSync(program) || name === 'Deno')(
    'with the storage it names for what lasts, a restart finds the same key',
    async () => {
      const file = join(folder, `${name}.db`)
      await bundleText(folder, 'lasting', { code: `${offline}${lastingEmbedding(file)}\n${probe}\n${print}` })
      const first = await run(program, args, 'lasting')
      expect(first).toEqual(expected)
      expect((await run(program, args, 'lasting')).keyId).toBe(first.keyId)
    },
  )
})

test.skipIf(!existsSync(join(modules, 'miniflare')))('on Workers the block starts, and answers from several requests at once', async () => {
  const { Miniflare } = await import('miniflare')
  await bundleText(folder, 'workers', { code: `${offline}${embedding}\n${mountLine('Workers')}`, ...forWorkers })
  const worker = new Miniflare({
    modules: true,
    modulesRoot: folder,
    scriptPath: join(folder, 'workers.mjs'),
    compatibilityDate: '2025-09-01',
    compatibilityFlags: ['nodejs_compat'],
    bindings: { GATEWAY_KEY: key },
    host: '127.0.0.1',
    cf: false,
  })
  try {
    const handle = async (request: Request): Promise<Response> => {
      const { method, url, headers } = request
      const body = method === 'GET' ? undefined : await request.text()
      const reply = await worker.dispatchFetch(url, { method, headers: Object.fromEntries(headers), ...(body !== undefined && { body }) })
      return new Response(await reply.text(), { status: reply.status })
    }
    expect(await probing(handle)).toEqual(expected)
  } finally {
    await worker.dispose()
  }
})

/** The probe in this process. */
async function probing(handle: (request: Request) => Promise<Response>, prefix = ''): Promise<unknown> {
  process.env.GATEWAY_KEY = key
  const made = new Function(`${probe}; return probe`)() as (...args: unknown[]) => Promise<unknown>
  return made(handle, prefix)
}

type Route = (request: Request, context: { readonly params: unknown }) => Promise<Response>
type Routes = Readonly<Record<'GET' | 'POST' | 'PATCH' | 'DELETE', Route>>

describe('in a catch-all route of Next.js', () => {
  const pathOf = (request: Request, below: string): readonly string[] => new URL(request.url).pathname.slice(below.length + 1).split('/')

  test.each(['/api', '/api/llm', '/deep/down/in/the/app'])('the block is mounted at %s, with every method', async prefix => {
    await bundleText(folder, 'next', { code: `${offline}${embedding}\n${mountLine('Next.js')}` })
    process.env.GATEWAY_KEY = key
    const routes = (await import(`${pathToFileURL(join(folder, 'next.mjs')).href}?${encodeURIComponent(prefix)}`)) as Routes
    const call = (request: Request): Promise<Response> =>
      routes[request.method as keyof Routes](request, { params: Promise.resolve({ path: pathOf(request, prefix) }) })
    const real = globalThis.fetch
    expect(await probing(call, prefix)).toEqual(expected)
    globalThis.fetch = real
    for (const method of ['PATCH', 'DELETE'] as const) {
      const gone = new Request(`http://gateway.example${prefix}/v1/workspaces/my-app/api-keys/none`, {
        method,
        headers: { authorization: `Bearer ${key}` },
        ...(method === 'PATCH' && { body: '{}' }),
      })
      expect((await call(gone)).status).toBe(403)
    }
  })

  test('the block runs on the edge too: nothing of Node, no code from text, nothing random and no timer while it loads; the path is in the query', async () => {
    await bundleText(folder, 'edge', {
      code: `${embedding}\n${mountLine('Next.js')}`,
      ...forWorkers,
      format: 'iife',
      globalName: 'routes',
    })
    const edge = edgeContext()
    const routes = edge.load(readFileSync(join(folder, 'edge.mjs'), 'utf8')) as Routes
    const prefix = '/api/edge'
    const call = (request: Request): Promise<Response> => {
      const path = pathOf(request, prefix)
      const query = path.map(segment => `path=${encodeURIComponent(segment)}`).join('&')
      return routes[request.method as keyof Routes](new Request(`${request.url}?${query}`, request), { params: Promise.resolve({ path }) })
    }
    expect(await probing(call, prefix)).toEqual(expected)
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
  const answer = new Function(`${offline.replace('globalThis.fetch =', 'return')}`)() as typeof fetch
  const global = {
    ...{ Request, Response, Headers, URL, URLSearchParams, TextEncoder, TextDecoder, TextDecoderStream, AbortController, AbortSignal },
    ...{ ReadableStream, WritableStream, TransformStream, Blob, FormData, Event, EventTarget, atob, btoa, structuredClone, console },
    ...{ performance, queueMicrotask, Uint8Array, ArrayBuffer },
    process: { env: { GATEWAY_KEY: key } },
    fetch: later('fetch', answer),
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
