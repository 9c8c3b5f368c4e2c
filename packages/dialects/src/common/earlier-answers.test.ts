import { expect, test } from 'vitest'
import { needsOf } from '../../../core/src/routing/needs.ts'
import { chatClient } from '../chat/client.ts'
import { messagesClient } from '../messages/client.ts'
import { messagesProvider } from '../messages/provider.ts'
import { providerDialects } from '../providers.ts'
import { responsesClient } from '../responses/client.ts'
import { withoutForeignRecords } from './earlier-answers.ts'
import { isContentLost } from './part-warnings.ts'

const responses = (...input: readonly object[]) => responsesClient.decodeRequest({ model: 'm', input: input as never })
const messages = (...content: readonly object[]) =>
  messagesClient.decodeRequest({
    model: 'm',
    max_tokens: 9,
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: content as never },
      { role: 'user', content: 'Go on.' },
    ],
  })
const search = { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'q' } }
const user = { role: 'user', content: 'Hi' }

test('searches of an earlier response are left out for other dialects, with one warning, and kept for their own', () => {
  const request = responses(user, search, { ...search, id: 'ws_2' }, user)
  expect(withoutForeignRecords(request, 'responses')).toEqual({ request, warnings: [] })
  const { request: sent, warnings } = withoutForeignRecords(request, 'gemini')
  expect(sent.prompt.input.map(({ type }) => type)).toEqual(['message', 'message'])
  expect(warnings).toEqual([
    {
      code: 'earlier_output_dropped',
      message: '`input[1]` and 1 more (`web_search_call`) of earlier answers cannot be sent to the API of this provider and were left out.',
      param: 'input[1]',
    },
  ])
})

test('an unknown part is left out of its message, and the message too if nothing else is in it', () => {
  const part = { type: 'output_smell', smell: 'roses' }
  const said = { type: 'output_text', text: 'Roses.' }
  const request = responses(user, { role: 'assistant', content: [part, said] }, { role: 'assistant', content: [part] })
  const { request: sent, warnings } = withoutForeignRecords(request, 'chat')
  expect(sent.prompt.input).toMatchObject([{ role: 'user' }, { role: 'assistant', content: [{ type: 'text', text: 'Roses.' }] }])
  expect(warnings).toMatchObject([{ param: 'input[1].content[0]', message: expect.stringContaining('`output_smell`') }])
})

test('unknown parts of the user, and a vendor’s compaction, count as content', () => {
  for (const item of [
    { role: 'user', content: [{ type: 'input_smell', smell: 'roses' }] },
    { type: 'compaction', id: 'cmp_1', encrypted_content: 'e' },
    { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: null },
  ]) {
    const request = responses(user, item)
    expect(withoutForeignRecords(request, 'messages').warnings).toEqual([])
    expect(messagesProvider.encodeRequest(request, {} as never, {}).warnings.some(isContentLost)).toBe(true)
  }
})

test('a summary in plain text is sent as assistant text, and a failed one is left out', () => {
  const { request, warnings } = withoutForeignRecords(messages({ type: 'compaction', content: 'They said Hi.' }), 'bedrock')
  expect(warnings).toEqual([])
  expect(request.prompt.input[1]).toMatchObject({ role: 'assistant', content: [{ type: 'text', text: 'They said Hi.' }] })
  expect(withoutForeignRecords(messages({ type: 'compaction', content: null }), 'bedrock').warnings).toHaveLength(1)
})

test('the result of a call that is left out is left out too', () => {
  const calls = [{ id: 'c1', type: 'mcp', mcp: { name: 'find' } }]
  const request = chatClient.decodeRequest({
    model: 'm',
    messages: [user, { role: 'assistant', content: 'Wait.', tool_calls: calls }, { role: 'tool', tool_call_id: 'c1', content: 'r' }, user],
  })
  const { request: sent, warnings } = withoutForeignRecords(request, 'messages')
  expect(sent.prompt.input.map(({ type }) => type)).toEqual(['message', 'message', 'message'])
  expect(warnings).toMatchObject([{ message: expect.stringContaining('and 1 more (`mcp`, `function_call_output`)') }])
})

test('a request with only records of earlier calls is refused', () => {
  const request = responses(search)
  expect(withoutForeignRecords(request, 'messages').request).toBe(request)
  expect(messagesProvider.encodeRequest(request, {} as never, {}).warnings.some(isContentLost)).toBe(true)
})

test('calls that a client carries out are sent to other dialects as function calls, with their results', () => {
  const shell = { type: 'shell_call', id: 'sh_1', call_id: 'c1', status: 'completed', action: { commands: ['ls'] } }
  const result = {
    type: 'shell_call_output',
    call_id: 'c1',
    output: [{ stdout: 'a.txt', stderr: '', outcome: { type: 'exit', exit_code: 0 } }],
  }
  const old = { type: 'local_shell_call', id: 'l1', call_id: 'c2', status: 'completed', action: { type: 'exec', command: ['ls'] } }
  const patch = {
    type: 'apply_patch_call',
    id: 'p1',
    call_id: 'c3',
    status: 'completed',
    operation: { type: 'delete_file', path: 'a.txt' },
  }
  const click = { type: 'computer_call', id: 'u1', call_id: 'c4', actions: [{ type: 'click', x: 1, y: 2 }], pending_safety_checks: [] }
  const screen = {
    type: 'computer_call_output',
    call_id: 'c4',
    output: { type: 'computer_screenshot', image_url: 'data:image/png;base64,AAAA' },
  }
  const input = [
    ...[user, shell, result, old, { type: 'local_shell_call_output', id: 'c2', output: 'b' }, patch],
    ...[{ type: 'apply_patch_call_output', call_id: 'c3', status: 'completed' }, click, screen, user],
  ]
  const request = responses(...input)
  const { request: sent, warnings } = withoutForeignRecords(request, 'messages')
  expect(warnings).toEqual([])
  const encoded = messagesProvider.encodeRequest(sent, {} as never, {})
  expect(encoded.warnings.some(isContentLost)).toBe(false)
  const text = JSON.stringify(encoded.body)
  for (const part of [
    '"name":"shell","input":{"commands":["ls"]}',
    'a.txt',
    '"name":"local_shell"',
    '"content":"b"',
    '"name":"apply_patch"',
  ])
    expect(text).toContain(part)
  expect(text).toContain('"name":"computer","input":{"actions":[{"type":"click","x":1,"y":2}]}')
  expect(text).toContain('"data":"AAAA"')
})

const blocks = [
  { type: 'tool_reference', tool_name: 'look' },
  {
    type: 'search_result',
    title: 'Sky',
    source: 'https://a.example',
    content: [{ type: 'text', text: 'Blue.' }],
    citations: { enabled: true },
  },
  { type: 'document', title: 'Notes', source: { type: 'content', content: [{ type: 'text', text: 'Clouds.' }] } },
  { type: 'document', source: { type: 'content', content: 'Rain.' } },
] as const
const texts = ['Found the tool look, which can be called now.', 'Sky\n\nSource: https://a.example\n\nBlue.', 'Notes\n\nClouds.', 'Rain.']

const withBlocks = (...content: readonly object[]) =>
  messagesClient.decodeRequest({
    model: 'm',
    max_tokens: 9,
    messages: [
      { role: 'user', content: content as never },
      { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'search', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: content as never }] },
    ],
    tools: [{ name: 'search', input_schema: { type: 'object' } }],
  })

test.each(['chat', 'responses', 'gemini', 'bedrock'] as const)(
  'blocks of text are sent to %s as text, with one warning for each type',
  name => {
    const request = withBlocks(...blocks)
    expect(needsOf(request, 10)).toMatchObject({ natives: [], recordDialects: ['messages'] })
    const { request: sent, warnings } = withoutForeignRecords(request, name)
    const parts = texts.map(text => ({ type: 'text', text }))
    expect(sent.prompt.input).toMatchObject([{ content: parts }, { type: 'function_call' }, { output: parts }])
    expect(warnings.map(({ code, param }) => [code, param])).toEqual([
      ['unsupported_parameter', 'messages[0].content[0]'],
      ['unsupported_parameter', 'messages[0].content[1]'],
      ['unsupported_parameter', 'messages[0].content[2]'],
    ])
    const text = JSON.stringify(providerDialects[name].encodeRequest(sent, { model: 'm' } as never, {}).body)
    expect(text.split('Clouds.')).toHaveLength(3)
  },
)

test('blocks of text reach a Messages provider as they came, and one that holds an image is no text', () => {
  const request = withBlocks(...blocks)
  expect(withoutForeignRecords(request, 'messages')).toEqual({ request, warnings: [] })
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } }
  const mixed = withBlocks({ type: 'document', source: { type: 'content', content: [image] } })
  expect(needsOf(mixed, 10).natives).toMatchObject([{ dialect: 'messages', param: 'messages[0].content[0]' }, {}])
})
