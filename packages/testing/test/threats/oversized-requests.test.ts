import { createApi } from '@signalbox/api'
import { responsesProvider } from '@signalbox/dialects'
import { GatewayError } from '@signalbox/dialects/errors'
import { describe, expect, test } from 'vitest'
import { ask } from '../../../api/test/asking.ts'
import { testGateway } from '../../src/gateway.ts'
import { scriptedProvider } from '../../src/scripted-provider.ts'

const paths = ['/v1/responses', '/v1/chat/completions', '/v1/messages']

const asked = (path: string, characters: number): string => {
  const text = 'x '.repeat(characters / 2)
  const content = path === '/v1/responses' ? { input: text } : { messages: [{ role: 'user', content: text }], max_tokens: 16 }
  return JSON.stringify({ model: 'test-model', ...content })
}

describe('a request that needs more tokens than the limit of a minute', () => {
  test.each(paths)('at %s is told not to retry, without Retry-After', async path => {
    const provider = scriptedProvider({ id: 'p', dialect: responsesProvider })
    const { gateway, secret } = await testGateway({ providers: [provider], limits: { tokensPerMinute: 20_000 } })
    const headers = { authorization: `Bearer ${secret}` }
    const reply = await ask(createApi(gateway), `POST ${path}`, { headers, body: asked(path, 200_000) })
    expect(reply.status).toBe(429)
    expect(reply.headers).toMatchObject({ 'x-should-retry': 'false', 'x-rate-limit-source': 'routing' })
    expect(reply.headers).not.toHaveProperty('retry-after')
    expect(reply.headers).not.toHaveProperty('retry-after-ms')
  })

  test('differs from one that fits the limit and finds it exhausted, which gets Retry-After', async () => {
    const provider = scriptedProvider({ id: 'p', dialect: responsesProvider })
    const { gateway, secret } = await testGateway({ providers: [provider], limits: { tokensPerMinute: 20_000 } })
    const api = createApi(gateway)
    const headers = { authorization: `Bearer ${secret}` }
    const call = { headers, body: asked('/v1/messages', 20_000) }
    const replies = await Promise.all(Array.from({ length: 20 }, () => ask(api, 'POST /v1/messages', call)))
    const refused = replies.filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThan(0)
    for (const { headers: told } of refused) {
      expect(told).toHaveProperty('retry-after')
      expect(told).not.toHaveProperty('x-should-retry')
    }
  })
})

describe('an error whose code means that no retry can succeed', () => {
  const refused = async (facts: Partial<GatewayError['facts']>) => {
    const transformRequest = (): never => {
      throw new GatewayError('provider_error', { message: 'No.', ...facts })
    }
    const { gateway, secret } = await testGateway({
      providers: [scriptedProvider({ id: 'p', dialect: responsesProvider })],
      transformRequest,
    })
    const headers = { authorization: `Bearer ${secret}` }
    return (await ask(createApi(gateway), 'POST /v1/responses', { headers, body: asked('/v1/responses', 10) })).headers
  }

  test('says not to retry even with Retry-After', async () => {
    const headers = await refused({ retryAfterMs: 1_000 })
    expect(headers).toMatchObject({ 'x-should-retry': 'false' })
    expect(headers).not.toHaveProperty('retry-after')
  })

  test('says otherwise only if the error itself does', async () => {
    expect(await refused({ retryAfterMs: 1_000, shouldRetry: true })).not.toHaveProperty('x-should-retry')
  })
})
