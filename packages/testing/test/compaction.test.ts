import type { JsonObject } from '@signalbox/dialects/protocol'
import { toFetchHandler } from '@signalbox/fetch-handler'
import { expect, onTestFinished, test } from 'vitest'
import { defaultText } from '../src/answers/answer.ts'
import { chaosProvider } from '../src/chaos-provider.ts'
import { testGateway } from '../src/gateway.ts'

// A conversation is summarized by the requested model, and the sealed summary can be sent to any provider.

const conversation = [
  { role: 'user', content: 'Plan a bakery.' },
  { role: 'assistant', content: 'First, a place.' },
  { type: 'function_call', call_id: 'c', name: 'rent', arguments: '{}' },
  { type: 'function_call_output', call_id: 'c', output: '1,000' },
  { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'And then?' }], id: 'msg_mine' },
]
const tools = [{ type: 'function', name: 'rent', parameters: { type: 'object', properties: {} } }]

type Item = JsonObject & { readonly type: string }

async function createFixture(dialect: 'responses' | 'chat' | 'messages' | 'gemini' | 'bedrock' = 'responses') {
  const provider = await chaosProvider()
  const scene = await testGateway({ servers: [provider], dialect })
  onTestFinished(async () => {
    await scene.close()
    await provider.close()
  })
  const handle = toFetchHandler(scene.gateway)
  const post = async (path: string, body: object, secret = scene.secret) => {
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
    const response = await handle(new Request(`http://x/v1/responses${path}`, { method: 'POST', headers, body: JSON.stringify(body) }))
    return { status: response.status, headers: response.headers, json: (await response.json()) as JsonObject }
  }
  const compact = async (body: object = {}) => {
    const { json } = await post('/compact', { model: 'test-model', input: conversation, tools, ...body })
    return { json, output: json.output as unknown as readonly Item[] }
  }
  return { ...scene, provider, post, compact }
}

test('the reply has the user messages and one sealed item, and the summary covers the whole conversation', async () => {
  const { compact, provider } = await createFixture()
  const { json, output } = await compact({ instructions: 'Be brief.', text: { format: { type: 'json_object' } } })
  expect(json).toMatchObject({
    object: 'response.compaction',
    id: expect.stringMatching(/^resp_/),
    usage: { output_tokens: expect.any(Number) },
  })
  expect(output).toEqual([
    {
      id: expect.stringMatching(/^msg_/),
      type: 'message',
      role: 'user',
      status: 'completed',
      content: [{ type: 'input_text', text: 'Plan a bakery.' }],
    },
    { id: 'msg_mine', type: 'message', role: 'user', status: 'completed', content: [{ type: 'input_text', text: 'And then?' }] },
    { type: 'compaction', id: expect.stringMatching(/^cmp_/), encrypted_content: expect.stringMatching(/^gwc1\./) },
  ])
  const sent = provider.requests[0]?.json
  expect(sent).toMatchObject({ instructions: 'Be brief.', tool_choice: 'none' })
  expect(sent?.text).toBeUndefined()
  expect(sent?.input).toHaveLength(conversation.length + 1)
  expect(JSON.stringify(output.at(-1))).not.toContain('Signals')
})

test.each(['responses', 'chat', 'messages', 'gemini', 'bedrock'] as const)(
  'the items are sent as text to a provider of %s, and can be compacted again',
  async dialect => {
    const { compact, post, provider } = await createFixture(dialect)
    const { output } = await compact()
    const next = await post('', { model: 'test-model', input: [...output, { role: 'user', content: 'Go on.' }] })
    expect(next).toMatchObject({ status: 200, json: { status: 'completed' } })
    expect(next.json.warnings ?? []).toEqual([])
    const sent = JSON.stringify(provider.requests[1]?.json)
    expect(sent).toContain('This is a summary of the conversation so far')
    expect(sent).toContain('Signals were set by hand once')
    expect(sent).not.toContain('gwc1.')
    const again = await compact({ input: [...output, { role: 'user', content: 'Go on.' }] })
    expect(again.output.map(({ type }) => type)).toEqual(['message', 'message', 'message', 'compaction'])
    expect(JSON.stringify(provider.requests[2]?.json)).toContain('Signals were set by hand once')
  },
)

test('it is billed and logged as one request', async () => {
  const { compact, storage, caller, gateway } = await createFixture()
  const { json } = await compact()
  const rows = await storage.usage.list({ workspaceId: caller.workspaceId, from: 0, to: Number.MAX_SAFE_INTEGER, limit: 10 })
  expect(rows).toMatchObject([{ result: 'ok', streamed: false }])
  const { balance, held } = await gateway.workspaces(caller.workspaceId).billing.balance()
  expect({ spent: 1_000_000_000 - balance, held }).toEqual({ spent: rows[0]?.cost, held: 0 })
  expect(json.usage).toMatchObject({ output_tokens: rows[0]?.outputTokens })
})

test('an item of another workspace, or an altered one, is refused with its path', async () => {
  const { compact, post, gateway } = await createFixture()
  const { output } = await compact()
  const item = output.at(-1) as Item
  const other = await gateway.workspaces.create({ name: 'Other', billing: 'postpaid' })
  const { secret } = await gateway.workspaces(other.id).apiKeys.create({ name: 'k', scopes: '*' })
  const body = (sealed: unknown) => ({
    model: 'test-model',
    input: [
      { ...item, encrypted_content: sealed },
      { role: 'user', content: 'Go on.' },
    ],
  })
  const sealed = String(item.encrypted_content)
  for (const reply of [
    await post('', body(sealed), secret),
    await post('', body(`${sealed.slice(0, -3)}abc`)),
    await post('', body('gwc1.')),
    await post('', body('gwc1.2.x.y.z')),
  ]) {
    expect(reply).toMatchObject({ status: 400, json: { error: { code: 'invalid_parameter_value', param: 'input[0].encrypted_content' } } })
  }
})

test('a reference to an item by id is replaced by its summary, as the item itself is', async () => {
  const { post, provider } = await createFixture()
  const first = await post('', { model: 'test-model', input: [...conversation, { type: 'compaction_trigger' }], tools })
  const [{ id, encrypted_content }] = first.json.output as unknown as [Item]
  const next = await post('', {
    model: 'test-model',
    input: [
      { type: 'item_reference', id },
      { role: 'user', content: 'Go on.' },
    ],
  })
  expect(next.status).toBe(200)
  const sent = JSON.stringify(provider.requests[1]?.json)
  expect(sent).toContain(defaultText)
  expect(sent).not.toContain(encrypted_content)
})

test('an item made by a vendor is sent to that vendor unchanged', async () => {
  const { post, provider } = await createFixture()
  const item = { type: 'compaction', id: 'cmp_theirs', encrypted_content: 'gAAAAABpM0Yj' }
  expect((await post('', { model: 'test-model', input: [item, { role: 'user', content: 'Go on.' }] })).status).toBe(200)
  expect(provider.requests[0]?.json?.input).toMatchObject([item, { role: 'user' }])
})

test('a model that writes nothing is an error, and a failing model’s error is passed on', async () => {
  const { compact } = await createFixture()
  expect((await compact({ model: 'say:refusal' })).json).toMatchObject({ error: { code: 'provider_error' } })
  expect((await compact({ model: 'no-such-model' })).json).toMatchObject({ error: { code: 'model_not_found' } })
  expect((await compact({ input: undefined })).json).toMatchObject({ error: { code: 'missing_required_parameter' } })
  expect((await compact({ previous_response_id: 'resp_1' })).json).toMatchObject({ error: { code: 'unknown_parameter' } })
})

test.each([false, true])('a trigger at the end of a request returns one sealed item that can be sent on, streamed: %s', async stream => {
  const { post, gateway, secret, provider } = await createFixture('messages')
  const body = { model: 'test-model', input: [...conversation, { type: 'compaction_trigger' }], tools, stream }
  const handle = toFetchHandler(gateway)
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
  const response = await handle(new Request('http://x/v1/responses', { method: 'POST', headers, body: JSON.stringify(body) }))
  const text = await response.text()
  const events = stream
    ? text.split('\n').flatMap(line => (line.startsWith('data: {') ? [JSON.parse(line.slice('data: '.length)) as JsonObject] : []))
    : []
  const answer = (stream ? events.at(-1)?.response : JSON.parse(text)) as JsonObject
  expect(answer).toMatchObject({ status: 'completed', usage: { output_tokens: expect.any(Number) } })
  const [item, ...others] = answer.output as readonly JsonObject[]
  expect(others).toEqual([])
  expect(item).toMatchObject({ type: 'compaction', encrypted_content: expect.stringMatching(/^gwc1\./) })
  expect(text).not.toContain(defaultText)
  if (stream) expect(events.map(({ type }) => type)).toContain('response.output_item.done')
  expect(JSON.stringify(provider.requests[0]?.json)).not.toContain('compaction_trigger')
  const next = await post('', { model: 'test-model', input: [item, { role: 'user', content: 'Go on.' }] })
  expect(next.status).toBe(200)
  expect(JSON.stringify(provider.requests[1]?.json)).toContain(defaultText)
})

test('a trigger whose model cannot be called returns that error', async () => {
  const { post } = await createFixture()
  const input = [{ role: 'user', content: 'Hi' }, { type: 'compaction_trigger' }]
  expect(await post('', { model: 'no-such-model', input })).toMatchObject({ status: 404, json: { error: { code: 'model_not_found' } } })
})
