import { createServer, type IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { fakeGateway } from '../../api/test/fake-gateway.ts'
import { waitFor } from '../../testing/test/waits.ts'
import { type NodeOptions, serve, toNodeHandler } from '../src/index.ts'
import { sleep, until } from './raw.ts'
import { batchesOf, jsonHeaders, start, stream } from './running.ts'

describe('inside another server', () => {
  const inside = async (
    handle: (request: IncomingMessage & { body?: unknown }) => Promise<void>,
    options: NodeOptions = {},
  ): Promise<string> => {
    const fake = fakeGateway()
    const listener = toNodeHandler(fake.gateway, options)
    const server = createServer((request, response) => {
      void handle(request).then(() => listener(request, response, () => response.end('next')))
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    const address = server.address()
    return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
  }

  test('paths that are not the gateway’s are passed to the next handler', async () => {
    const url = await inside(async () => {}, { basePath: '/api' })
    expect(await (await fetch(`${url}/other`)).text()).toBe('next')
    expect(await (await fetch(`${url}/v1/me`)).text()).toBe('next')
    expect((await fetch(`${url}/api/v1/me`)).status).toBe(401)
    expect((await fetch(`${url}/api/healthz?x=1`)).status).toBe(200)
  })

  test('routes of the host stay its own, even if they resemble the gateway’s', async () => {
    const url = await inside(async () => {})
    for (const path of ['/v1', '/v1/', '/v1/users', '/v1/me/photo', '/v1beta/x', '/healthz/db', '/readyz/', '/v1/responses/x']) {
      expect([path, await (await fetch(`${url}${path}`)).text()]).toEqual([path, 'next'])
    }
    expect((await fetch(`${url}/v1/responses?x=1`)).status).toBe(405)
    expect((await fetch(`${url}/v1/models/meta/llama?x=1`)).status).toBe(401)
  })

  test('a base path may end in a slash', async () => {
    const url = await inside(async () => {}, { basePath: '/api/' })
    expect((await fetch(`${url}/api/healthz`)).status).toBe(200)
    expect(await (await fetch(`${url}/apihealthz`)).text()).toBe('next')
  })

  test('a body that was parsed before is used as it is', async () => {
    const url = await inside(async request => {
      let text = ''
      for await (const chunk of request) text += chunk
      request.body = JSON.parse(text)
    })
    const response = await fetch(`${url}/v1/responses`, {
      method: 'POST',
      headers: jsonHeaders,
      body: '{"model":"small"}',
    })
    expect([response.status, (await response.json()).object]).toEqual([200, 'response'])
  })
})

/** A connection on which one request was answered, and which is open. */
async function keptConnection(port: number) {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  let text = ''
  socket.setEncoding('utf8').on('data', (more: string) => {
    text += more
  })
  const ask = () => socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n')
  ask()
  await until(() => text.includes('{"status":"ok"}'))
  return { socket, ask, text: () => text }
}

describe('serve', () => {
  test('close lets running requests finish, refuses new ones, and aborts after its grace', async () => {
    const fake = fakeGateway()
    let finish: () => void = () => {}
    fake.act = () => ({ batches: () => batchesOf([]), commit: new Promise(resolve => (finish = resolve)) })
    const { url, close } = await serve(fake.gateway, { port: 0, host: '127.0.0.1' })
    const running = stream(url)
    await until(() => fake.calls.length === 1)
    const closed = close({ graceMs: 120_000 })
    await expect(fetch(`${url}/healthz`)).rejects.toThrow()
    finish()
    expect((await running).status).toBe(200)
    await closed
  })

  test('close that keeps idle connections serves one more request on each, and may be followed by one that closes them', async () => {
    const fake = fakeGateway()
    const { port, close } = await serve(fake.gateway, { port: 0, host: '127.0.0.1' })
    const [used, idle] = await Promise.all([keptConnection(port), keptConnection(port)])
    const closed = close({ graceMs: 60_000, keepIdle: true })
    await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow()
    used.ask()
    await until(() => used.socket.closed)
    expect(used.text().match(/HTTP\/1\.1 200/g)).toHaveLength(2)
    expect(used.text().match(/connection: close/gi)).toHaveLength(1)
    await sleep(200)
    expect(idle.socket.closed).toBe(false)
    await close({ graceMs: 1_000 })
    await closed
    await until(() => idle.socket.closed)
  })

  test('the time limits of connections are options', async () => {
    const { server } = await start({ keepAliveTimeoutMs: 620_000, headersTimeoutMs: 20_000, requestTimeoutMs: 1_000 })
    expect(server).toMatchObject({ keepAliveTimeout: 620_000, headersTimeout: 20_000, requestTimeout: 20_000 })
    expect((await start()).server).toMatchObject({ keepAliveTimeout: 65_000, headersTimeout: 10_000, requestTimeout: 300_000 })
  })

  test('connections beyond the maximum are closed as they arrive', async () => {
    const { port, server } = await start({ maxConnections: 2 })
    expect((await start()).server.maxConnections).toBe(10_000)
    const open = async (): Promise<Socket> => {
      const socket = connect(port, '127.0.0.1').on('error', () => {})
      await new Promise(resolve => socket.once('connect', resolve))
      return socket
    }
    const [first, second, third] = [await open(), await open(), await open()]
    await until(() => third.closed || third.readableEnded || third.destroyed)
    expect([first.destroyed, second.destroyed, server.listening]).toEqual([false, false, true])
    for (const socket of [first, second, third]) socket.destroy()
  })

  test('a refused client may not keep half of the connection open', async () => {
    const { port, server } = await start()
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {})
    socket.write('this is not HTTP\r\n\r\n')
    socket.resume()
    const count = (): Promise<number> => new Promise(resolve => server.getConnections((_, open) => resolve(open)))
    await new Promise(resolve => socket.once('end', resolve))
    await waitFor(async () => expect(await count()).toBe(0))
    socket.destroy()
  })

  test('a port in use is an error, not a crash', async () => {
    const fake = fakeGateway()
    const { port, close } = await serve(fake.gateway, { port: 0 })
    await expect(serve(fake.gateway, { port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
    await close()
  })
})
