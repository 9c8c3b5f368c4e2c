import { type Api, createApi } from '@signalbox/api'
import { chatProvider } from '@signalbox/core/dialects'
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
