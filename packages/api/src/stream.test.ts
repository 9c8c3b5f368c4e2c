import { asIterator, type ClaimMemory } from '@signalbox/core/runtime'
import { GatewayError } from '@signalbox/dialects/errors'
import type { ClientDialect } from '@signalbox/dialects/protocol'
import { assert, expect, test } from 'vitest'
import { delta, type Fake, fakeGateway, goodKey } from '../test/fake-gateway.ts'
import { type ApiReply, type ApiRequest, createApi } from './index.ts'

const headers: Readonly<Record<string, string>> = { authorization: `Bearer ${goodKey}` }
const request: ApiRequest = {
  method: 'POST',
  path: '/v1/responses',
  query: '',
  header: name => headers[name],
  text: async () => ({ ok: true, text: '{"stream":true}' }),
  signal: new AbortController().signal,
}

interface Opened {
  readonly reply: ApiReply
  readonly left: () => number
  readonly work: Promise<unknown>[]
}

/** A source without end that counts how often it is cancelled. */
async function open(fake: Fake, left: () => Promise<void> = async () => {}): Promise<Opened> {
  let times = 0
  fake.act = () => ({
    batches: () => ({
      next: async () => ({ done: false, value: [delta('a')] }),
      return: async () => {
        times++
        await left()
        return { done: true, value: undefined }
      },
    }),
  })
  // The request until its reply, and its cancellation.
  const work: Promise<unknown>[] = []
  const reply = await createApi(fake.gateway)(request, { waitUntil: promise => work.push(promise) })
  return { reply, left: () => times, work }
}

/** A dialect whose encoder fails at every batch but the first, and at encoding that failure too if `mute`. */
function stammering(mute: boolean): Fake {
  const plain = fakeGateway()
  const { responses } = plain.gateway.dialects
  if (responses === undefined) throw new Error('The fake speaks nothing.')
  return fakeGateway({
    dialects: {
      responses: {
        ...responses,
        encodeEvents: (...given) => {
          const encoder = responses.encodeEvents(...given)
          let writes = 0
          return {
            write: events => {
              writes += 1
              if (writes > 1 && (mute || events.some(event => event.type === 'delta'))) throw new Error('No words for it.')
              return encoder.write(events)
            },
          }
        },
      },
    },
  })
}

const textOf = async ({ body }: ApiReply): Promise<string> => {
  if (typeof body === 'string') return body
  let text = ''
  const chunks = asIterator(body)
  for (let step = await chunks.next(); !step.done; step = await chunks.next()) text += step.value
  await chunks.return?.()
  return text
}

test.each([
  ['a batch', false],
  ['a batch, and its failure', true],
])('a source is cancelled once if its encoder throws for %s', async (_, mute) => {
  const opened = await open(stammering(mute))
  const text = await textOf(opened.reply)
  expect(text).toMatch(mute ? /^event: response\.delta\n.*\n\n$/ : /^event: response\.delta\n.*\n\nevent: response\.failed\n/)
  expect([opened.left(), opened.work.length]).toEqual([1, 2])
})

test('if the encoder throws for the first batch, the reply is an error with a status, and the source is cancelled', async () => {
  const plain = fakeGateway()
  const mute = { write: () => assert.fail('No words for it.') }
  const responses = { ...plain.gateway.dialects.responses, encodeEvents: () => mute } as ClientDialect
  const opened = await open(fakeGateway({ dialects: { responses } }))
  expect([opened.reply.status, opened.left(), opened.work.length]).toEqual([500, 1, 2])
})

test('a source that throws when cancelled has no effect on the reply', async () => {
  const opened = await open(stammering(false), () => Promise.reject(new GatewayError('provider_error', { message: 'stuck' })))
  expect(await textOf(opened.reply)).toMatch(/\n\nevent: response\.failed\n/)
  await expect(Promise.all(opened.work)).resolves.toEqual([undefined, undefined])
})

test('a `waitUntil` that throws has no effect on the reply', async () => {
  const fake = fakeGateway()
  let left = 0
  fake.act = () => ({
    batches: () => ({
      next: async () => ({ done: false, value: [delta('a')] }),
      return: async () => {
        left += 1
        return { done: true, value: undefined }
      },
    }),
  })
  const waitUntil = (): never => {
    throw new Error('The runtime is gone.')
  }
  const { body } = await createApi(fake.gateway)(request, { waitUntil })
  if (typeof body === 'string') throw new Error('It is no stream.')
  const chunks = asIterator(body)
  await chunks.next()
  await expect(chunks.return?.()).resolves.toEqual({ done: true, value: undefined })
  expect(left).toBeGreaterThan(0)
})

test.each([
  ['/v1/responses', ': keep-alive\n\n'],
  ['/v1/chat/completions', ': keep-alive\n\n'],
  ['/v1/messages', 'event: ping\ndata: {"type":"ping"}\n\n'],
])('%s: held and silent streams are kept alive in the way of their dialect', async (path, keepAliveText) => {
  const fake = fakeGateway()
  fake.act = () => ({ commit: new Promise(() => {}) })
  const { body, status } = await createApi(fake.gateway, { firstContentWaitMs: 1, keepAliveMs: 1 })({ ...request, path })
  expect(status).toBe(200)
  if (typeof body === 'string') throw new Error('It is no stream.')
  const chunks = asIterator(body)
  expect([(await chunks.next()).value, (await chunks.next()).value]).toEqual([keepAliveText, keepAliveText])
  await chunks.return?.()
})

test('the body counts as in memory until the first content, even if the reply began before it', async () => {
  const fake = fakeGateway()
  const commits: (() => void)[] = []
  fake.act = () => ({
    commit: new Promise(resolve => {
      commits.push(resolve)
    }),
    batches: () => ({ next: async () => ({ done: false, value: [delta('a')] }) }),
  })
  const text = JSON.stringify({ stream: true, input: 'x'.repeat(600) })
  const large: ApiRequest = {
    ...request,
    header: name => (name === 'content-length' ? String(text.length) : headers[name]),
    text: async (_, onBytes) => (onBytes?.(text.length) === false ? { ok: false, why: 'stopped' } : { ok: true, text }),
  }
  const api = createApi(fake.gateway, { firstContentWaitMs: 1, keepAliveMs: 60_000, maxBodyBytes: 1_000, maxUploadBytes: 1_000 })
  const first = await api(large)
  expect([first.status, (await api(large)).status]).toEqual([200, 503])
  if (typeof first.body === 'string') throw new Error('It is no stream.')
  const chunks = asIterator(first.body)
  await chunks.next()
  commits[0]?.()
  await chunks.next()
  const second = await api(large)
  expect(second.status).toBe(200)
  // A client that disconnects releases its body too.
  if (typeof second.body === 'string') throw new Error('It is no stream.')
  await asIterator(second.body).return?.()
  expect((await api(large)).status).toBe(200)
})

test.each(['/v1/responses', '/v1/chat/completions', '/v1/messages'])(
  '%s: memory claimed after the reply began counts until the request is over, and is refused after that',
  async path => {
    const fake = fakeGateway()
    const claims: ClaimMemory[] = []
    fake.act = ({ claimMemory }) => {
      if (claimMemory) claims.push(claimMemory)
      return { commit: new Promise(() => {}) }
    }
    const api = createApi(fake.gateway, { firstContentWaitMs: 1, keepAliveMs: 60_000, maxBodyBytes: 1_000, maxUploadBytes: 1_000 })
    const begin = async () => {
      const { body } = await api({ ...request, path, arrived: () => true })
      if (typeof body === 'string') throw new Error('It is no stream.')
      return { claim: (bytes: number) => claims.at(-1)?.(bytes), leave: () => asIterator(body).return?.() }
    }
    const first = await begin()
    first.claim(600)
    const second = await begin()
    expect(() => second.claim(600)).toThrow(expect.objectContaining({ status: 503 }))
    await first.leave()
    expect(() => claims[0]?.(1)).toThrow(expect.objectContaining({ status: 503 }))
    const release = second.claim(600)
    release?.()
    release?.()
    second.claim(1_000)
    await second.leave()
    // All is free again: the late claim was not counted.
    const third = await begin()
    third.claim(1_000)
    await third.leave()
  },
)
