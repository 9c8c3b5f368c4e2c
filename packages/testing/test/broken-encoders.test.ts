import { signalbox } from '@signalbox/ai-sdk'
import { createApi } from '@signalbox/api'
import type { InferenceEvent, InferenceResponse } from '@signalbox/dialects/protocol'
import type { Gateway } from '@signalbox/gateway'
import { simulated } from '@signalbox/providers'
import { generateText, streamText } from 'ai'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createWith } from '../../gateway/src/in-process/create.ts'
import { testGateway } from '../src/index.ts'
import { ask } from './matrix/asking.ts'

// A response that the gateway cannot encode for its client is the gateway's error: in the reply, the log and the usage row. Nothing of a
// whole response is delivered then, so it is free. A stream costs what was delivered of it.

const price = { input: 1_000_000, output: 1_000_000 }
const body = { model: 'm', input: 'Hi', max_output_tokens: 50 }

/** A gateway whose encoders get something that no response is. */
async function brokenGateway() {
  let settled = 0
  const { gateway, secret, storage, caller } = await testGateway({
    hooks: {
      onFinish() {
        settled += 1
      },
    },
    providers: [simulated({ id: 'sim', firstWordMs: 0, wordMs: 0 })],
    models: [{ id: 'm', offers: [{ provider: 'sim', model: 'echo', api: 'chat', price }] }],
  })
  onTestFinished(() => gateway.close())
  const infer: Gateway['infer'] = (request, options) => {
    const { encode } = options
    const reply = gateway.infer(request, {
      ...options,
      ...(encode && { encode: (response, metadata) => encode({ ...response, output: null } as unknown as InferenceResponse, metadata) }),
    })
    const events: typeof reply.events = () => {
      const source = reply.events()
      return { ...source, read: sink => source.read({ ...sink, next: (batch, time) => sink.next(batch.map(withoutDelta), time) }) }
    }
    async function* batches() {
      const source = reply.batches()
      try {
        for (let step = await source.next(); !step.done; step = await source.next()) yield step.value.map(withoutDelta)
      } finally {
        await source.return?.()
      }
      return undefined
    }
    return Object.create(reply, { events: { value: events }, batches: { value: batches } })
  }
  const broken: Gateway = Object.create(gateway, { infer: { value: infer } })
  const row = async () => {
    await expect.poll(async () => (await storage.usage.list(everything(caller.workspaceId))).length).toBe(1)
    const [{ result, code, cost } = { result: '', code: '', cost: -1 }] = await storage.usage.list(everything(caller.workspaceId))
    return { result, code, isFree: cost === 0, settled }
  }
  return { gateway: broken, secret, row }
}

const everything = (workspaceId: string) => ({ workspaceId, from: 0, to: Number.MAX_SAFE_INTEGER, limit: 9 })
const withoutDelta = (event: InferenceEvent): InferenceEvent =>
  event.type === 'delta' ? ({ ...event, delta: null } as unknown as InferenceEvent) : event

const free = { result: 'error', code: 'internal_error', isFree: true, settled: 1 }
const charged = { ...free, isFree: false }

describe('a response that cannot be encoded', () => {
  test.each([
    ['responses', body],
    ['chat/completions', { model: 'm', max_tokens: 50, messages: [{ role: 'user', content: 'Hi' }] }],
    ['messages', { model: 'm', max_tokens: 50, messages: [{ role: 'user', content: 'Hi' }] }],
  ])('is an error of the gateway at /v1/%s, and free', async (path, sent) => {
    const { gateway, secret, row } = await brokenGateway()
    const lines: unknown[] = []
    const api = createApi(gateway, { onRequest: line => lines.push(line) })
    expect(await ask({ api, secret }, `POST /v1/${path}`, { body: sent })).toMatchObject({ status: 500 })
    expect(await row()).toEqual(free)
    expect(lines).toEqual([expect.objectContaining({ status: 500, code: 'internal_error' })])
    expect(lines).toEqual([expect.not.objectContaining({ costMicrodollars: expect.anything() })])
  })

  test('is one in process', async () => {
    const { gateway, secret, row } = await brokenGateway()
    const create = createWith(gateway.dialects.responses, gateway)
    await expect(create(body, { apiKey: secret })).rejects.toThrow(TypeError)
    expect(await row()).toEqual(free)
  })

  test('is one in the AI SDK', async () => {
    const { gateway, secret, row } = await brokenGateway()
    const model = signalbox(gateway, { apiKey: secret })('m')
    await expect(generateText({ model, prompt: 'Hi', maxRetries: 0, maxOutputTokens: 50 })).rejects.toThrow()
    expect(await row()).toEqual(free)
  })
})

describe('a stream that cannot be encoded any further', () => {
  test('is an error of the gateway over HTTP, and costs what was delivered', async () => {
    const { gateway, secret, row } = await brokenGateway()
    const lines: unknown[] = []
    const api = createApi(gateway, { onRequest: line => lines.push(line) })
    await ask({ api, secret }, 'POST /v1/responses', { body: { ...body, stream: true } }).catch(() => {})
    expect(await row()).toEqual(charged)
    await expect.poll(() => lines).toEqual([expect.objectContaining({ code: 'internal_error' })])
  })

  test('is one in process', async () => {
    const { gateway, secret, row } = await brokenGateway()
    const create = createWith(gateway.dialects.responses, gateway)
    const events = (await create({ ...body, stream: true }, { apiKey: secret })) as AsyncIterable<unknown>
    const reading = (async () => {
      for await (const _ of events);
    })()
    await expect(reading).rejects.toThrow(TypeError)
    expect(await row()).toEqual(charged)
  })

  test('is one in the AI SDK', async () => {
    const { gateway, secret, row } = await brokenGateway()
    const model = signalbox(gateway, { apiKey: secret })('m')
    const { textStream } = streamText({ model, prompt: 'Hi', maxRetries: 0, maxOutputTokens: 50, onError: () => {} })
    const reading = (async () => {
      for await (const _ of textStream);
    })()
    await expect(reading).rejects.toThrow(TypeError)
    expect(await row()).toEqual(charged)
  })
})
