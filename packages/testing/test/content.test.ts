import { clientDialects, providerDialects } from '@signalbox/dialects'
import type { InferenceRequest, Json, JsonObject, Provider } from '@signalbox/dialects/protocol'
import { GatewayError } from '@signalbox/gateway'
import fc from 'fast-check'
import { describe, expect, inject, test } from 'vitest'
import { scriptedProvider, testGateway } from '../src/index.ts'
import { shareOf } from './share-of.ts'

// Client content is never dropped silently: the provider receives it, or the request is refused and nothing is sent.

type ClientName = keyof typeof clientDialects & ('responses' | 'chat' | 'messages')
type DialectName = 'responses' | 'chat' | 'messages' | 'gemini' | 'bedrock'
const providers = Object.keys(providerDialects) as DialectName[]

/** A part under each client's name, and the characters by which it is found in a body. */
interface Sample {
  readonly mark: string
  readonly parts: Readonly<Partial<Record<ClientName, JsonObject>>>
}

const image = (url: string, mark: string): Sample => ({
  mark,
  parts: {
    responses: { type: 'input_image', image_url: url },
    chat: { type: 'image_url', image_url: { url } },
    messages: { type: 'image', source: sourceOf(url) },
  },
})
const file = (url: string, mark: string): Sample => ({
  mark,
  parts: {
    responses: url.startsWith('data:') ? { type: 'input_file', file_data: url, filename: 'a' } : { type: 'input_file', file_url: url },
    ...(url.startsWith('data:') && { chat: { type: 'file', file: { file_data: url, filename: 'a' } } }),
    messages: { type: 'document', source: sourceOf(url) },
  },
})
function sourceOf(url: string): JsonObject {
  const [, media_type, data] = /^data:([^;]+);base64,(.*)$/.exec(url) ?? []
  return media_type === undefined ? { type: 'url', url } : { type: 'base64', media_type, data: data ?? '' }
}

const words = (text: string): string => `data:text/plain;base64,${btoa(text)}`
const samples: Readonly<Record<string, Sample>> = {
  'a PNG': image('data:image/png;base64,UE5HMQ==', 'UE5HMQ=='),
  'a drawing in SVG': image('data:image/svg+xml;base64,U1ZHMQ==', 'U1ZHMQ=='),
  'an image by address': image('https://a.example/look.png', 'https://a.example/look.png'),
  'a PDF': file('data:application/pdf;base64,UERGMQ==', 'UERGMQ=='),
  'a file of text': file(words('plainwords'), 'plainwords'),
  'an archive': file('data:application/zip;base64,WklQMQ==', 'WklQMQ=='),
  'a PDF by address': file('https://a.example/read.pdf', 'https://a.example/read.pdf'),
  audio: {
    mark: 'QVVESU8x',
    parts: {
      responses: { type: 'input_audio', input_audio: { data: 'QVVESU8x', format: 'wav' } },
      chat: { type: 'input_audio', input_audio: { data: 'QVVESU8x', format: 'wav' } },
    },
  },
  'a file under an id': {
    mark: 'file_kept',
    parts: {
      responses: { type: 'input_file', file_id: 'file_kept' },
      chat: { type: 'file', file: { file_id: 'file_kept' } },
      messages: { type: 'document', source: { type: 'file', file_id: 'file_kept' } },
    },
  },
  'a part that nobody knows': {
    mark: 'somethingnew',
    parts: Object.fromEntries(['responses', 'chat', 'messages'].map(name => [name, { type: 'novelty', value: 'somethingnew' }])),
  },
}

type Place = 'user' | 'assistant' | 'system' | 'tool'
const places: readonly Place[] = ['user', 'assistant', 'system', 'tool']

/** Messages that hold the part in this place. */
const bodies: Readonly<Record<ClientName, (part: JsonObject, place: Place) => JsonObject>> = {
  responses: (part, place) => ({
    input:
      place === 'tool'
        ? [
            { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
            { type: 'function_call_output', call_id: 'c1', output: [part] },
          ]
        : [{ role: place, content: [part] }],
  }),
  chat: (part, place) => ({
    messages:
      place === 'tool'
        ? [
            { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }] },
            { role: 'tool', tool_call_id: 'c1', content: [part] },
          ]
        : [{ role: place, content: [part] }],
  }),
  messages: (part, place) => ({
    max_tokens: 9,
    messages:
      place === 'tool'
        ? [
            { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'f', input: {} }] },
            { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: [part] }] },
          ]
        : [{ role: place, content: [part] }],
  }),
}

interface Sent {
  /** Bodies that reached a provider. */
  readonly bodies: readonly JsonObject[]
  /** Codes of the warnings in the response. */
  readonly warnings?: readonly string[]
  /** Why none did. */
  readonly error?: GatewayError
}

/** A model of each dialect alone, by the dialect's name, and `all` in every one. */
async function openFixture(): Promise<(request: InferenceRequest) => Promise<Sent>> {
  const bodies: JsonObject[] = []
  const made = providers.map((name): Provider => {
    const { answer, ...provider } = scriptedProvider({ id: name, dialect: providerDialects[name] })
    return {
      ...provider,
      providerStorage: true,
      answer: call => {
        bodies.push(call.body)
        if (!answer) throw new Error('The provider function returned nothing.')
        return answer(call)
      },
    }
  })
  const offer = (name: DialectName) => ({ provider: name, model: 'm', api: name, price: { input: 0, output: 0 } })
  const { gateway, caller } = await testGateway({
    providers: made,
    models: [...providers.map(name => ({ id: name, offers: [offer(name)] })), { id: 'all', offers: providers.map(offer) }],
  })
  return async request => {
    bodies.length = 0
    try {
      const reply = gateway.infer(request, { caller })
      await reply.whole()
      return { bodies: [...bodies], warnings: reply.metadata().warnings.map(({ code }) => code) }
    } catch (error) {
      if (error instanceof GatewayError) return { bodies: [...bodies], error }
      throw error
    }
  }
}
const fixture = openFixture()

const clients = ['responses', 'chat', 'messages'] as const
const decode = (client: ClientName, body: JsonObject): InferenceRequest | undefined => {
  try {
    return clientDialects[client].decodeRequest(body)
  } catch (error) {
    if (error instanceof GatewayError) return undefined
    throw error
  }
}

/** Whether a body has the mark anywhere, in base64 or not. */
const holds = (body: JsonObject, mark: string): boolean => {
  const text = JSON.stringify(body)
  return text.includes(mark) || text.includes(btoa(mark))
}

const contentOf = ({ input, messages, contents }: JsonObject): readonly unknown[] => (input ?? messages ?? contents ?? []) as unknown[]

const refusals: readonly string[] = ['capability_mismatch', 'input_requires_responses_endpoint', 'response_api_only']

interface Said {
  readonly mark: string
  readonly place: Place
}

/**
 * Either all marks are in what was sent, or nothing was sent and the error names the part. What only one dialect has of an earlier response
 * may be left out with a warning, because a request must not become impossible by what a provider answered before.
 */
function expectNothingLost({ bodies: sent, warnings = [], error }: Sent, said: readonly Said[]): void {
  if (error) {
    expect(sent).toEqual([])
    expect([error.status, refusals.includes(error.code)]).toEqual([400, true])
    expect(error.facts.param).toMatch(/^(input|messages)\[\d+\]\.(content|output)\[\d+\]/)
    expect(error.message).toContain(`\`${error.facts.param}\``)
    if (said.some(({ place }) => place !== 'assistant')) expect(error.facts.suggestion).toBeTruthy()
    return
  }
  expect(sent).toHaveLength(1)
  const [body = {}] = sent
  expect(contentOf(body).length).toBeGreaterThan(0)
  for (const { mark, place } of said) {
    const isNamed = place === 'assistant' && warnings.includes('earlier_output_dropped')
    expect([mark, holds(body, mark) || isNamed]).toEqual([mark, true])
  }
}

describe.each(clients)('a client of %s', client => {
  describe.each(shareOf([...providers, 'all'], clients.indexOf(client), 2))('with provider %s', model => {
    test.each(Object.keys(samples))('%s reaches the provider, or is refused', async name => {
      const send = await fixture
      const { mark, parts } = samples[name] ?? { mark: '', parts: {} }
      const part = parts[client]
      if (!part) return
      for (const place of places) {
        const request = decode(client, { model, ...bodies[client](part, place) })
        if (request) expectNothingLost(await send(request), [{ mark, place }])
      }
    })
  })

  test('if any dialect supports it, a provider of that dialect is called', async () => {
    const send = await fixture
    for (const { mark, parts } of Object.values(samples)) {
      const part = parts[client]
      const request = part && decode(client, { model: 'all', ...bodies[client](part, 'user') })
      if (!request) continue
      const { error, bodies: sent } = await send(request)
      expect([mark, error?.message, sent.length]).toEqual([mark, undefined, 1])
    }
  })
})

test('conversations of many parts lose none of them', async () => {
  const send = await fixture
  const said = fc.record({ name: fc.constantFrom(...Object.keys(samples)), place: fc.constantFrom(...places) })
  const conversations = fc.record({
    client: fc.constantFrom(...clients),
    model: fc.constantFrom(...providers, 'all'),
    parts: fc.array(said, { minLength: 1, maxLength: 5 }),
  })
  await fc.assert(
    fc.asyncProperty(conversations, async ({ client, model, parts }) => {
      const used = parts.flatMap(({ name, place }) => {
        const sample = samples[name]
        const part = sample?.parts[client]
        return sample && part ? [{ mark: sample.mark, place, body: bodies[client](part, place) }] : []
      })
      const list = (body: JsonObject): readonly Json[] => contentOf(body) as Json[]
      const field = client === 'responses' ? 'input' : 'messages'
      const opening = { role: 'user', content: 'Hi' }
      const request = decode(client, { model, max_tokens: 9, [field]: [opening, ...used.flatMap(({ body }) => list(body))] })
      if (request) expectNothingLost(await send(request), used)
    }),
    { numRuns: inject('isLongRun') ? 300 : 100 },
  )
})

test.each<[ClientName, JsonObject, string]>([
  ['responses', { input: '' }, 'input'],
  ['responses', { input: ' \n' }, 'input'],
  ['responses', { input: [] }, 'input'],
  ['responses', { input: [{ role: 'user', content: [] }] }, 'input'],
  ['responses', { input: [{ role: 'user', content: [{ type: 'input_text', text: '' }] }], instructions: ' ' }, 'input'],
  ['responses', { input: [{ type: 'reasoning', id: 'rs_1', summary: [] }] }, 'input'],
  ['responses', { input: [{ type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: ' ' }] }] }, 'input'],
  ['chat', { messages: [{ role: 'user', content: '' }] }, 'messages'],
  ['chat', { messages: [{ role: 'assistant', content: null }] }, 'messages'],
  ['messages', { max_tokens: 9, messages: [{ role: 'user', content: [] }] }, 'messages'],
])('%s %j has no content, and no provider is called', async (client, body, param) => {
  const send = await fixture
  for (const model of providers) {
    const request = decode(client, { model, ...body })
    if (!request) throw new Error('It was not read.')
    const { error, bodies: sent } = await send(request)
    expect([error?.status, error?.code, error?.facts.param, sent]).toEqual([400, 'invalid_parameter_value', param, []])
  }
})

test.each<[ClientName, JsonObject]>([
  ['responses', { input: [], instructions: 'Say hello.' }],
  ['chat', { messages: [{ role: 'system', content: 'Say hello.' }] }],
  [
    'responses',
    {
      input: [
        { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c', output: '' },
      ],
    },
  ],
])('%s %j has content for every provider', async (client, body) => {
  const send = await fixture
  for (const model of providers) {
    const request = decode(client, { model, ...body })
    if (!request) throw new Error('It was not read.')
    const {
      error,
      bodies: [sent = {}],
    } = await send(request)
    expect([error?.message, contentOf(sent).length > 0 || sent.instructions !== undefined]).toEqual([undefined, true])
  }
})
