import { nodeTransport, serve } from '@signalbox/node-http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ChaosProvider, chaosProvider, defaultText, type TestGateway, testGateway, testPrice } from '../src/index.ts'
import { readEvents, terminals } from './read-events.ts'

/** Ways in which the first provider of a pool fails before its first word, by the fault that plays them. */
const before = [
  ['before headers', 'reset-before-answer'],
  ['after headers', 'reset-after-headers'],
  ['after the preamble', 'opening-only'],
  ['by an error after the preamble', 'error-first'],
  ['by time-out', 'half-open'],
  ['by 429', 'retry-after-seconds'],
  ['by a 200 with an error body', 'error-in-200'],
] as const

describe.each(['responses', 'chat'] as const)('a pool of two models, with providers of dialect %s', dialect => {
  let first: ChaosProvider
  let second: ChaosProvider
  let testbed: TestGateway
  let server: { readonly url: string; close(): Promise<void> }

  beforeAll(async () => {
    ;[first, second] = await Promise.all([chaosProvider(), chaosProvider()])
    const faults = [...before.map(([, fault]) => fault), 'reset-mid-stream', 'status-500']
    const offer = (provider: string, id: string) => ({ provider, model: id, api: dialect, price: testPrice })
    testbed = await testGateway({
      servers: [first, second],
      dialect,
      transport: nodeTransport(),
      models: [
        ...faults.map(fault => ({ id: `first/${fault}`, offers: [offer('server-1', `fault:${fault}`)] })),
        { id: 'second/sound', aliases: ['sound'], offers: [offer('server-2', 'test-model')] },
      ],
    })
    server = await serve(testbed.gateway, { port: 0 })
  })
  afterAll(async () => {
    await server.close()
    await testbed.close()
    await Promise.all([first.close(), second.close()])
  })

  const ask = async (fault: string, stream: boolean, routing: object = {}) => {
    const response = await fetch(`${server.url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${testbed.secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        input: 'Go.',
        stream,
        gateway: { models: [`first/${fault}`, 'sound'], routing: { timeout_ms: fault === 'half-open' ? 600 : 1_500, ...routing } },
      }),
    })
    return { status: response.status, text: await response.text() }
  }

  test.each(
    before
      .flatMap(([when, fault]) => [true, false].map(stream => [when, stream, fault] as const))
      .filter(([, stream, fault]) => stream || !/opening|error-first/.test(fault)),
  )('the first fails %s (streamed: %s): the second responds, in one clean response with true metadata', async (...[, stream, fault]) => {
    const { status, text } = await ask(fault, stream)
    expect(status).toBe(200)
    const whole = stream ? readEvents(text).events.at(-1)?.response : JSON.parse(text)
    expect(whole).toMatchObject({
      status: 'completed',
      output_text: defaultText,
      model: 'second/sound',
      routing_metadata: { provider: 'server-2', provider_model_id: 'test-model', model_canonical: 'second/sound' },
    })
    if (!stream) return
    const { events } = readEvents(text)
    expect(events.map(event => event.sequence_number)).toEqual(events.map((_, at) => at))
    expect(events.filter(({ type }) => type === 'response.created')).toHaveLength(1)
    expect(events.filter(({ type }) => terminals.includes(type))).toHaveLength(1)
  })

  test('after the first content there is no fallback: the stream ends with its error', async () => {
    const asked = second.requests.length
    const { status, text } = await ask('reset-mid-stream', true)
    const { events } = readEvents(text)
    expect(status).toBe(200)
    expect(events.slice(-2)).toMatchObject([
      { type: 'error', code: 'provider_error', provider: 'server-1', error: { type: 'provider_error' } },
      { type: 'response.failed', response: { status: 'failed', error: { code: 'provider_error', provider: 'server-1' } } },
    ])
    expect(second.requests.length).toBe(asked)
  })

  test('without fallbacks the first failure is returned', async () => {
    const asked = second.requests.length
    // A model that has not failed yet: one that has may be skipped for a while.
    expect((await ask('status-500', false, { allow_fallbacks: false })).status).toBe(502)
    expect(second.requests.length).toBe(asked)
  })

  test('a whole response from a fallback after a timeout has a warning', async () => {
    const { text } = await ask('half-open', false)
    expect(JSON.parse(text)).toMatchObject({ warnings: [{ code: 'provider_timeout' }] })
  })
})
