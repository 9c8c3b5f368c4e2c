import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../../node-http/test/raw.ts'
import { openWebSocket, upgradeStatus } from '../../node-http/test/web-socket-client.ts'
import { bundleText, forWorkers } from '../tools/runtimes/bundle.ts'
import { webSocketKey } from '../tools/runtimes/web-sockets.ts'

// WebSockets of the fetch handler, in every runtime that has its own: real servers, and `ws` as the client.

const modules = resolve(import.meta.dirname, '../../../node_modules')
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'signalbox-websockets-')))
const bearer = { authorization: `Bearer ${webSocketKey}` }

const programs = {
  bun: `
    import { bunWebSockets } from '@signalbox/fetch-handler'
    import { webSocketHandler } from './web-sockets.ts'
    const webSocket = bunWebSockets({ maxPayloadLength: 100_000 })
    const handler = await webSocketHandler(webSocket)
    const fetch = (request, server) => request.url.endsWith('/drain') ? (webSocket.closeWebSockets(), new Response()) : handler(request, server)
    const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch, websocket: webSocket.handlers })
    console.log(server.port)`,
  deno: `
    import { denoWebSockets } from '@signalbox/fetch-handler'
    import { webSocketHandler } from './web-sockets.ts'
    const webSocket = denoWebSockets()
    const handler = await webSocketHandler(webSocket)
    const fetch = (request, info) => request.url.endsWith('/drain') ? (webSocket.closeWebSockets(), new Response()) : handler(request, info)
    Deno.serve({ port: 0, hostname: '127.0.0.1', onListen: ({ port }) => console.log(port) }, fetch)`,
  workerd: `
    import { workersWebSockets } from '@signalbox/fetch-handler'
    import { webSocketHandler } from './web-sockets.ts'
    const webSocket = workersWebSockets()
    let handler
    export default {
      async fetch(request, env, context) {
        if (!request.url.endsWith('/drain')) return (await (handler ??= webSocketHandler(webSocket)))(request, env, context)
        webSocket.closeWebSockets()
        return new Response()
      },
    }`,
}

beforeAll(async () => {
  await Promise.all([
    bundleText(folder, 'bun', { code: programs.bun }),
    bundleText(folder, 'deno', { code: programs.deno }),
    bundleText(folder, 'workerd', { code: programs.workerd, ...forWorkers }),
  ])
})

const children: ChildProcess[] = []
const closers: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  await Promise.all(closers.map(close => close()))
  rmSync(folder, { recursive: true, force: true })
})

/** Starts a program that prints its port. */
async function startProgram(program: string, args: readonly string[]): Promise<string> {
  const env = { DENO_DIR: join(folder, 'deno-dir'), DENO_NO_UPDATE_CHECK: '1', NO_COLOR: '1', HOME: folder }
  const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  const { value } = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next()
  return `http://127.0.0.1:${value}`
}

async function startWorker(): Promise<string> {
  const { Miniflare } = await import('miniflare')
  const worker = new Miniflare({
    modules: [{ type: 'ESModule', path: join(folder, 'workerd.mjs') }],
    modulesRoot: folder,
    compatibilityDate: '2025-09-01',
    host: '127.0.0.1',
    cf: false,
  })
  closers.push(() => worker.dispose())
  return (await worker.ready).origin
}

const bun = join(modules, 'bun/bin/bun.exe')
const deno = join(modules, 'deno/deno')
const denoArgs = ['run', '--quiet', '--no-prompt', '--no-config', '--no-lock', '--no-remote', '--cached-only', '--allow-net=127.0.0.1']

describe.each([
  { name: 'Bun', isHere: existsSync(bun), start: () => startProgram(bun, ['--no-install', join(folder, 'bun.mjs')]) },
  { name: 'Deno', isHere: existsSync(deno), start: () => startProgram(deno, [...denoArgs, join(folder, 'deno.mjs')]) },
  { name: 'workerd', isHere: existsSync(join(modules, 'miniflare')), start: startWorker },
])('$name', ({ name, isHere, start }) => {
  let url: string
  beforeAll(async () => {
    if (isHere) url = await start()
  })

  test.skipIf(!isHere)('opens a WebSocket for a key, and responds to its messages in order', async () => {
    const { ask, create, heard } = await openWebSocket(url, bearer)
    const first = await ask({ model: 'echo', input: 'Hello.' })
    expect(first.at(0)?.type).toBe('response.created')
    expect(first.at(-1)).toMatchObject({ type: 'response.completed', response: { status: 'completed' } })
    const next = { model: 'echo', input: 'And then?', previous_response_id: first.at(-1)?.response?.id }
    expect((await ask(next)).at(-1)?.type).toBe('response.completed')
    expect(await ask({ ...next, previous_response_id: 'resp_0' })).toMatchObject([
      { status: 400, error: { code: 'previous_response_not_found' } },
    ])
    create({ model: 'echo', input: 'One.' })
    expect((await ask({ model: 'echo', input: 'Two.' })).length).toBeGreaterThan(0)
    expect(heard.at(-1)?.type).toBe('response.completed')
  })

  test.skipIf(!isHere)('refuses an upgrade as it would refuse a request', async () => {
    expect(await upgradeStatus(url, {})).toMatchObject({ status: 401, code: 'invalid_api_key' })
    expect(await upgradeStatus(url, { ...bearer, origin: 'https://evil.example' })).toMatchObject({ status: 403 })
  })

  test.skipIf(!isHere)('calls the sign-in for each message, with the headers of the upgrade', async () => {
    const { ask, untilClosed } = await openWebSocket(url, { cookie: 'user=ann' })
    const hello = { model: 'echo', input: 'Hello.' }
    expect((await ask(hello)).at(-1)?.type).toBe('response.completed')
    expect((await ask(hello)).at(-1)?.type).toBe('response.completed')
    await fetch(`${url}/v1/models/sign-out`, { headers: { cookie: 'user=ann' } })
    expect(await ask(hello)).toMatchObject([{ status: 401, error: { code: 'invalid_api_key' } }])
    expect([1008, 4008]).toContain((await untilClosed()).code)
  })

  test.skipIf(!isHere)('closes a connection that sends something other than text, and keeps serving', async () => {
    const { socket, untilClosed } = await openWebSocket(url, bearer)
    socket.send(Buffer.from('{}'))
    expect([1003, 4003]).toContain((await untilClosed()).code)
    expect((await (await openWebSocket(url, bearer)).ask({ model: 'echo', input: 'Hello.' })).at(-1)?.type).toBe('response.completed')
  })

  // Workers refuse writes to a socket of another request's, so there the program would have to keep to one.
  if (name !== 'workerd')
    test.skipIf(!isHere)('closes its connections on shutdown, after the running response', async () => {
      const idle = await openWebSocket(url, bearer)
      const busy = await openWebSocket(url, bearer)
      const answer = busy.ask({ model: 'echo', input: 'Hello. '.repeat(20) })
      // The two connections are not ordered: the message has come once its response begins.
      await until(() => busy.heard.length > 0)
      await fetch(`${url}/drain`)
      expect([1001, 4001]).toContain((await idle.untilClosed()).code)
      expect((await answer).at(-1)?.type).toBe('response.completed')
      expect([1001, 4001]).toContain((await busy.untilClosed()).code)
      const late = await openWebSocket(url, bearer)
      expect([1001, 4001]).toContain((await late.untilClosed()).code)
    })
})
