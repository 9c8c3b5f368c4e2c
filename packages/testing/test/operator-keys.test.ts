import type { Transport } from '@signalbox/dialects/protocol'
import { createGateway } from '@signalbox/gateway'
import { compatible } from '@signalbox/providers'
import { memoryStorage } from '@signalbox/storage-memory'
import { expect, onTestFinished, test } from 'vitest'
import { answerWriters } from '../src/answers/index.ts'
import { fakeClock } from '../src/index.ts'
import { bytesOf, type RawAnswer, scriptedTransport } from './scripted-transport.ts'

// A provider for which the operator has two keys, and another provider that sells the same model for more.

const first = 'sk-first-0123456789'
const second = 'sk-second-0123456789'
const told = answerWriters.chat.write({ text: 'Here.', usage: { input: 12, output: 3 } }, { model: 'm', includeUsage: true })
const json = (body: object, status = 200, headers = {}): RawAnswer => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  pieces: [bytesOf(JSON.stringify(body))],
})
const failure = (status: number, code: string, message = 'No.'): RawAnswer =>
  json({ error: { message, code, type: code } }, status, status === 429 ? { 'retry-after': '60' } : {})

async function testbed() {
  const asked: string[] = []
  const failing = new Map<string, RawAnswer>()
  const transport: Transport = request =>
    scriptedTransport(() => {
      const secret = request.headers.authorization?.replace('Bearer ', '') ?? ''
      asked.push(secret)
      return failing.get(secret) ?? json(told.whole)
    })(request)
  const clock = fakeClock()
  const offer = (provider: string, usd: number) => ({
    provider,
    model: 'm',
    api: 'chat',
    price: { input: usd, output: usd },
  })
  const gateway = createGateway({
    providers: [
      compatible({ id: 'vendor', baseURL: 'https://vendor.example/v1', apiKey: [first, second] }),
      compatible({ id: 'dear', baseURL: 'https://dear.example/v1', apiKey: 'sk-dear-0123456789' }),
    ],
    models: [{ id: 'm', offers: [offer('vendor', 1e6), offer('dear', 1e9)] }],
    storage: memoryStorage(),
    transport,
    clock,
    logger: { info: () => {}, warn: () => {}, error: () => {} },
  })
  onTestFinished(() => gateway.close())
  const { id } = await gateway.workspaces.create({ name: 'W' })
  await gateway.workspaces(id).billing.credit({ reference: 'start', amount: 1_000_000_000 })
  const { secret } = await gateway.workspaces(id).apiKeys.create({ name: 'all' })
  const respond = () => gateway.responses.create({ model: 'm', input: 'Hi.', max_output_tokens: 10 }, { apiKey: secret })
  return { asked, failing, clock, respond }
}

test.each([
  ['limited', failure(429, 'rate_limit_exceeded')],
  ['out of quota', failure(429, 'insufficient_quota')],
  ['refused', failure(401, 'invalid_api_key')],
])('a key of the operator that is %s is left for the other key of the provider, and pauses alone', async (_, answer) => {
  const { asked, failing, respond } = await testbed()
  failing.set(first, answer)
  await respond()
  expect(asked).toEqual([first, second])
  await respond()
  expect(asked.slice(2)).toEqual([second])
  failing.set(second, answer)
  await respond()
  expect(asked.slice(3)).toEqual([second, 'sk-dear-0123456789'])
})

test('a request that is too long for the provider is not sent again with its other key before another provider', async () => {
  const { asked, failing, respond } = await testbed()
  for (const key of [first, second]) failing.set(key, failure(400, 'context_length_exceeded', 'maximum context length exceeded'))
  await respond()
  expect(asked).toEqual([first, 'sk-dear-0123456789'])
})

test('an error contains none of the keys, though the provider quotes each', async () => {
  const { failing, respond, clock } = await testbed()
  for (const key of [first, second, 'sk-dear-0123456789']) failing.set(key, failure(500, key, `The key ${key} broke.`))
  const failed = respond().catch((reason: Error) => reason)
  for (let seconds = 0; seconds < 20; seconds += 1) await clock.advance(1_000)
  const error = await failed
  expect(error).toMatchObject({ code: 'provider_error' })
  expect(`${String(error)} ${JSON.stringify(error)}`).not.toMatch(/0123456789/)
})
