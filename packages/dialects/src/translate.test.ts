import { describe, expect, test } from 'vitest'
import {
  chatClient,
  clientDialects,
  messagesClient,
  messagesProvider,
  providerDialects,
  responsesClient,
  translateRequest,
  translateResponse,
  translateStream,
} from './index.ts'
import { isObject, type JsonObject } from './protocol/wire.ts'

const text = (bytes: readonly Uint8Array[]): string => bytes.map(each => new TextDecoder().decode(each)).join('')

async function readAll(stream: ReadableStream<Uint8Array>): Promise<string> {
  const read: Uint8Array[] = []
  for await (const bytes of stream) read.push(bytes)
  return text(read)
}

/** A source that gives a text in pieces of a few bytes, and counts how it was left. */
function sourceOf(whole: string, size = 7) {
  const bytes = new TextEncoder().encode(whole)
  const state = { given: 0, isLeft: false }
  async function* pieces(): AsyncGenerator<Uint8Array, void> {
    try {
      for (; state.given < bytes.length; state.given += size) yield bytes.slice(state.given, state.given + size)
    } finally {
      state.isLeft = true
    }
  }
  return { state, source: pieces() }
}

const weather = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const chatBody: JsonObject = {
  model: 'claude-haiku-4-5',
  seed: 7,
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Weather in Bern?' },
  ],
  tools: [{ type: 'function', function: { name: 'weather.now', parameters: weather } }],
}

const bodies: Readonly<Record<string, JsonObject>> = {
  chat: chatBody,
  messages: { model: 'm', max_tokens: 100, system: 'Be brief.', messages: [{ role: 'user', content: 'Weather in Bern?' }] },
  responses: { model: 'm', instructions: 'Be brief.', input: 'Weather in Bern?' },
}

describe.each(Object.entries(clientDialects))('a request in %s', (name, from) => {
  test.each(Object.entries(providerDialects))('keeps its text in %s', (_, to) => {
    const { body, path } = translateRequest(bodies[name] ?? {}, { from, to, model: 'other' })
    expect(JSON.stringify(body)).toContain('Weather in Bern?')
    expect(JSON.stringify(body)).toContain('Be brief.')
    expect(path).toMatch(/^\//)
  })
})

test('what the other API cannot express is a loss that names the field', () => {
  const { body, losses } = translateRequest(chatBody, { from: chatClient, to: messagesProvider })
  expect(body).toMatchObject({ model: 'claude-haiku-4-5', system: 'Be brief.' })
  expect(losses.map(({ param }) => param)).toEqual(['seed'])
})

test('content that the other API cannot express at all is an error, before anything is sent', () => {
  const audio = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }
  const body = { model: 'm', messages: [{ role: 'user', content: [audio] }] }
  expect(() => translateRequest(body, { from: chatClient, to: messagesProvider })).toThrow(/messages\[0\]/)
})

test('an invalid request is an error that names the field in the words of its API', () => {
  expect(() => translateRequest({ model: 'm', messages: 'Hi' }, { from: chatClient, to: messagesProvider })).toThrow(/`messages`/)
})

const answer: JsonObject = {
  id: 'msg_01abc',
  type: 'message',
  role: 'assistant',
  model: 'claude-haiku-4-5',
  content: [
    { type: 'text', text: 'I look.' },
    { type: 'tool_use', id: 'toolu_1', name: 'weather_now', input: { city: 'Bern' } },
  ],
  stop_reason: 'tool_use',
  usage: { input_tokens: 12, output_tokens: 9 },
}

test('a whole response comes back in the API of its request, with the client’s names of its tools', () => {
  const request = translateRequest(chatBody, { from: chatClient, to: messagesProvider })
  const [tool] = request.body.tools as readonly JsonObject[]
  expect(tool?.name).not.toBe('weather.now')
  const named = {
    ...answer,
    content: (answer.content as readonly JsonObject[]).map(each => ('name' in each ? { ...each, name: tool?.name ?? '' } : each)),
  }
  const { body, losses } = translateResponse(named, { from: messagesProvider, to: chatClient, request })
  expect(body).toMatchObject({
    object: 'chat.completion',
    choices: [
      {
        message: { content: 'I look.', tool_calls: [{ id: 'toolu_1', function: { name: 'weather.now', arguments: '{"city":"Bern"}' } }] },
        finish_reason: 'tool_calls',
      },
    ],
    usage: { prompt_tokens: 12, completion_tokens: 9 },
  })
  expect(losses).toEqual([])
  expect(translateResponse(named, { from: messagesProvider, to: chatClient, request }).body).toEqual(body)
})

test('content that the client’s API has no place for is a loss of the response', () => {
  const request = translateRequest(bodies.chat ?? {}, { from: chatClient, to: messagesProvider })
  const content = [
    { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_fetch', input: {} },
    ...(answer.content as readonly JsonObject[]),
  ]
  const { losses } = translateResponse({ ...answer, content }, { from: messagesProvider, to: chatClient, request })
  expect(losses.map(({ code }) => code)).toEqual(['output_dropped'])
})

test('a response that says that the request failed is an error', () => {
  const request = translateRequest(chatBody, { from: chatClient, to: messagesProvider })
  const body = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
  expect(() => translateResponse(body, { from: messagesProvider, to: chatClient, request })).toThrow(/Overloaded/)
})

const frames = (events: readonly JsonObject[]): string =>
  events.map(each => `event: ${each.type}\ndata: ${JSON.stringify(each)}\n\n`).join('')
const streamed = frames([
  { type: 'message_start', message: { ...answer, content: [], stop_reason: null } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Grüezi ' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: '🚂' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } },
  { type: 'message_stop' },
])

const dataOf = (sent: string): readonly JsonObject[] =>
  [...sent.matchAll(/^data: (.*)$/gm)].flatMap(([, data = '']) => {
    const value: unknown = data.startsWith('{') ? JSON.parse(data) : undefined
    return isObject(value as JsonObject) ? [value as JsonObject] : []
  })

test('a stream is translated however its bytes are split', async () => {
  const request = translateRequest({ ...chatBody, stream: true }, { from: chatClient, to: messagesProvider })
  expect(request.stream).toBe(true)
  const { body, losses } = translateStream(sourceOf(streamed, 5).source, { from: messagesProvider, to: chatClient, request })
  const sent = await readAll(body)
  const texts = dataOf(sent).map(({ choices }) => (choices as readonly { delta?: { content?: string } }[])[0]?.delta?.content ?? '')
  expect(texts.join('')).toBe('Grüezi 🚂')
  expect(sent.trimEnd().endsWith('data: [DONE]')).toBe(true)
  expect(losses()).toEqual([])
})

test.each([
  ['messages', messagesClient],
  ['responses', responsesClient],
] as const)('ids of items of a stream in %s differ', async (name, to) => {
  const request = translateRequest({ ...bodies[name], stream: true }, { from: to, to: messagesProvider })
  const sent = await readAll(translateStream(sourceOf(streamed).source, { from: messagesProvider, to, request }).body)
  expect(sent).toContain('🚂')
  const items = dataOf(sent).flatMap(({ type, item }) => (type === 'response.output_item.added' ? [(item as JsonObject).id] : []))
  expect(new Set(items).size).toBe(items.length)
})

test('a stream that breaks off ends with an error in the client’s API', async () => {
  const request = translateRequest({ ...chatBody, stream: true }, { from: chatClient, to: messagesProvider })
  const cut = streamed.slice(0, streamed.indexOf('event: message_delta'))
  const sent = await readAll(translateStream(sourceOf(cut).source, { from: messagesProvider, to: chatClient, request }).body)
  expect(dataOf(sent).some(each => 'error' in each)).toBe(true)
})

test('a source that throws, or sends what cannot be read, ends with an error in the client’s API, and is left', async () => {
  const request = translateRequest({ ...chatBody, stream: true }, { from: chatClient, to: messagesProvider })
  const begun = streamed.slice(0, streamed.indexOf('event: message_delta'))
  async function* broken(): AsyncGenerator<Uint8Array, void> {
    yield new TextEncoder().encode(begun)
    throw new Error('ECONNRESET')
  }
  const unreadable = sourceOf(`${begun}${'nonsense\n'.repeat(20_000)}`, 4_096)
  for (const source of [broken(), unreadable.source]) {
    const sent = await readAll(translateStream(source, { from: messagesProvider, to: chatClient, request }).body)
    expect(sent).toContain('Grüezi')
    expect(dataOf(sent).some(each => 'error' in each)).toBe(true)
  }
  expect(unreadable.state.isLeft).toBe(true)
})

test('cancelling a translation cancels its source', async () => {
  const request = translateRequest({ ...chatBody, stream: true }, { from: chatClient, to: messagesProvider })
  const { state, source } = sourceOf(streamed)
  const reader = translateStream(source, { from: messagesProvider, to: chatClient, request }).body.getReader()
  await reader.read()
  await reader.cancel()
  expect(state.isLeft).toBe(true)
  expect(state.given).toBeLessThan(streamed.length)
})
