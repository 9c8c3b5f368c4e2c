import { describe, expect, test } from 'vitest'
import { needsOf } from '../../../core/src/routing/needs.ts'
import { offer } from '../../test/laws.ts'
import { chatClient } from '../chat/client.ts'
import { messagesClient } from '../messages/client.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { providerDialects } from '../providers.ts'
import { responsesClient } from '../responses/client.ts'

const parameters = { type: 'object', properties: { city: { type: 'string' } } } as const
const tool = (name: string): JsonObject => ({ type: 'function', name, parameters })
const group = (name: string, ...tools: readonly JsonObject[]): JsonObject => ({ type: 'namespace', name, description: '', tools })
const exec = { type: 'custom', name: 'exec', description: 'Runs a script.' }

/** Tools as Codex sends them: in the conversation, and in groups. */
const ask = (fields: JsonObject = {}): InferenceRequest =>
  responsesClient.decodeRequest({
    model: 'm',
    input: [
      { type: 'additional_tools', role: 'developer', tools: [group('functions', exec, tool('wait')), group('mcp__sky', tool('look'))] },
      { role: 'user', content: 'Look.' },
      { type: 'function_call', call_id: 'c1', namespace: 'mcp__sky', name: 'look', arguments: '{"city":"Bern"}' },
      { type: 'function_call_output', call_id: 'c1', output: 'Blue.' },
    ],
    tools: [tool('plain'), group('clock', tool('sleep')), { type: 'web_search' }],
    ...fields,
  })

describe.each(['chat', 'messages', 'gemini', 'bedrock'] as const)('grouped tools for %s', name => {
  const dialect = providerDialects[name]

  test('are in one list with those of the conversation, and earlier calls have the same names', () => {
    const { body, warnings } = dialect.encodeRequest(ask(), offer, {})
    const text = JSON.stringify(body)
    for (const sent of ['plain', 'clock__sleep', 'exec', 'wait', 'mcp__sky__look']) expect(text).toContain(`"name":"${sent}"`)
    expect(text.split('"mcp__sky__look"')).toHaveLength(name === 'gemini' ? 4 : 3)
    expect(text).not.toMatch(/additional_tools|namespace/)
    expect(warnings.map(({ param }) => param)).toEqual(['tools[2]'])
  })

  test('cost as much as they have in the request, however long the name of their group is', () => {
    const found = (group: string): JsonObject => ({
      type: 'tool_search_output',
      call_id: 'c9',
      execution: 'client',
      tools: [
        { type: 'namespace', name: group, description: '', tools: Array.from({ length: 300 }, (_, at) => tool(`${group.at(-1)}${at}`)) },
      ],
    })
    const input = [{ role: 'user', content: 'Look.' }, found('n'.repeat(4_000)), found(`${'n'.repeat(3_999)}m`)]
    const text = JSON.stringify(dialect.encodeRequest(ask({ input }), offer, {}).body)
    expect(text.length).toBeLessThan(4 * JSON.stringify(input).length)
    // Groups with the same beginning stay different.
    expect(new Set(text.match(/(?<="name":")n{40}[^"]*/g)).size).toBe(600)
  })

  test('have the same names in every request', () => {
    const names = () => JSON.stringify(dialect.encodeRequest(ask(), offer, {}).body)
    expect(names()).toBe(names())
  })
})

const answer = (...calls: readonly (readonly [name: string, args: string])[]): JsonObject => ({
  id: 'x',
  created: 1,
  model: 'm',
  choices: [
    {
      index: 0,
      finish_reason: 'tool_calls',
      message: {
        role: 'assistant',
        content: null,
        tool_calls: calls.map(([name, args], at) => ({ id: `c${at}`, type: 'function', function: { name, arguments: args } })),
      },
    },
  ],
})

test('have their calls converted back to calls of the group, custom ones too, whole and streamed', () => {
  const dialect = providerDialects.chat
  const { mapping } = dialect.encodeRequest(ask(), offer, {})
  const body = answer(['mcp__sky__look', '{}'], ['exec', '{"input":"text(1)"}'], ['plain', '{}'])
  const expected = [
    { type: 'function_call', namespace: 'mcp__sky', name: 'look', arguments: '{}' },
    { type: 'function_call', namespace: 'functions', name: 'exec', arguments: 'text(1)', custom: true },
    { type: 'function_call', name: 'plain', arguments: '{}' },
  ]
  const { output } = dialect.decodeResponse(body, mapping)
  expect(output).toMatchObject(expected)
  expect(output[2]).not.toHaveProperty('namespace')

  const { choices, ...head } = body as { readonly choices: readonly [{ readonly message: JsonObject }] }
  const calls = (choices[0].message.tool_calls as readonly JsonObject[]).map((call, index) => ({ ...call, index }))
  const chunk = (delta: JsonObject, finish_reason: string | null) => ({
    data: JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] }),
  })
  const decoder = dialect.decodeEvents(mapping)
  const events = [...decoder.read([chunk({ tool_calls: calls }, null), chunk({}, 'tool_calls'), { data: '[DONE]' }]), ...decoder.end()]
  expect(events.flatMap(event => (event.type === 'item_finished' ? [event.item] : []))).toMatchObject(expected)
  expect(events.flatMap(event => (event.type === 'item_started' ? [event.item] : []))).toMatchObject([
    { namespace: 'mcp__sky', name: 'look' },
    { namespace: 'functions', name: 'exec' },
    { name: 'plain' },
  ])
})

test('stay distinct if two would get the same name', () => {
  const { body, mapping } = providerDialects.chat.encodeRequest(
    ask({ tools: [tool('wait'), tool('a__b'), group('a', tool('b'))] }),
    offer,
    {},
  )
  const names = (body.tools as readonly { readonly function: { readonly name: string } }[]).map(each => each.function.name)
  expect(new Set(names).size).toBe(names.length)
  expect([...(mapping?.groupedTools?.values() ?? [])]).toContainEqual({ namespace: 'a', name: 'b' })
  expect([...(mapping?.groupedTools?.values() ?? [])]).toContainEqual({ namespace: 'functions', name: 'wait' })
})

test('grouped tools are sent unchanged to a Responses provider, and kept if the prompt was changed', () => {
  const request = ask()
  const { body } = providerDialects.responses.encodeRequest(request, offer, {})
  expect(body.input).toMatchObject([{ type: 'additional_tools' }, {}, { namespace: 'mcp__sky', name: 'look' }, {}])
  const changed = { ...request, prompt: { ...request.prompt, temperature: 0 } }
  const again = providerDialects.responses.encodeRequest(changed, offer, {}).body
  expect(again.tools).toMatchObject([{ name: 'plain' }, { type: 'namespace', name: 'clock' }, { type: 'web_search' }])
  expect(again.input).toMatchObject([{ type: 'additional_tools' }, {}, { namespace: 'mcp__sky', name: 'look' }, {}])
})

test('grouped tools need an offer with tools, of any dialect', () => {
  const needs = needsOf(ask({ tools: [] }), 10)
  expect(needs).toMatchObject({ tools: true, natives: [], toolDialects: [] })
})

test.each([
  ['a group without a name', { tools: [{ type: 'namespace', tools: [] }] }, 'tools[0].name'],
  ['a tool of a group without one', { tools: [group('g', { type: 'function' })] }, 'tools[0].tools[0].name'],
  ['a list that is none', { input: [{ type: 'additional_tools', tools: 'all' }] }, 'input[0].tools'],
])('%s is refused with its path', (_, fields, param) => {
  expect(() => ask(fields as JsonObject)).toThrow(expect.objectContaining({ facts: expect.objectContaining({ param }) }))
})

const chatTool = (name: string, description: string): JsonObject => ({ type: 'function', function: { name, description, parameters } })
const found = { ...tool('rate'), description: 'Found.' }
const deferred = [{ type: 'tool_search' }, { ...tool('rate'), description: 'Deferred.', defer_loading: true }]
const searchOutput = { type: 'tool_search_output', call_id: null, execution: 'server', status: 'completed', tools: [found] }
const hello = { role: 'user', content: 'Hi' }
const read = (input: readonly JsonObject[], tools: readonly JsonObject[] = []) =>
  responsesClient.decodeRequest({ model: 'm', input, tools })

describe.each(['chat', 'messages', 'gemini', 'bedrock'] as const)('tools for %s', name => {
  test.each([
    ['is deferred and then added', read([hello, { type: 'additional_tools', role: 'developer', tools: [found] }, hello], deferred)],
    ['is found by two searches', read([hello, searchOutput, searchOutput, hello], [{ type: 'tool_search' }])],
    [
      'comes twice',
      chatClient.decodeRequest({ model: 'm', messages: [hello], tools: [chatTool('rate', 'First.'), chatTool('rate', 'Found.')] }),
    ],
    [
      'comes twice in a group',
      read([hello, { type: 'additional_tools', tools: [group('g', found)] }], [group('g', { ...tool('rate'), description: 'Deferred.' })]),
    ],
  ])('have each name once, with its last definition, where a tool %s', (_, request) => {
    const text = JSON.stringify(providerDialects[name].encodeRequest(request, offer, {}).body)
    expect(text.split(/"name":"(?:g__)?rate"/)).toHaveLength(2)
    expect(text).toContain('Found.')
    expect(text).not.toContain('First.')
  })
})

test('a tool that comes twice reaches no Messages provider from another dialect twice', () => {
  const request = messagesClient.decodeRequest({
    model: 'm',
    max_tokens: 10,
    messages: [hello],
    tools: [
      { name: 'rate', input_schema: parameters },
      { name: 'rate', input_schema: parameters },
    ],
  })
  for (const name of ['chat', 'gemini', 'bedrock', 'responses'] as const)
    expect(JSON.stringify(providerDialects[name].encodeRequest(request, offer, {}).body).split('"name":"rate"')).toHaveLength(2)
})
