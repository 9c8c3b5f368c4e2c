import { connect, type Socket } from 'node:net'
import { responsesProvider } from '@signalbox/dialects'
import { toFetchHandler } from '@signalbox/fetch-handler'
import { serve } from '@signalbox/node-http'
import { memoryStorage } from '@signalbox/storage-memory'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type TestGateway, testGateway } from '../../src/gateway.ts'
import { scriptedProvider } from '../../src/scripted-provider.ts'
import { serveFetch } from '../fetch-server.ts'
import { waitFor, waitMs, waitUntil } from '../waits.ts'

interface Limits {
  readonly maxBodyBytes?: number
  readonly maxUploadBytesPerWorkspace?: number
  readonly maxUploadBytes?: number
}

interface Under extends TestGateway {
  readonly port: number
  key(limits: { rateLimitRpm?: number; concurrentRequests?: number }): Promise<string>
  /** Resolves once so many requests have taken their slot. */
  admitted(count: number): Promise<unknown>
}

const adapters = {
  'node-http': async (gateway: TestGateway['gateway'], limits: Limits) => serve(gateway, { port: 0, ...limits }),
  'the fetch handler': async (gateway: TestGateway['gateway'], limits: Limits) => serveFetch(toFetchHandler(gateway, limits)),
}

const wait = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms))

/** Sends the head of a request and the given part of its body, and waits for the response. */
function upload(
  port: number,
  secret: string,
  { length, body = '', path = '/v1/responses' }: { length?: number; body?: string; path?: string },
) {
  const socket: Socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  let text = ''
  socket.on('data', piece => (text += piece)).on('error', () => {})
  const framing = length === undefined ? 'transfer-encoding: chunked' : `content-length: ${length}`
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${secret}\r\ncontent-type: application/json\r\n${framing}\r\n\r\n${body}`,
  )
  const status = (): number => Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0)
  return {
    socket,
    text: () => text,
    status,
    /** 0: no response for so long. */
    answered: async (ms = waitMs) => {
      for (const end = performance.now() + ms; status() === 0 && performance.now() < end; ) await wait(10)
      return status()
    },
  }
}

const question = JSON.stringify({ model: 'test-model', input: 'Hi' })
const chunk = (bytes: number): string => `${bytes.toString(16)}\r\n${' '.repeat(bytes)}\r\n`

describe.each(Object.entries(adapters))('%s', (_, start) => {
  async function under(limits: Limits = {}): Promise<Under> {
    const provider = scriptedProvider({ id: 'p', dialect: responsesProvider })
    const storage = memoryStorage()
    const entered = new Set<string>()
    const counters: typeof storage.counters = {
      ...storage.counters,
      enter: (place, at) => {
        entered.add(place.slot)
        return storage.counters.enter(place, at)
      },
    }
    const testbed = await testGateway({ providers: [provider], storage: { ...storage, counters } })
    const { url, close } = await start(testbed.gateway, limits)
    onTestFinished(async () => {
      await close()
      await testbed.close()
    })
    const { workspaceId } = testbed.caller
    const key: Under['key'] = async ({ rateLimitRpm, concurrentRequests }) => {
      const { secret } = await testbed.gateway.workspaces(workspaceId).apiKeys.create({
        name: 'k',
        ...(rateLimitRpm !== undefined && { rateLimitRpm }),
        ...(concurrentRequests !== undefined && { limits: { concurrentRequests } }),
      })
      return secret
    }
    const admitted: Under['admitted'] = count => waitUntil(() => entered.size >= count)
    return { ...testbed, port: Number(new URL(url).port), key, admitted }
  }

  test('counts against the rate of a key before it reads the body', async () => {
    const { port, key, admitted } = await under()
    const secret = await key({ rateLimitRpm: 1 })
    const first = upload(port, secret, { length: 20_000_000, body: '{' })
    await admitted(1)
    const second = upload(port, secret, { length: 20_000_000, body: '{' })
    expect(await second.answered()).toBe(429)
    expect(second.text()).toContain('requests_per_min_exceeded')
    expect(second.text()).toMatch(/retry-after: \d+\r\n/i)
    expect(first.status()).toBe(0)
  })

  test('takes a slot before it reads the body, and frees it when the client disconnects', async () => {
    const { port, key, admitted } = await under()
    const secret = await key({ concurrentRequests: 1 })
    const first = upload(port, secret, { length: question.length, body: question.slice(0, 5) })
    await admitted(1)
    expect(await upload(port, secret, { length: 20_000_000, body: '{' }).answered()).toBe(429)
    first.socket.destroy()
    await waitFor(async () => expect(await upload(port, secret, { length: question.length, body: question }).answered()).toBe(200))
  })

  test('counts a request once, whether its body arrived at once or in pieces, and frees its slot', async () => {
    const { port, key, admitted } = await under()
    const secret = await key({ rateLimitRpm: 4, concurrentRequests: 1 })
    for (let at = 0; at < 4; at++) {
      const inPieces = upload(port, secret, { length: question.length, body: at % 2 === 0 ? question : question.slice(0, 5) })
      await admitted(at + 1)
      if (at % 2 === 1) inPieces.socket.write(question.slice(5))
      expect(await inPieces.answered()).toBe(200)
      // Its slot is freed after its response.
      await wait(60)
    }
    expect(await upload(port, secret, { length: question.length, body: question }).answered()).toBe(429)
  })

  test('frees the slot if the body is not a valid request', async () => {
    const { port, key, admitted } = await under()
    const secret = await key({ concurrentRequests: 1 })
    for (const [at, body] of ['{"model":', '{"model":"test-model"}', '{"model":"none","input":"Hi"}'].entries()) {
      const bad = upload(port, secret, { length: body.length, body: body.slice(0, 3) })
      await admitted(at + 1)
      bad.socket.write(body.slice(3))
      expect(await bad.answered()).toBeGreaterThanOrEqual(400)
      expect(bad.text()).not.toContain('concurrent_requests')
    }
    const path = '/v1/messages/count_tokens'
    const counted = JSON.stringify({ model: 'test-model', messages: [{ role: 'user', content: 'Hi' }] })
    for (let at = 0; at < 2; at++) expect(await upload(port, secret, { length: counted.length, body: counted, path }).answered()).toBe(200)
    expect(await upload(port, secret, { length: question.length, body: question }).answered()).toBe(200)
  })

  test('limits concurrent announced bytes of a workspace’s keys with 429, and of all workspaces with 503', async () => {
    const { port, key, admitted, gateway } = await under({
      maxBodyBytes: 100_000,
      maxUploadBytesPerWorkspace: 250_000,
      maxUploadBytes: 400_000,
    })
    const keyOfAnother = async (): Promise<string> => {
      const { id } = await gateway.workspaces.create({ name: 'another', billing: 'postpaid' })
      return (await gateway.workspaces(id).apiKeys.create({ name: 'k' })).secret
    }
    const [b, c] = [await keyOfAnother(), await keyOfAnother()]
    const open = [await key({}), await key({}), b].map(secret => upload(port, secret, { length: 100_000, body: '{' }))
    await admitted(open.length)
    const ofOne = upload(port, await key({}), { length: 100_000, body: '{' })
    expect(await ofOne.answered()).toBe(429)
    const ofAll = upload(port, c, { length: 100_000, body: '{' })
    expect(await ofAll.answered()).toBe(503)
    for (const { text } of [ofOne, ofAll]) expect(text()).toMatch(/retry-after: 1\r\n/i)
    expect(open.map(({ status }) => status())).toEqual([0, 0, 0])
    for (const { socket } of open) socket.destroy()
    await wait(200)
    expect(await upload(port, c, { length: 100_000, body: '{' }).answered(300)).toBe(0)
  })

  test('counts bytes as they arrive if no length is announced', async () => {
    const { port, key } = await under({ maxBodyBytes: 100_000, maxUploadBytesPerWorkspace: 150_000 })
    const secret = await key({})
    const first = upload(port, secret, { body: chunk(90_000) })
    await wait(150)
    const second = upload(port, secret, { body: chunk(50_000) })
    await wait(150)
    expect([first.status(), second.status()]).toEqual([0, 0])
    second.socket.write(chunk(20_000))
    expect(await second.answered()).toBe(429)
    first.socket.write(`${question.length.toString(16)}\r\n${question}\r\n0\r\n\r\n`)
    expect(await first.answered()).toBe(200)
  })
})
