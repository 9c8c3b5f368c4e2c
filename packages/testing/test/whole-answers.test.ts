import type { BuiltInDialect } from '@signalbox/dialects'
import type { JsonObject } from '@signalbox/dialects/protocol'
import { toFetchHandler } from '@signalbox/fetch-handler'
import { afterEach, describe, expect, inject, test } from 'vitest'
import { answerWriters } from '../src/answers/writers.ts'
import { type TestGateway, testGateway } from '../src/gateway.ts'
import { bytesOf, modelOf, type RawAnswer, rawProvider, scriptedTransport } from './scripted-transport.ts'

// Whole answers of a hostile provider: nested deeper, or of more values, than anything can be written again. Each is
// unreadable, so that the next provider answers; nothing of it is charged, and the process serves on.

const open: TestGateway[] = []
afterEach(async () => {
  for (const testbed of open.splice(0)) await testbed.close()
})

const dialects: readonly BuiltInDialect[] = ['responses', 'chat', 'messages', 'gemini', 'bedrock']
const asked = { model: 'm', includeUsage: true }
const speech = { text: 'Here.', usage: { input: 12, output: 3 } }
const wholeOf = (dialect: BuiltInDialect): JsonObject => answerWriters[dialect].write(speech, asked).whole

const nestedObject = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
const nestedList = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
const withField = (body: JsonObject, value: string): string => `${JSON.stringify(body).slice(0, -1)},"extra":${value}}`
const keys = (count: number): string => `{${Array.from({ length: count }, (_, at) => `"k${at}":1`).join(',')}}`

/** The value in the middle of the response, in a field that is passed on without being read. */
function insideOf(body: JsonObject, value: string): string {
  const text = JSON.stringify(body)
  const at = text.search(/"(?:text|content)":"Here\./)
  return `${text.slice(0, at)}"extra":${value},${text.slice(at)}`
}

const hostile: Readonly<Record<string, (body: JsonObject) => string>> = {
  'an object 5,000 deep': body => withField(body, nestedObject(5_000)),
  'lists 5,000 deep': body => withField(body, nestedList(5_000)),
  'lists 200,000 deep': body => withField(body, nestedList(200_000)),
  'an object 5,000 deep inside of what it says': body => insideOf(body, nestedObject(5_000)),
  'lists just deeper than the bound': body => withField(body, nestedList(500)),
  'a million empty lists': body => withField(body, `[${'[],'.repeat(1_000_000)}0]`),
  'an object of 10,001 keys': body => withField(body, keys(10_001)),
  'five million numbers': body => withField(body, `[${'1,'.repeat(5_000_000)}1]`),
}

async function serve(dialect: BuiltInDialect, answer: (url: string) => RawAnswer) {
  const testbed = await testGateway({
    providers: [rawProvider('first', dialect), rawProvider('second', dialect)],
    models: [
      modelOf('both', [
        { provider: 'first', dialect },
        { provider: 'second', dialect },
      ]),
      modelOf('alone', [{ provider: 'first', dialect }]),
    ],
    transport: scriptedTransport(answer),
  })
  open.push(testbed)
  const handler = toFetchHandler(testbed.gateway)
  const ask = async (path: string, body: JsonObject): Promise<{ readonly status: number; readonly body: JsonObject }> => {
    const headers = { authorization: `Bearer ${testbed.secret}`, 'content-type': 'application/json' }
    const response = await handler(`http://gateway.test${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    return { status: response.status, body: (await response.json()) as JsonObject }
  }
  const rows = () =>
    testbed.storage.usage.list({ workspaceId: testbed.caller.workspaceId, from: 0, to: Number.MAX_SAFE_INTEGER, limit: 100 })
  return { ask, rows }
}

const whole = (text: string): RawAnswer => ({ pieces: [bytesOf(text)], headers: { 'content-type': 'application/json' } })

describe.each(dialects)('a provider of dialect %s', dialect => {
  // The default run meets each body with half of the dialects.
  const met = Object.entries(hostile).filter((_, at) => inject('isLongRun') || (at + dialects.indexOf(dialect)) % 2 === 0)
  test.each(met)('that returns %s is skipped for the next one, and not paid', async (_, make) => {
    const bad = make(wholeOf(dialect))
    const { ask, rows } = await serve(dialect, url => whole(url.includes('first.test') ? bad : JSON.stringify(wholeOf(dialect))))
    const fine = await ask('/v1/responses', { model: 'both', input: 'Hi' })
    expect(fine).toMatchObject({ status: 200, body: { output_text: 'Here.', routing_metadata: { provider: 'second' } } })
    const failed = await ask('/v1/responses', { model: 'alone', input: 'Hi' })
    expect(failed).toMatchObject({ status: 502, body: { error: { code: 'provider_error', provider: 'first' } } })
    const told = (await rows()).map(({ provider, result, cost }) => ({ provider, result, isFree: cost === 0 }))
    expect(told).toEqual(
      expect.arrayContaining([
        { provider: 'second', result: 'ok', isFree: false },
        { provider: 'first', result: 'error', isFree: true },
      ]),
    )
    expect(told).toHaveLength(2)
  })

  test('may return objects of the maximum depth', async () => {
    const { ask } = await serve(dialect, () => whole(withField(wholeOf(dialect), nestedObject(490))))
    expect(await ask('/v1/responses', { model: 'alone', input: 'Hi' })).toMatchObject({ status: 200, body: { output_text: 'Here.' } })
  })

  test('that returns an error in a body 5,000 deep fails with the meaning of its status', async () => {
    const { ask } = await serve(dialect, () => ({ ...whole(`{"error":${nestedObject(5_000)}}`), status: 429 }))
    expect(await ask('/v1/responses', { model: 'alone', input: 'Hi' })).toMatchObject({ status: 429 })
  })
})

test('tool call arguments that are 5,000 deep are text for a client whose dialect needs an object', async () => {
  const written = nestedObject(5_000)
  const message = {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: written } }],
  }
  const { ask } = await serve('chat', () =>
    whole(JSON.stringify({ id: 'c', choices: [{ index: 0, message, finish_reason: 'tool_calls' }] })),
  )
  const tools = [{ name: 'f', input_schema: { type: 'object' } }]
  const { status, body } = await ask('/v1/messages', {
    model: 'alone',
    max_tokens: 100_000,
    tools,
    messages: [{ role: 'user', content: 'Hi' }],
  })
  expect([status, body.content]).toEqual([200, [{ type: 'tool_use', id: 'c', name: 'f', input: { _raw: written } }]])
})

test('20,000 tool calls are more than a response may have: the next provider responds', async () => {
  const call = (at: number): JsonObject => ({ id: `call_${at}`, type: 'function', function: { name: 'f', arguments: '{"a":1}' } })
  const tool_calls = Array.from({ length: 20_000 }, (_, at) => call(at))
  const bad = JSON.stringify({ id: 'c', choices: [{ index: 0, message: { role: 'assistant', tool_calls }, finish_reason: 'tool_calls' }] })
  const { ask } = await serve('chat', url => whole(url.includes('first.test') ? bad : JSON.stringify(wholeOf('chat'))))
  expect(await ask('/v1/responses', { model: 'both', input: 'Hi' })).toMatchObject({ status: 200, body: { output_text: 'Here.' } })
})

const manyParts: Readonly<Record<string, (n: number) => readonly [BuiltInDialect, JsonObject]>> = {
  'parts of one message': n => {
    const content = Array.from({ length: n }, () => ({ type: 'output_text', text: 'a', annotations: [] }))
    return ['responses', { id: 'r', status: 'completed', output: [{ type: 'message', id: 'm', role: 'assistant', content }] }]
  },
  'paragraphs of one thought': n => {
    const summary = Array.from({ length: n }, () => ({ type: 'summary_text', text: 'a' }))
    return ['responses', { id: 'r', status: 'completed', output: [{ type: 'reasoning', id: 'm', summary }] }]
  },
  texts: n => {
    const content = Array.from({ length: n }, () => ({ type: 'text', text: 'a' }))
    return ['messages', { id: 'm', type: 'message', role: 'assistant', content, stop_reason: 'end_turn' }]
  },
}

test.each(Object.entries(manyParts))('so are 20,000 %s, and 5,000 are not', async (_, make) => {
  const [dialect, bad] = make(20_000)
  const { ask } = await serve(dialect, url => whole(JSON.stringify(url.includes('first.test') ? bad : wholeOf(dialect))))
  expect(await ask('/v1/responses', { model: 'both', input: 'Hi' })).toMatchObject({ status: 200, body: { output_text: 'Here.' } })
  const fine = await serve(dialect, () => whole(JSON.stringify(make(5_000)[1])))
  expect((await fine.ask('/v1/responses', { model: 'alone', input: 'Hi' })).status).toBe(200)
})

test('a large whole response is streamed in parts, with turns of the event loop for others between them', async () => {
  const content = Array.from({ length: 8_000 }, (_, at) => ({ type: 'tool_use', id: `c${at}`, name: 'f', input: { a: 1 } }))
  const answer = { id: 'm', type: 'message', role: 'assistant', content, stop_reason: 'tool_use' }
  const testbed = await testGateway({
    providers: [rawProvider('first', 'messages')],
    models: [modelOf('alone', [{ provider: 'first', dialect: 'messages' }])],
    transport: scriptedTransport(() => whole(JSON.stringify(answer))),
  })
  open.push(testbed)
  const headers = { authorization: `Bearer ${testbed.secret}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ model: 'alone', input: 'Hi', stream: true })
  const response = await toFetchHandler(testbed.gateway)('http://gateway.test/v1/responses', { method: 'POST', headers, body })
  let turns = 0
  const counting = setInterval(() => {
    turns += 1
  }, 0)
  const sizes: number[] = []
  for await (const chunk of response.body ?? []) sizes.push(chunk.byteLength)
  clearInterval(counting)
  expect(turns).toBeGreaterThan(10)
  const total = sizes.reduce((sum, size) => sum + size, 0)
  expect(total).toBeGreaterThan(5_000_000)
  // The last event repeats the whole answer; all others are spread.
  expect(Math.max(...sizes)).toBeLessThan(total / 2)
})

const chunkOf = (delta: JsonObject, more: JsonObject = {}): string =>
  `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta, ...more }] })}\n\n`
const callAt = (index: number): JsonObject => ({ index, id: `c${index}`, function: { name: 'f', arguments: '{}' } })
const numbers = (count: number, from = 0): readonly number[] => Array.from({ length: count }, (_, at) => from + at)

/** Calls that begin, and are whole once all have begun. */
const openCalls = (count: number): readonly JsonObject[] => [
  ...numbers(count).map(index => ({ index, id: `c${index}`, function: { name: 'f', arguments: '{"a":' } })),
  ...numbers(count).map(index => ({ index: count - 1 - index, function: { arguments: '1}' } })),
]

const tooManyCalls: Readonly<Record<string, readonly string[]>> = {
  'in many reads': numbers(300).map(read =>
    numbers(50, read * 50)
      .map(index => chunkOf({ tool_calls: [callAt(index)] }))
      .join(''),
  ),
  'in one event': [chunkOf({ tool_calls: numbers(15_000).map(callAt) })],
  'in one read that ends the answer': [
    `${chunkOf({ tool_calls: numbers(15_000).map(callAt) }, { finish_reason: 'tool_calls' })}data: [DONE]\n\n`,
  ],
  'in one event, the first of them finished last': [chunkOf({ tool_calls: openCalls(15_000) })],
}

test.each(Object.entries(tooManyCalls))(
  'a stream of more items than a response may have, %s, is cut off, and ends in one failure',
  async (_, texts) => {
    const pieces = texts.map(bytesOf)
    const testbed = await testGateway({
      providers: [rawProvider('first', 'chat')],
      models: [modelOf('alone', [{ provider: 'first', dialect: 'chat' }])],
      transport: scriptedTransport(() => ({ pieces })),
    })
    open.push(testbed)
    const headers = { authorization: `Bearer ${testbed.secret}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ model: 'alone', input: 'Hi', stream: true })
    const response = await toFetchHandler(testbed.gateway)('http://gateway.test/v1/responses', { method: 'POST', headers, body })
    const text = await response.text()
    expect(text.match(/^event: response\.(completed|failed|incomplete)$/gm)).toEqual(['event: response.failed'])
    expect(text).toContain('The response has more than 10000 items.')
    expect(text.match(/^event: response\.output_item\.added$/gm)?.length).toBeLessThanOrEqual(10_000)
  },
)

/** A call whose input is deeper than a response may be, as its model was asked to write it. */
const deepCalls: Readonly<Record<'messages' | 'gemini' | 'bedrock', (input: string) => string>> = {
  messages: input =>
    `{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"t","name":"f","input":${input}}],"stop_reason":"tool_use","usage":{"input_tokens":5,"output_tokens":900}}`,
  gemini: input =>
    `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"f","args":${input}}}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":900,"totalTokenCount":905},"modelVersion":"m","responseId":"r"}`,
  bedrock: input =>
    `{"output":{"message":{"role":"assistant","content":[{"toolUse":{"toolUseId":"t","name":"f","input":${input}}}]}},"stopReason":"tool_use","usage":{"inputTokens":5,"outputTokens":900,"totalTokens":905},"metrics":{"latencyMs":1}}`,
}

describe.each(Object.entries(deepCalls))('a call of a model at a provider of dialect %s', (dialect, write) => {
  test.each([
    ['nested deeper than the bound', `{"a":${nestedList(700)}}`],
    ['with more keys than the bound', `{"a":${keys(10_001)}}`],
  ])('%s is delivered as it was written, and paid', async (_, input) => {
    const { ask, rows } = await serve(dialect as BuiltInDialect, url => {
      if (!url.includes('first.test')) throw new Error('Only one provider is called.')
      return whole(write(input))
    })
    const tools = [{ type: 'function', name: 'f', parameters: { type: 'object' } }]
    const answer = await ask('/v1/responses', { model: 'both', input: 'Hi', max_output_tokens: 100_000, tools })
    expect(answer).toMatchObject({ status: 200, body: { output: [{ type: 'function_call', name: 'f', arguments: input }] } })
    const inMessages = {
      model: 'both',
      max_tokens: 100_000,
      messages: [{ role: 'user', content: 'Hi' }],
      tools: [{ name: 'f', input_schema: {} }],
    }
    expect((await ask('/v1/messages', inMessages)).status).toBe(200)
    expect((await rows()).map(({ outputTokens }) => outputTokens)).toEqual([900, 900])
  })
})
