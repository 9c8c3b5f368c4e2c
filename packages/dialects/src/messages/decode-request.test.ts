import fc from 'fast-check'
import { describe, expect, inject, test } from 'vitest'
import { metadataOf, plain } from '../../test/laws.ts'
import { isGatewayError } from '../errors/gateway-error.ts'
import type { Failure } from '../protocol/failure.ts'
import { originalOf, pathOf } from '../protocol/original.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import type { Json, JsonObject } from '../protocol/wire.ts'
import { messagesClient } from './client.ts'

const body = (fields: JsonObject = {}): JsonObject => ({
  model: 'm',
  max_tokens: 1000,
  messages: [{ role: 'user', content: 'Hi' }],
  ...fields,
})
const read = (fields: JsonObject = {}, headers: Readonly<Record<string, string>> = {}): InferenceRequest =>
  messagesClient.decodeRequest(body(fields), name => headers[name])
const prompt = (fields: JsonObject = {}) => plain(read(fields).prompt)
const itemsOf = (content: Json, role = 'user') => plain(read({ messages: [{ role, content }] }).prompt.input)
const block = (wire: Json, role = 'user') => itemsOf([wire], role)[0]
/** The only part of the only message. */
const part = (wire: JsonObject, role = 'user') => {
  const item = block(wire, role)
  return item?.type === 'message' ? item.content[0] : undefined
}

/** `code param` of the error, or `taken`. */
function verdict(decode: () => unknown): string {
  try {
    decode()
    return 'taken'
  } catch (error) {
    if (!isGatewayError(error)) throw error
    expect(error.status).toBe(400)
    return `${error.code} ${error.facts.param}`
  }
}
const refusal = (fields: JsonObject, headers: Readonly<Record<string, string>> = {}): string => verdict(() => read(fields, headers))

const userContent = (...content: readonly Json[]): JsonObject => ({ messages: [{ role: 'user', content }] })
const answering = (...content: readonly Json[]): JsonObject => ({ messages: [{ role: 'assistant', content }] })

describe('a missing field is reported', () => {
  test.each<[string, JsonObject]>([
    ['model', { model: null }],
    ['max_tokens', { max_tokens: null }],
    ['messages', { messages: null }],
    ['messages[0].role', { messages: [{ content: 'x' }] }],
    ['messages[0].content', { messages: [{ role: 'user' }] }],
    ['messages[0].content[1].type', userContent({ type: 'text', text: '' }, { text: 'x' })],
    ['messages[0].content[0].text', userContent({ type: 'text' })],
    ['messages[0].content[0].source', userContent({ type: 'image' })],
    ['messages[0].content[0].source.type', userContent({ type: 'image', source: {} })],
    ['messages[0].content[0].source.media_type', userContent({ type: 'image', source: { type: 'base64', data: 'A' } })],
    ['messages[0].content[0].source.data', userContent({ type: 'document', source: { type: 'base64', media_type: 'application/pdf' } })],
    ['messages[0].content[0].source.url', userContent({ type: 'document', source: { type: 'url' } })],
    ['messages[0].content[0].tool_use_id', userContent({ type: 'tool_result', content: 'x' })],
    ['messages[0].content[0].content[0].text', userContent({ type: 'tool_result', tool_use_id: 't', content: [{ type: 'text' }] })],
    ['messages[0].content[0].id', answering({ type: 'tool_use', name: 'f', input: {} })],
    ['messages[0].content[0].name', answering({ type: 'tool_use', id: 't', input: {} })],
    ['messages[0].content[0].data', answering({ type: 'redacted_thinking' })],
    ['system[0].type', { system: [{ text: 'x' }] }],
    ['system[0].text', { system: [{ type: 'text' }] }],
    ['tools[0].name', { tools: [{ input_schema: {} }] }],
    ['tools[0].input_schema', { tools: [{ name: 'f' }] }],
    ['tool_choice.type', { tool_choice: {} }],
    ['tool_choice.name', { tool_choice: { type: 'tool' } }],
    ['thinking.type', { thinking: {} }],
    ['thinking.budget_tokens', { thinking: { type: 'enabled' } }],
    ['output_config.format.type', { output_config: { format: {} } }],
    ['output_config.format.schema', { output_config: { format: { type: 'json_schema' } } }],
  ])('%s', (param, fields) => expect(refusal(fields)).toBe(`missing_required_parameter ${param}`))
})

describe('a field of the wrong kind is reported', () => {
  const wrong: Readonly<Record<string, readonly JsonObject[]>> = {
    model: [{ model: 1 }, { model: '' }],
    max_tokens: [{ max_tokens: 0 }, { max_tokens: 1.5 }, { max_tokens: '9' }, { max_tokens: 1e300 }],
    messages: [{ messages: 'Hi' }, { messages: {} }, { messages: [] }],
    'messages[1]': [{ messages: [{ role: 'user', content: 'x' }, 'y'] }],
    'messages[0].role': [{ messages: [{ role: 'tool', content: 'x' }] }, { messages: [{ role: 'developer', content: 'x' }] }],
    'messages[0].content': [{ messages: [{ role: 'user', content: 1 }] }, { messages: [{ role: 'user', content: {} }] }],
    'messages[0].content[0]': [userContent('x'), userContent(null), answering({ type: 'tool_result', tool_use_id: 't' })],
    'messages[0].content[0].type': [userContent({ type: 1 })],
    'messages[0].content[0].text': [userContent({ type: 'text', text: 1 })],
    'messages[0].content[0].source': [userContent({ type: 'image', source: 'https://x' })],
    'messages[0].content[0].source.data': [userContent({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 1 } })],
    'messages[0].content[0].title': [userContent({ type: 'document', title: 1, source: { type: 'url', url: 'https://x' } })],
    'messages[0].content[0].cache_control': [userContent({ type: 'text', text: 'x', cache_control: true })],
    'messages[0].content[0].cache_control.ttl': [userContent({ type: 'text', text: 'x', cache_control: { ttl: '2h' } })],
    'messages[0].content[0].content': [userContent({ type: 'tool_result', tool_use_id: 't', content: 1 })],
    'messages[0].content[0].content[0]': [userContent({ type: 'tool_result', tool_use_id: 't', content: ['x'] })],
    'messages[0].content[0].is_error': [userContent({ type: 'tool_result', tool_use_id: 't', is_error: 'yes' })],
    'messages[0].content[0].input': [answering({ type: 'tool_use', id: 't', name: 'f', input: '{}' })],
    'messages[0].content[0].thinking': [answering({ type: 'thinking', thinking: 1 })],
    'messages[0].content[0].signature': [answering({ type: 'thinking', thinking: '', signature: 1 })],
    system: [{ system: 1 }, { system: {} }],
    'system[0]': [{ system: ['x'] }],
    tools: [{ tools: {} }],
    'tools[0]': [{ tools: ['f'] }],
    'tools[0].type': [{ tools: [{ type: 1, name: 'f' }] }],
    'tools[0].name': [{ tools: [{ name: '', input_schema: {} }] }],
    'tools[0].input_schema': [{ tools: [{ name: 'f', input_schema: [] }] }],
    'tools[0].strict': [{ tools: [{ name: 'f', input_schema: {}, strict: 'yes' }] }],
    tool_choice: [{ tool_choice: 'any' }],
    'tool_choice.disable_parallel_tool_use': [{ tool_choice: { type: 'auto', disable_parallel_tool_use: 1 } }],
    thinking: [{ thinking: true }],
    'thinking.budget_tokens': [{ thinking: { type: 'enabled', budget_tokens: 0 } }],
    'thinking.display': [{ thinking: { type: 'adaptive', display: 1 } }],
    output_config: [{ output_config: 'high' }],
    'output_config.effort': [{ output_config: { effort: 'extreme' } }],
    'output_config.format.type': [{ output_config: { format: { type: 'yaml' } } }],
    stop_sequences: [{ stop_sequences: 'END' }],
    'stop_sequences[0]': [{ stop_sequences: [''] }, { stop_sequences: [1] }],
    temperature: [{ temperature: -0.01 }, { temperature: 1.01 }, { temperature: '1' }],
    top_p: [{ top_p: 1.01 }],
    top_k: [{ top_k: -1 }, { top_k: 0.5 }],
    metadata: [{ metadata: 'x' }],
    'metadata.user_id': [{ metadata: { user_id: 1 } }],
    service_tier: [{ service_tier: 1 }],
    extensions: [{ extensions: [] }],
    stream: [{ stream: 'true' }],
    'gateway.routing.tier': [{ gateway: { routing: { tier: 'fast' } } }],
  }
  test.each(Object.entries(wrong).flatMap(([param, cases]) => cases.map(fields => [param, fields] as const)))('%s', (param, fields) =>
    expect(refusal(fields)).toBe(`invalid_parameter_value ${param}`),
  )
  test('a block that its role does not allow is reported', () => {
    for (const type of ['tool_use', 'thinking', 'redacted_thinking'])
      expect(refusal(userContent({ type, id: 't', name: 'f', data: 'd' }))).toContain('messages[0].content[0]')
    expect(refusal({ messages: [{ role: 'system', content: [{ type: 'tool_result', tool_use_id: 't' }] }] })).toContain('content[0]')
  })
})

describe('the messages of a Messages request', () => {
  test('have a string as one text', () => {
    expect(itemsOf('Hi')).toEqual([{ type: 'message', role: 'user', content: [{ type: 'text', text: 'Hi' }] }])
  })

  test('become items in order, and consecutive blocks of text become one item', () => {
    const messages = [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'image', source: { type: 'url', url: 'https://x/i' } },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm', signature: 'sig' },
          { type: 'text', text: 'b' },
          { type: 'text', text: 'c' },
          { type: 'tool_use', id: 't1', name: 'f', input: { a: 1 } },
          { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 't1', content: 'r' },
          { type: 'text', text: 'd' },
        ],
      },
      { role: 'system', content: 'e' },
    ]
    expect(prompt({ messages }).input).toEqual([
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'image', url: 'https://x/i' },
        ],
      },
      { type: 'reasoning', summary: ['hm'], encrypted_content: 'sig' },
      {
        type: 'message',
        role: 'assistant',
        content: [
          { type: 'text', text: 'b' },
          { type: 'text', text: 'c' },
        ],
      },
      { type: 'function_call', call_id: 't1', name: 'f', arguments: '{"a":1}' },
      { type: 'native', dialect: 'messages', body: { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} }, isRecord: true },
      { type: 'function_call_output', call_id: 't1', output: 'r' },
      { type: 'message', role: 'user', content: [{ type: 'text', text: 'd' }] },
      { type: 'message', role: 'system', content: [{ type: 'text', text: 'e' }] },
    ])
  })

  test('have items that keep their own original blocks and paths, and no others', () => {
    const content: readonly JsonObject[] = [
      { type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 'r' }] },
      { type: 'text', text: 'a', unheard_of: 1 },
      { type: 'search_result', source: 's' },
    ]
    const message = { role: 'user', content }
    const { input } = read({ messages: [{ role: 'user', content: 'x' }, message] }).prompt
    const [, result, said] = input
    if (result?.type !== 'function_call_output' || said?.type !== 'message' || typeof result.output === 'string')
      throw new Error('read as something else')
    expect(originalOf(input[0] ?? {})).toMatchObject({ body: { role: 'user', content: 'x' }, path: 'messages[0]' })
    expect(originalOf(result)).toEqual({ dialect: 'messages', body: content[0], path: 'messages[1].content[0]' })
    expect(originalOf(said)).toEqual({ dialect: 'messages', body: { role: 'user', content: content.slice(1) }, path: 'messages[1]' })
    expect(originalOf(said.content[0] ?? {})).toEqual({ dialect: 'messages', body: content[1], path: 'messages[1].content[1]' })
    expect(pathOf(said.content[1] ?? {}, '')).toBe('messages[1].content[2]')
    expect(pathOf(result.output[0] ?? {}, '')).toBe('messages[1].content[0].content[0]')
  })

  test('have an item that keeps the whole original message', () => {
    const message = { role: 'user', content: [{ type: 'text', text: 'a' }], unheard_of: 1 }
    expect(originalOf(read({ messages: [message] }).prompt.input[0] ?? {})?.body).toBe(message)
  })

  test('without blocks stay messages', () => {
    expect(itemsOf([])).toEqual([{ type: 'message', role: 'user', content: [] }])
  })

  test('have images as bytes or URL, and files by id as native parts', () => {
    expect(part({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } })).toEqual({
      type: 'image',
      url: 'data:image/png;base64,AAAA',
    })
    const kept = { type: 'image', source: { type: 'file', file_id: 'f' } }
    expect(part(kept)).toEqual({ type: 'native', dialect: 'messages', body: kept })
  })

  test('have documents as bytes, URL or plain text, and documents of blocks as native parts', () => {
    expect(part({ type: 'document', title: 'a.pdf', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBE' } })).toEqual({
      type: 'file',
      url: 'data:application/pdf;base64,JVBE',
      filename: 'a.pdf',
    })
    expect(part({ type: 'document', source: { type: 'url', url: 'https://x/a.pdf' } })).toEqual({ type: 'file', url: 'https://x/a.pdf' })
    const kept = { type: 'document', source: { type: 'content', content: [] } }
    expect(part(kept)).toEqual({ type: 'native', dialect: 'messages', text: '', body: kept })
  })

  test('keep plain text of a document whole, whatever its length and script', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 4000 }), (said, times) => {
        const text = said.repeat(times)
        const file = part({ type: 'document', source: { type: 'text', media_type: 'text/plain', data: text } })
        const [, data = ''] = /^data:text\/plain;base64,(.*)$/.exec(file?.type === 'file' ? file.url : '') ?? []
        expect(Buffer.from(data, 'base64').toString('utf8')).toBe(text)
      }),
      { numRuns: 40 },
    )
  })

  test('have thinking with text, signature, redacted data, or none of them', () => {
    const reasoning = (wire: JsonObject) => block(wire, 'assistant')
    expect(reasoning({ type: 'thinking', thinking: '', signature: 's' })).toEqual({
      type: 'reasoning',
      summary: [],
      encrypted_content: 's',
    })
    expect(reasoning({ type: 'thinking', thinking: 'hm', signature: '' })).toEqual({ type: 'reasoning', summary: ['hm'] })
    expect(reasoning({ type: 'redacted_thinking', data: 'd' })).toEqual({
      type: 'reasoning',
      summary: [],
      encrypted_content: 'd',
      redacted: true,
    })
  })

  test('have tool results with no content, text, parts or an error', () => {
    const result = (fields: JsonObject) => block({ type: 'tool_result', tool_use_id: 't', ...fields })
    expect(result({})).toEqual({ type: 'function_call_output', call_id: 't', output: '' })
    expect(result({ content: 'no such file', is_error: true })).toMatchObject({ output: 'no such file', is_error: true })
    expect(result({ content: 'x', is_error: false })).toEqual({ type: 'function_call_output', call_id: 't', output: 'x' })
    expect(
      result({ content: [{ type: 'text', text: 'x' }, { type: 'image', source: { type: 'url', url: 'u' } }, { type: 'tool_reference' }] }),
    ).toMatchObject({ output: [{ type: 'text' }, { type: 'image', url: 'u' }, { type: 'native', body: { type: 'tool_reference' } }] })
  })

  test('keep cache breakpoints at their blocks', () => {
    const cache_control = { type: 'ephemeral', ttl: '1h' }
    const cache = { ttl: '1h' }
    expect(part({ type: 'text', text: 'x', cache_control })).toEqual({ type: 'text', text: 'x', cache })
    expect(part({ type: 'text', text: 'x', cache_control: { type: 'ephemeral' } })).toEqual({ type: 'text', text: 'x', cache: {} })
    expect(part({ type: 'text', text: 'x', cache_control: null })).toEqual({ type: 'text', text: 'x' })
    expect(part({ type: 'image', source: { type: 'url', url: 'u' }, cache_control })).toMatchObject({ cache })
    expect(part({ type: 'document', source: { type: 'url', url: 'u' }, cache_control })).toMatchObject({ cache })
    expect(block({ type: 'tool_result', tool_use_id: 't', cache_control })).toMatchObject({ cache })
    expect(block({ type: 'tool_use', id: 't', name: 'f', input: {}, cache_control }, 'assistant')).toMatchObject({ cache })
    expect(prompt({ tools: [{ name: 'f', input_schema: {}, cache_control }] }).tools).toMatchObject([{ cache }])
    expect(prompt({ system: [{ type: 'text', text: 'x', cache_control }] }).input[0]).toMatchObject({ content: [{ cache }] })
    expect(prompt({ cache_control }).native?.body).toEqual({ cache_control })
  })

  test('have real citations, and not those that the gateway created', () => {
    const made = { type: 'web_search_result_location', url: 'u', title: 't', cited_text: '', encrypted_index: '' }
    const real = { ...made, encrypted_index: 'Eo8B' }
    const texts = [
      { type: 'text', text: 'a', citations: [made] },
      { type: 'text', text: 'b', citations: [made, real] },
      { type: 'text', text: 'c', citations: null },
    ]
    const [item] = read({ messages: [{ role: 'assistant', content: texts }] }).prompt.input
    if (item?.type !== 'message') throw new Error('read as something else')
    const kept = [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b', citations: [real] },
      { type: 'text', text: 'c', citations: null },
    ]
    expect(originalOf(item)?.body).toEqual({ role: 'assistant', content: kept })
    expect(item.content.map(each => originalOf(each)?.body)).toEqual(kept)
  })
})

describe('the system prompt', () => {
  test('a system prompt as a string becomes the instructions', () => {
    expect(prompt({ system: 'Be brief.' })).toMatchObject({ instructions: 'Be brief.', input: [{ role: 'user' }] })
  })
  test('a system prompt of blocks becomes one item before all others', () => {
    const system = [
      { type: 'text', text: 'a', cache_control: { type: 'ephemeral' } },
      { type: 'text', text: 'b' },
    ]
    const read = prompt({ system })
    expect(read.instructions).toBeUndefined()
    expect(read.input[0]).toEqual({
      type: 'message',
      role: 'system',
      content: [
        { type: 'text', text: 'a', cache: {} },
        { type: 'text', text: 'b' },
      ],
    })
    expect(prompt({ system: [] }).input).toHaveLength(1)
  })
})

describe('the tools of a Messages request', () => {
  test('are functions with or without the type `custom`', () => {
    const tool = { name: 'f', description: 'd', input_schema: { type: 'object' }, strict: true, eager_input_streaming: true }
    const { tools = [] } = read({ tools: [tool, { ...tool, type: 'custom' }] }).prompt
    for (const each of tools)
      expect(plain(each)).toEqual({ type: 'function', name: 'f', description: 'd', parameters: { type: 'object' }, strict: true })
    expect(originalOf(tools[0] ?? {})).toEqual({ dialect: 'messages', body: tool, path: 'tools[0]' })
  })
  test('of the provider are native', () => {
    const tool = { type: 'web_search_20250305', name: 'web_search', max_uses: 5 }
    expect(prompt({ tools: [tool] }).tools).toEqual([{ type: 'native', dialect: 'messages', body: tool }])
  })
  test.each<[JsonObject, unknown]>([
    [{ type: 'auto' }, 'auto'],
    [{ type: 'any' }, 'required'],
    [{ type: 'none' }, 'none'],
    [
      { type: 'tool', name: 'f' },
      { type: 'function', name: 'f' },
    ],
    [{ type: 'tomorrow' }, { type: 'native', dialect: 'messages', body: { type: 'tomorrow' } }],
  ])('have the choice %j', (tool_choice, expected) => {
    expect(prompt({ tool_choice }).tool_choice).toEqual(expected)
    expect(prompt({ tool_choice }).parallel_tool_calls).toBeUndefined()
    expect(prompt({ tool_choice: { ...tool_choice, disable_parallel_tool_use: true } }).parallel_tool_calls).toBe(false)
  })
})

describe('the thinking settings of a Messages request', () => {
  test.each<[JsonObject, unknown]>([
    [{ thinking: { type: 'disabled' } }, { effort: 'none' }],
    [{ thinking: { type: 'adaptive' } }, {}],
    [{ thinking: { type: 'adaptive', display: 'summarized' } }, { summary: 'auto' }],
    [
      { thinking: { type: 'adaptive', display: 'omitted' }, output_config: { effort: 'xhigh' } },
      { effort: 'xhigh', summary: 'none' },
    ],
    [{ thinking: { type: 'enabled', budget_tokens: 600 } }, { effort: 'high', summary: 'auto', budget_tokens: 600 }],
    [{ thinking: { type: 'enabled', budget_tokens: 600, display: 'omitted' } }, { effort: 'high', summary: 'none', budget_tokens: 600 }],
    [{ output_config: { effort: 'low' } }, { effort: 'low' }],
    [{ thinking: { type: 'disabled' }, output_config: { effort: 'low' } }, { effort: 'none' }],
  ])('are read from %j', (fields, reasoning) => expect(prompt(fields).reasoning).toEqual(reasoning))

  test.each<[number, string]>([
    [1, 'minimal'],
    [59, 'minimal'],
    [61, 'low'],
    [100, 'low'],
    [201, 'medium'],
    [300, 'medium'],
    [449, 'medium'],
    [451, 'high'],
    [751, 'xhigh'],
    [924, 'xhigh'],
    [926, 'max'],
    [5000, 'max'],
  ])('give the nearest effort for a budget of %i in 1000: %s', (budget_tokens, effort) => {
    expect(prompt({ thinking: { type: 'enabled', budget_tokens } }).reasoning?.effort).toBe(effort)
  })

  test('never give a lower effort for a larger budget', () => {
    const efforts = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max']
    const effort = (budget_tokens: number, max_tokens: number): number =>
      efforts.indexOf(String(prompt({ max_tokens, thinking: { type: 'enabled', budget_tokens } }).reasoning?.effort))
    const tokens = fc.integer({ min: 1, max: 100_000 })
    fc.assert(
      fc.property(tokens, tokens, tokens, (one, other, room) => {
        expect(effort(Math.min(one, other), room)).toBeLessThanOrEqual(effort(Math.max(one, other), room))
      }),
    )
  })

  test('of an unknown type are passed on as native fields', () => {
    const thinking = { type: 'between_tools', colour: 'red' }
    expect(prompt({ thinking })).toMatchObject({ native: { dialect: 'messages', body: { thinking } } })
    expect(prompt({ thinking }).reasoning).toBeUndefined()
  })

  test('keep both of their original fields', () => {
    const fields = { thinking: { type: 'adaptive', colour: 'red' }, output_config: { effort: 'low', pace: 1 } }
    expect(originalOf(read(fields).prompt.reasoning ?? {})?.body).toEqual(fields)
  })
})

describe('the other fields of a Messages request', () => {
  test.each<[string, JsonObject, JsonObject]>([
    ['max_tokens', { max_tokens: 7 }, { max_output_tokens: 7 }],
    ['stop_sequences', { stop_sequences: ['END', '\n'] }, { stop: ['END', '\n'] }],
    ['temperature', { temperature: 0 }, { temperature: 0 }],
    ['top_p', { top_p: 1 }, { top_p: 1 }],
    ['top_k', { top_k: 5 }, { top_k: 5 }],
    ['metadata.user_id', { metadata: { user_id: 'u' } }, { safety_identifier: 'u' }],
    ['service_tier', { service_tier: 'standard_only' }, { service_tier: 'standard_only' }],
    ['extensions', { extensions: { a: 1 } }, { extensions: { a: 1 } }],
    [
      'output_config.format',
      { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } },
      { text: { format: { type: 'json_schema', name: 'answer', schema: { type: 'object' } } } },
    ],
    [
      'unknown fields',
      { context_management: { edits: [] }, mcp_servers: [], container: 'c' },
      { native: { type: 'native', dialect: 'messages', body: { context_management: { edits: [] }, mcp_servers: [], container: 'c' } } },
    ],
    [
      'an unknown output_config',
      { output_config: { pace: 1 } },
      { native: { type: 'native', dialect: 'messages', body: { output_config: { pace: 1 } } } },
    ],
  ])('are decoded: %s', (_, wire, expected) => expect(prompt(wire)).toEqual({ ...prompt(), ...expected }))

  test.each<[string, JsonObject]>([
    ['the default tier', { service_tier: 'auto' }],
    ['no stop', { stop_sequences: [] }],
    ['metadata without a user', { metadata: {} }],
    ['an empty system prompt of blocks', { system: [] }],
    ['an empty output_config', { output_config: {} }],
  ])('are the defaults for %s', (_, wire) => {
    const { input, ...rest } = prompt(wire)
    const { input: usual, ...others } = prompt()
    expect(rest).toEqual(others)
    expect(input.at(-1)).toEqual(usual[0])
  })

  test('count as absent if they are null', () => {
    const fields = ['system', 'tools', 'tool_choice', 'thinking', 'output_config', 'stop_sequences', 'temperature', 'top_p', 'top_k']
    const more = ['metadata', 'service_tier', 'stream', 'gateway', 'extensions', 'container', 'cache_control']
    const nulls = Object.fromEntries([...fields, ...more].map(field => [field, null]))
    expect(prompt(nulls)).toEqual(prompt())
    expect(prompt({ output_config: { effort: null, format: null }, metadata: { user_id: null } })).toMatchObject(prompt())
  })

  test('include the delivery', () => {
    expect(read({ stream: true }).delivery).toBe('stream')
    expect(read({ stream: false }).delivery).toBe('whole')
    expect(read().delivery).toBe('whole')
  })

  test('include the gateway’s routing options, which are checked strictly', () => {
    expect(read({ gateway: { routing: { strategy: 'cost' }, metadata: { a: 'b' } } })).toMatchObject({
      routing: { models: ['m'], strategy: 'cost' },
      metadata: { a: 'b' },
    })
    expect(refusal({ gateway: { colour: 'red' } })).toBe('unknown_field gateway.colour')
  })

  test('may be named __proto__ or constructor', () => {
    const wire = JSON.parse(
      '{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"x"}],"__proto__":{"polluted":1},"constructor":1}',
    ) as JsonObject
    expect(Object.keys(messagesClient.decodeRequest(wire).prompt.native?.body ?? {})).toEqual(['__proto__', 'constructor'])
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
  })
})

describe('the headers of a Messages request', () => {
  const newest = { 'anthropic-version': '2026-10-21' }
  test('keep the version and betas, if there are any', () => {
    expect(read().headers).toBeUndefined()
    expect(messagesClient.decodeRequest(body()).headers).toBeUndefined()
    expect(read({}, { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'a,b', 'x-api-key': 'secret' }).headers).toEqual({
      dialect: 'messages',
      values: { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'a,b' },
    })
  })
  test('are refused if betas contain line breaks, other invalid characters, or too much text', () => {
    for (const beta of ['a\r\nx-api-key: mine', 'a\nb', 'a\u0000', 'é', 'a'.repeat(5000)])
      expect(refusal({}, { 'anthropic-beta': beta })).toBe('invalid_parameter_value anthropic-beta')
    expect(refusal({}, { 'anthropic-beta': 'claude-code-20250219, interleaved-thinking-2025-05-14' })).toBe('taken')
  })
  test('are refused with an unknown version', () => {
    expect(refusal({}, { 'anthropic-version': '2022-01-01' })).toBe('invalid_parameter_value anthropic-version')
  })
  test.each<[string, JsonObject]>([
    ['temperature', { temperature: 1 }],
    ['top_p', { top_p: 1 }],
    ['top_k', { top_k: 1 }],
    ['messages[0].content[0]', answering({ type: 'document', source: { type: 'url', url: 'u' } })],
    [
      'messages[0].content[1].citations',
      userContent({ type: 'text', text: 'a', citations: [] }, { type: 'text', text: 'b', citations: [{}] }),
    ],
  ])('with the newest version refuse %s', (param, fields) => {
    expect(refusal(fields, newest)).toBe(`invalid_parameter_value ${param}`)
    expect(refusal(fields, { 'anthropic-version': '2023-06-01' })).toBe('taken')
    expect(refusal(fields)).toBe('taken')
  })
  test('with the newest version accept the other fields', () => {
    expect(refusal({ temperature: null }, newest)).toBe('taken')
    expect(refusal(userContent({ type: 'document', source: { type: 'url', url: 'u' } }), newest)).toBe('taken')
    expect(refusal(answering({ type: 'text', text: 'b', citations: [{}] }), newest)).toBe('taken')
  })
})

describe('the token counting of a Messages request', () => {
  const count = (fields: JsonObject, headers: Readonly<Record<string, string>> = {}) =>
    messagesClient.decodeCounting?.({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...fields }, name => headers[name])
  test('needs no max_tokens and ignores `stream`', () => {
    expect(count({ stream: true })).toMatchObject({ delivery: 'whole', prompt: { input: [{ role: 'user' }] } })
    expect(count({})?.prompt.max_output_tokens).toBeUndefined()
    expect(count({ thinking: { type: 'enabled', budget_tokens: 9600 } })?.prompt.reasoning).toMatchObject({ effort: 'medium' })
  })
  test('checks all other fields', () => {
    expect(verdict(() => count({ messages: null }))).toBe('missing_required_parameter messages')
    expect(verdict(() => count({ tools: {} }))).toBe('invalid_parameter_value tools')
    expect(verdict(() => count({ top_k: 1 }, { 'anthropic-version': '2026-10-21' }))).toBe('invalid_parameter_value top_k')
  })
})

/** A coding agent's request: long-lived betas, cached system blocks, a system message in the middle, tools with vendor fields. */
const agentBody: JsonObject = {
  model: 'some-model',
  max_tokens: 32_000,
  stream: true,
  system: [
    { type: 'text', text: 'You are an agent.' },
    { type: 'text', text: 'Long.', cache_control: { type: 'ephemeral', ttl: '1h' } },
  ],
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'List the files.', cache_control: { type: 'ephemeral' } }] },
    { role: 'system', content: 'Today is Saturday.' },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: '', signature: 'gw1.sealed' },
        { type: 'text', text: 'I will look.' },
        { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'ls' } },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_1', content: 'denied', is_error: true, cache_control: { type: 'ephemeral' } },
        { type: 'text', text: 'Try again.' },
      ],
    },
  ],
  tools: [
    { name: 'Bash', description: 'Runs', input_schema: { type: 'object', properties: {} }, eager_input_streaming: true },
    { type: 'web_search_20250305', name: 'web_search' },
  ],
  thinking: { type: 'adaptive', display: 'omitted' },
  output_config: { effort: 'high' },
  context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
  metadata: { user_id: '{"device_id":"d","session_id":"s"}' },
}
const agentHeaders: Readonly<Record<string, string>> = {
  'anthropic-version': '2023-06-01',
  'anthropic-beta': 'claude-code-20250219,interleaved-thinking-2025-05-14',
}

test('a coding agent’s request is decoded without loss', () => {
  const request = messagesClient.decodeRequest(agentBody, name => agentHeaders[name])
  expect(plain(request)).toEqual({
    prompt: {
      input: [
        {
          type: 'message',
          role: 'system',
          content: [
            { type: 'text', text: 'You are an agent.' },
            { type: 'text', text: 'Long.', cache: { ttl: '1h' } },
          ],
        },
        { type: 'message', role: 'user', content: [{ type: 'text', text: 'List the files.', cache: {} }] },
        { type: 'message', role: 'system', content: [{ type: 'text', text: 'Today is Saturday.' }] },
        { type: 'reasoning', summary: [], encrypted_content: 'gw1.sealed' },
        { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'I will look.' }] },
        { type: 'function_call', call_id: 'toolu_1', name: 'Bash', arguments: '{"command":"ls"}' },
        { type: 'function_call_output', call_id: 'toolu_1', output: 'denied', is_error: true, cache: {} },
        { type: 'message', role: 'user', content: [{ type: 'text', text: 'Try again.' }] },
      ],
      tools: [
        { type: 'function', name: 'Bash', strict: false, description: 'Runs', parameters: { type: 'object', properties: {} } },
        { type: 'native', dialect: 'messages', body: { type: 'web_search_20250305', name: 'web_search' } },
      ],
      max_output_tokens: 32_000,
      reasoning: { effort: 'high', summary: 'none' },
      safety_identifier: '{"device_id":"d","session_id":"s"}',
      native: { type: 'native', dialect: 'messages', body: { context_management: agentBody.context_management } },
    },
    routing: { models: ['some-model'], allow_fallbacks: true },
    delivery: 'stream',
    headers: { dialect: 'messages', values: agentHeaders },
  })
  expect(originalOf(request)?.body).toBe(agentBody)
})

/** The paths of all fields in a value. */
const places = (value: Json | undefined, path: readonly (string | number)[] = []): readonly (readonly (string | number)[])[] => {
  if (typeof value !== 'object' || value === null) return [path]
  return [
    path,
    ...Object.entries(value).flatMap(([key, inner]) => places(inner as Json, [...path, Array.isArray(value) ? Number(key) : key])),
  ]
}
const withChange = (value: Json | undefined, path: readonly (string | number)[], put: Json): Json => {
  const [key, ...rest] = path
  if (key === undefined) return put
  const copy = (Array.isArray(value) ? [...value] : { ...(value as JsonObject) }) as Record<string | number, Json>
  // JSON has no sparse arrays.
  if (Array.isArray(copy) && Number(key) > copy.length) throw new RangeError()
  copy[key] = withChange(copy[key], rest, put)
  return copy as Json
}

test('any JSON is accepted, or refused with a 400 that names a field', () => {
  const full: JsonObject = {
    ...agentBody,
    messages: [
      ...(agentBody.messages as readonly Json[]),
      {
        role: 'user',
        content: [
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'A' } },
          { type: 'document', title: 't', source: { type: 'text', media_type: 'text/plain', data: 'x' }, citations: { enabled: true } },
        ],
      },
    ],
    tool_choice: { type: 'tool', name: 'Bash', disable_parallel_tool_use: true },
    stop_sequences: ['END'],
    temperature: 1,
    service_tier: 'auto',
    gateway: { routing: { order: ['a'] } },
  }
  const any = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>
  const version = fc.constantFrom('2023-06-01', '2026-10-21')
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom(...places(full)), any), { minLength: 1, maxLength: 3 }), version, (changes, header) => {
      const wire = changes.reduce<Json>((value, [path, put]) => {
        try {
          return withChange(value, path, put)
        } catch {
          return value
        }
      }, full)
      try {
        messagesClient.decodeRequest(wire as JsonObject, name => (name === 'anthropic-version' ? header : undefined))
      } catch (error) {
        if (!isGatewayError(error)) throw error
        expect(error.status).toBe(400)
        expect(typeof error.facts.param).toBe('string')
        expect(error.message.length).toBeLessThan(2000)
      }
    }),
    { numRuns: inject('isLongRun') ? 10_000 : 1_000 },
  )
})

test('an error names the field under the client’s path, also in the message', () => {
  const error = (param: string | null, message = 'm') => messagesClient.encodeError({ status: 400, message, type: 't', code: 'c', param })
  expect(error(null)).toMatchObject({ error: { message: 'm', param: null } })
  const spelled: Readonly<Record<string, string>> = {
    input: 'messages',
    instructions: 'system',
    max_output_tokens: 'max_tokens',
    'text.format': 'output_config.format',
    'text.format.schema': 'output_config.format.schema',
    'reasoning.effort': 'output_config.effort',
    'messages[0].content': 'messages[0].content',
    tools: 'tools',
  }
  for (const [ours, theirs] of Object.entries(spelled)) {
    expect(error(ours, `\`${ours}\` is wrong.`)).toMatchObject({ error: { message: `\`${theirs}\` is wrong.`, param: theirs } })
  }
})

test('a failed response names the field under the client’s path', () => {
  const request = read({ messages: [{ role: 'user', content: 'x' }] })
  const error: Failure = { kind: 'unsupported', message: 'No.', code: 'unsupported_value', param: 'max_output_tokens' }
  const finished = { type: 'finished', outcome: { status: 'failed', error } } as const
  const [frame] = messagesClient.encodeEvents(request, () => metadataOf()).write([finished])
  expect(JSON.parse(frame?.data ?? '')).toMatchObject({ error: { param: 'max_tokens' } })
})

test('an error lists all attempts', () => {
  const attempts = [
    { provider: 'a', kind: 'overloaded', status: 529 },
    { provider: 'b', kind: 'timed_out' },
  ] as const
  const body = messagesClient.encodeError({ status: 503, message: 'm', type: 't', code: 'c', param: null, attempts })
  expect(body).toMatchObject({ type: 'error', error: { attempts } })
})
