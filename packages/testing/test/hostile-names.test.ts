import { type Api, createApi } from '@signalbox/api'
import { chatProvider, responsesProvider } from '@signalbox/dialects'
import type { JsonObject } from '@signalbox/dialects/protocol'
import { toFetchHandler } from '@signalbox/fetch-handler'
import { beforeAll, describe, expect, test } from 'vitest'
import { testGateway } from '../src/gateway.ts'
import { scriptedProvider } from '../src/scripted-provider.ts'

let api: Api
let secret: string

beforeAll(async () => {
  const provider = scriptedProvider({ id: 'scripted', dialect: chatProvider })
  const testbed = await testGateway({ providers: [provider], limits: { inferenceRpm: 1_000_000 } })
  secret = testbed.secret
  api = createApi(testbed.gateway)
})

async function post(
  path: string,
  body: object,
): Promise<{ readonly status: number; readonly error: { readonly param?: string } | undefined }> {
  const headers = new Map([
    ['authorization', `Bearer ${secret}`],
    ['content-type', 'application/json'],
  ])
  const reply = await api({
    method: 'POST',
    path,
    query: '',
    header: name => headers.get(name),
    text: async () => ({ ok: true, text: JSON.stringify(body) }),
    signal: new AbortController().signal,
  })
  return { status: reply.status, error: JSON.parse(String(reply.body)).error }
}

const names = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__'] as const

const chat = (message: object, more: object = {}): object => ({
  model: 'test-model',
  messages: [{ role: 'user', content: 'hi', ...message }],
  ...more,
})

describe.each(names)('a value named %s', name => {
  test('is accepted as an audio format like any other', async () => {
    const sound = { data: 'AAAA', format: name }
    expect(await post('/v1/chat/completions', chat({ content: [{ type: 'input_audio', input_audio: sound }] }))).toMatchObject({
      status: 200,
    })
    const input = [{ role: 'user', content: [{ type: 'input_audio', input_audio: sound }] }]
    expect((await post('/v1/responses', { model: 'test-model', input })).status).toBe(200)
  })

  test('is handled as a kind of part, item, tool and choice like any other', async () => {
    const bodies = [
      chat({ content: [{ type: 'text', text: 'x' }, { type: name }] }),
      chat({}, { tools: [{ type: name }] }),
      chat(
        {},
        {
          tools: [{ type: 'function', function: { name: 'f' } }],
          tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [{ type: name }] } },
        },
      ),
      chat({}, { response_format: { type: name } }),
      chat({}, { gateway: { routing: { strategy: name } } }),
    ]
    for (const body of bodies) expect((await post('/v1/chat/completions', body)).status).toBeLessThan(500)
    for (const body of [
      { model: name, input: 'x' },
      { model: 'test-model', input: [{ type: name }] },
      { model: 'test-model', input: 'x', extensions: { generation_config: { [`_${name}`]: 1 } } },
    ])
      expect((await post('/v1/responses', body)).status).toBeLessThan(500)
  })
})

const wrongNames: readonly { readonly name: unknown }[] = [{ toString: 'f' }, { valueOf: 1 }, [], null, 7, ''].map(name => ({ name }))

test.each(wrongNames)('the name of an old function call must be a string, not %j', async ({ name }) => {
  const body = { model: 'test-model', messages: [{ role: 'assistant', content: null, function_call: { name, arguments: '{}' } }] }
  expect(await post('/v1/chat/completions', body)).toMatchObject({ status: 400, error: { param: 'messages[0].function_call.name' } })
})

describe('an answer with values that cannot be made a text is never a 500', () => {
  const value = { toString: 1, valueOf: 1 }
  const item = (fields: JsonObject): JsonObject => ({ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', ...fields })
  const text = { type: 'output_text', text: 'Hi', annotations: [] }
  const items: Readonly<Record<string, JsonObject>> = {
    'the type of a part': item({ content: [{ type: value }, text] }),
    'the type of an item': item({ type: value, content: [text] }),
    'the id and the role of an item': item({ id: value, role: value, content: [text] }),
    'a citation': item({ content: [{ ...text, annotations: [{ type: value }, { type: 'url_citation', url: value, title: value }] }] }),
    'the format of an image': { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'AAAA', output_format: value },
    'a call': { type: 'function_call', id: value, call_id: value, name: value, arguments: value, namespace: value },
    'a hosted call': { type: 'web_search_call', id: value, status: value, action: value },
  }
  const routes = [
    ['/v1/responses', { input: 'Hi' }],
    ['/v1/chat/completions', { messages: [{ role: 'user', content: 'Hi' }] }],
    ['/v1/messages', { max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }],
    ['/v4/ai/language-model', { prompt: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }] }],
  ] as const

  test.each(Object.entries(items))('%s', async (_, output) => {
    const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', status: 'completed', output: [output] }
    const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
    const events = [
      { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
      { type: 'response.output_item.added', output_index: 0, item: { ...output, status: 'in_progress' } },
      { type: 'response.output_item.done', output_index: 0, item: output },
      { type: 'response.completed', response: { ...response, usage } },
    ]
    const frames = events.map(event => ({ event: event.type, data: JSON.stringify(event) }))
    const provider = scriptedProvider({ id: 'scripted', dialect: responsesProvider })
    const logged: unknown[] = []
    const logger = { info: () => {}, warn: () => {}, error: (...line: readonly unknown[]) => void logged.push(line) }
    const testbed = await testGateway({ providers: [provider], logger })
    const handle = toFetchHandler(testbed.gateway)
    for (const [path, body] of routes)
      for (const stream of [false, true]) {
        provider.play(async () =>
          stream
            ? {
                status: 200,
                frames: (async function* () {
                  yield frames
                })(),
              }
            : { status: 200, body: { ...response, usage } },
        )
        const answer = await handle(
          new Request(`https://g.test${path}`, {
            method: 'POST',
            headers: {
              authorization: `Bearer ${testbed.secret}`,
              'content-type': 'application/json',
              'ai-language-model-id': 'test-model',
              'ai-language-model-streaming': `${stream}`,
            },
            body: JSON.stringify({ model: 'test-model', stream, ...body }),
          }),
        )
        expect(answer.status, `${path} ${stream}`).toBe(output.type === 'function_call' ? 502 : 200)
        expect(await answer.text()).not.toContain('internal_error')
      }
    expect(logged).toEqual([])
  })
})
