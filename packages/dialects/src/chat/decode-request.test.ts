import fc from 'fast-check'
import { describe, expect, inject, test } from 'vitest'
import { offer, plain } from '../../test/laws.ts'
import { isGatewayError } from '../errors/gateway-error.ts'
import { originalOf, pathOf } from '../protocol/original.ts'
import type { Json, JsonObject } from '../protocol/wire.ts'
import { responsesProvider } from '../responses/provider.ts'
import { chatClient } from './client.ts'
import { chatProvider } from './provider.ts'

const user = { role: 'user', content: 'Hi' }
const body = (fields: JsonObject = {}): JsonObject => ({ model: 'm', messages: [user], ...fields })
const read = (fields: JsonObject = {}) => chatClient.decodeRequest(body(fields))
const prompt = (fields: JsonObject = {}) => plain(read(fields).prompt)
const items = (...messages: readonly Json[]) => plain(read({ messages }).prompt.input)
const parts = (...content: readonly Json[]): Json => [{ role: 'user', content }]
const assistant = (fields: JsonObject): JsonObject => ({ messages: [{ role: 'assistant', ...fields }] })
const call = (id: string, fields: JsonObject = {}): JsonObject => ({
  id,
  type: 'function',
  function: { name: 'f', arguments: '{}' },
  ...fields,
})

/** `code param` of the error, or `accepted`. */
function verdict(wire: JsonObject): string {
  try {
    chatClient.decodeRequest(wire)
    return 'taken'
  } catch (error) {
    if (!isGatewayError(error)) throw error
    return `${error.code} ${error.facts.param}`
  }
}
const refusal = (fields: JsonObject): string => verdict(body(fields))

describe('a missing field is reported under the client’s path', () => {
  test.each<[string, JsonObject]>([
    ['model', { model: null }],
    ['messages', { messages: null }],
    ['messages[0].role', { messages: [{ content: 'x' }] }],
    ['messages[1].content', { messages: [user, { role: 'user' }] }],
    ['messages[0].content', { messages: [{ role: 'system', content: null }] }],
    ['messages[0].content', { messages: [{ role: 'tool', tool_call_id: 'a' }] }],
    ['messages[0].tool_call_id', { messages: [{ role: 'tool', content: 'x' }] }],
    ['messages[0].name', { messages: [{ role: 'function', content: 'x' }] }],
    ['messages[0].content[0].type', { messages: parts({ text: 'x' }) }],
    ['messages[0].content[1].text', { messages: parts({ type: 'text', text: '' }, { type: 'text' }) }],
    ['messages[0].content[0].image_url', { messages: parts({ type: 'image_url' }) }],
    ['messages[0].content[0].image_url.url', { messages: parts({ type: 'image_url', image_url: {} }) }],
    ['messages[0].content[0].input_audio.data', { messages: parts({ type: 'input_audio', input_audio: { format: 'wav' } }) }],
    ['messages[0].content[0].input_audio.format', { messages: parts({ type: 'input_audio', input_audio: { data: 'x' } }) }],
    ['messages[0].content[0].file.file_data', { messages: parts({ type: 'file', file: { filename: 'a.pdf' } }) }],
    ['messages[0].tool_calls[0].id', assistant({ tool_calls: [{ type: 'function', function: { name: 'f' } }] })],
    ['messages[0].tool_calls[0].function', assistant({ tool_calls: [{ id: 'a' }] })],
    ['messages[0].tool_calls[0].function.name', assistant({ tool_calls: [{ id: 'a', function: {} }] })],
    ['messages[0].function_call.name', assistant({ function_call: {} })],
    ['tools[0].type', { tools: [{}] }],
    ['tools[0].function', { tools: [{ type: 'function', name: 'f' }] }],
    ['tools[0].function.name', { tools: [{ type: 'function', function: {} }] }],
    ['functions[0].name', { functions: [{}] }],
    ['tool_choice.function.name', { tool_choice: { type: 'function', function: {} } }],
    ['tool_choice.allowed_tools.mode', { tool_choice: { type: 'allowed_tools', allowed_tools: { tools: [] } } }],
    ['response_format.json_schema', { response_format: { type: 'json_schema' } }],
    ['response_format.json_schema.schema', { response_format: { type: 'json_schema', json_schema: { name: 's' } } }],
  ])('%s', (param, fields) => expect(refusal(fields)).toBe(`missing_required_parameter ${param}`))
})

describe('a field of the wrong kind is reported under the client’s path', () => {
  test.each<[string, JsonObject]>([
    ['model', { model: 1 }],
    ['messages', { messages: 'Hi' }],
    ['messages', { messages: [] }],
    ['messages[1]', { messages: [user, 'y'] }],
    ['messages[0].role', { messages: [{ role: 'robot', content: 'x' }] }],
    ['messages[0].content', { messages: [{ role: 'user', content: 1 }] }],
    ['messages[0].content[0]', { messages: parts('x') }],
    ['messages[0].content[0].text', { messages: parts({ type: 'text', text: {} }) }],
    ['messages[0].content[0].image_url', { messages: parts({ type: 'image_url', image_url: ['https://x'] }) }],
    ['messages[0].content[0].image_url.url', { messages: parts({ type: 'image_url', image_url: { url: 1 } }) }],
    ['messages[0].content[0].image_url.detail', { messages: parts({ type: 'image_url', image_url: { url: 'x', detail: 1 } }) }],
    ['messages[0].content[0].file.file_data', { messages: parts({ type: 'file', file: { file_data: 1 } }) }],
    ['messages[0].refusal', assistant({ refusal: 1 })],
    ['messages[0].tool_calls', assistant({ tool_calls: {} })],
    ['messages[0].tool_calls[0].function.arguments', assistant({ tool_calls: [call('a', { function: { name: 'f', arguments: {} } })] })],
    ['messages[0].reasoning_content', assistant({ reasoning_content: 1 })],
    ['messages[0].reasoning', assistant({ reasoning: {} })],
    ['messages[0].reasoning_details', assistant({ reasoning_details: 'x' })],
    ['tools', { tools: {} }],
    ['tools[0].function.parameters', { tools: [{ type: 'function', function: { name: 'f', parameters: [] } }] }],
    ['tools[0].function.strict', { tools: [{ type: 'function', function: { name: 'f', strict: 'yes' } }] }],
    ['tool_choice', { tool_choice: 'some' }],
    ['tool_choice', { tool_choice: 1 }],
    ['tool_choice.allowed_tools.mode', { tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'none', tools: [] } } }],
    ['function_call', { function_call: 'required' }],
    ['parallel_tool_calls', { parallel_tool_calls: 'true' }],
    ['max_tokens', { max_tokens: 0 }],
    ['max_completion_tokens', { max_completion_tokens: '9' }],
    ['max_tokens', { max_tokens: 1.5, max_completion_tokens: 9 }],
    ['temperature', { temperature: 2.01 }],
    ['top_p', { top_p: 1.0001 }],
    ['top_k', { top_k: 1.5 }],
    ['frequency_penalty', { frequency_penalty: 'high' }],
    ['presence_penalty', { presence_penalty: [] }],
    ['stop', { stop: 1 }],
    ['stop[1]', { stop: ['a', 1] }],
    ['seed', { seed: 0.5 }],
    ['n', { n: 0 }],
    ['n', { n: 2 }],
    ['logprobs', { logprobs: 1 }],
    ['top_logprobs', { top_logprobs: 21 }],
    ['response_format', { response_format: 'json' }],
    ['response_format.type', { response_format: { type: 'yaml' } }],
    ['response_format.json_schema.name', { response_format: { type: 'json_schema', json_schema: { name: '', schema: {} } } }],
    ['reasoning_effort', { reasoning_effort: 'extreme' }],
    ['verbosity', { verbosity: 1 }],
    ['metadata', { metadata: [] }],
    ['metadata.a', { metadata: { a: 1 } }],
    ['user', { user: 1 }],
    ['service_tier', { service_tier: {} }],
    ['store', { store: true }],
    ['stream', { stream: 'true' }],
    ['stream_options', { stream_options: [] }],
    ['stream_options.include_usage', { stream_options: { include_usage: 'yes' } }],
    ['extensions', { extensions: 'x' }],
    ['gateway.routing.tier', { gateway: { routing: { tier: 'fast' } } }],
  ])('%s', (param, fields) => expect(refusal(fields)).toBe(`invalid_parameter_value ${param}`))
})

test('null counts as absent in every field for which SDKs send it', () => {
  const fields = [
    ...['tools', 'tool_choice', 'functions', 'function_call', 'parallel_tool_calls', 'max_tokens', 'max_completion_tokens', 'temperature'],
    ...['top_p', 'top_k', 'frequency_penalty', 'presence_penalty', 'stop', 'seed', 'n', 'logprobs', 'top_logprobs', 'response_format'],
    ...['reasoning_effort', 'verbosity', 'metadata', 'user', 'safety_identifier', 'prompt_cache_key', 'service_tier', 'store', 'stream'],
    ...['stream_options', 'extensions', 'gateway', 'logit_bias', 'modalities', 'unheard_of'],
  ]
  expect(plain(read(Object.fromEntries(fields.map(field => [field, null]))))).toEqual(plain(read()))
  expect(items({ role: 'assistant', content: 'x', refusal: null, tool_calls: null, function_call: null, audio: null })).toEqual([
    { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'x' }] },
  ])
})

describe('the fields of a Chat request', () => {
  test('are kept if the internal request has the same field', () => {
    expect(
      prompt({ temperature: 0, top_p: 1, top_k: 5, frequency_penalty: -2, presence_penalty: 2, seed: 7, parallel_tool_calls: false }),
    ).toMatchObject({ temperature: 0, top_p: 1, top_k: 5, frequency_penalty: -2, presence_penalty: 2, seed: 7, parallel_tool_calls: false })
    const fields = {
      user: 'u',
      safety_identifier: 's',
      prompt_cache_key: 'k',
      service_tier: 'flex',
      metadata: { a: 'b' },
      extensions: { x: 1 },
    }
    expect(prompt(fields)).toMatchObject(fields)
  })
  test('give the output cap from max_completion_tokens, else from max_tokens', () => {
    expect(prompt({ max_tokens: 5 })).toMatchObject({ max_output_tokens: 5 })
    expect(prompt({ max_tokens: 5, max_completion_tokens: 6 })).toMatchObject({ max_output_tokens: 6 })
  })
  test('accept one stop sequence, several, or none', () => {
    expect(prompt({ stop: 'END' }).stop).toEqual(['END'])
    expect(prompt({ stop: ['a', 'b'] }).stop).toEqual(['a', 'b'])
    expect(prompt({ stop: [] })).not.toHaveProperty('stop')
  })
  test('give logprobs from a flag and a number', () => {
    expect(prompt({ logprobs: true, top_logprobs: 3 })).toMatchObject({ include: ['message.output_text.logprobs'], top_logprobs: 3 })
    expect(prompt({ logprobs: false })).not.toHaveProperty('include')
  })
  test('map effort `off` to `none`, and ignore `n: 1` and `store: false`', () => {
    expect(prompt({ reasoning_effort: 'off' }).reasoning).toEqual({ effort: 'none' })
    expect(prompt({ reasoning_effort: 'default' }).reasoning).toBeUndefined()
    expect(prompt({ reasoning_effort: 'xhigh', n: 1, store: false })).toEqual({ ...prompt(), reasoning: { effort: 'xhigh' } })
  })
  test('give the response format and verbosity', () => {
    const schema = { type: 'object' }
    expect(
      prompt({ response_format: { type: 'json_schema', json_schema: { name: 's', schema, strict: true, description: 'd' } } }).text,
    ).toEqual({
      format: { type: 'json_schema', name: 's', schema, strict: true, description: 'd' },
    })
    expect(prompt({ response_format: { type: 'json_object' }, verbosity: 'low' }).text).toEqual({
      format: { type: 'json_object' },
      verbosity: 'low',
    })
  })
  test('that are unknown are kept as native fields, except modalities of text only', () => {
    expect(prompt({ logit_bias: { 1: 2 }, prediction: {}, web_search_options: {}, modalities: ['text'] }).native).toEqual({
      type: 'native',
      dialect: 'chat',
      body: { logit_bias: { 1: 2 }, prediction: {}, web_search_options: {} },
    })
    expect(prompt({ modalities: ['text', 'audio'], audio: { voice: 'x' } }).native?.body).toEqual({
      modalities: ['text', 'audio'],
      audio: { voice: 'x' },
    })
    const { warnings } = responsesProvider.encodeRequest(read({ logit_bias: {} }), offer, {})
    expect(warnings.map(({ param }) => param)).toEqual(['logit_bias'])
  })
  test('give the delivery, the model and the gateway’s options', () => {
    expect(read({ stream: true, gateway: { metadata: { a: 'b' }, routing: { strict: true } } })).toMatchObject({
      delivery: 'stream',
      metadata: { a: 'b' },
      routing: { models: ['m'], strict: true },
    })
    expect(refusal({ gateway: { colour: 'red' } })).toBe('unknown_field gateway.colour')
  })
})

describe('the messages of a Chat request', () => {
  test('keep their roles', () => {
    expect(items(...['system', 'developer', 'user', 'assistant'].map(role => ({ role, content: role })))).toEqual(
      ['system', 'developer', 'user', 'assistant'].map(role => ({ type: 'message', role, content: [{ type: 'text', text: role }] })),
    )
  })
  test('have text, image, audio and file parts, and other parts are native', () => {
    const image = { type: 'image_url', image_url: { url: 'https://x', detail: 'low' } }
    const kept = { type: 'file', file: { file_id: 'f' } }
    const strange = { type: 'video_url', video_url: { url: 'v' } }
    const [message] = read({
      messages: parts(
        { type: 'text', text: 'x' },
        image,
        { type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } },
        { type: 'file', file: { file_data: 'data:application/pdf;base64,AA', filename: 'a.pdf' } },
        { type: 'file', file: { file_data: 'AA', filename: 'a.txt' } },
        { type: 'file', file: { file_data: 'AA' } },
        kept,
        strange,
      ),
    }).prompt.input
    if (message?.type !== 'message') throw new Error('a message was read')
    expect(plain(message.content)).toEqual([
      { type: 'text', text: 'x' },
      { type: 'image', url: 'https://x', detail: 'low' },
      { type: 'audio', data: 'AA', format: 'wav' },
      { type: 'file', url: 'data:application/pdf;base64,AA', filename: 'a.pdf' },
      { type: 'file', url: 'data:text/plain;base64,AA', filename: 'a.txt' },
      { type: 'file', url: 'data:application/pdf;base64,AA' },
      { type: 'native', dialect: 'chat', body: kept },
      { type: 'native', dialect: 'chat', body: strange },
    ])
    expect(message.content.map(part => pathOf(part, '?'))).toEqual(message.content.map((_, at) => `messages[0].content[${at}]`))
    expect(originalOf(message.content[1] ?? {})?.body).toBe(image)
  })
  test('accept both forms of cache breakpoints', () => {
    expect(
      items({
        role: 'user',
        content: [
          { type: 'text', text: 'a', cache_control: { type: 'ephemeral' } },
          { type: 'text', text: 'b', cache_control: { type: 'ephemeral', ttl: '1h' } },
          { type: 'text', text: 'c', prompt_cache_breakpoint: {} },
          { type: 'text', text: 'd', cache_control: null },
        ],
      }),
    ).toMatchObject([{ content: [{ cache: {} }, { cache: { ttl: '1h' } }, { cache: {} }, {}] }])
  })
  test('of the assistant become reasoning, text and calls, in this order', () => {
    const wire = {
      role: 'assistant',
      content: 'Let me look.',
      refusal: 'not that',
      reasoning_content: 'hm',
      tool_calls: [call('a'), { id: 'b', type: 'custom', custom: { name: 'g', input: 'raw' } }, call('c', { type: undefined })],
    }
    expect(items(wire)).toEqual([
      { type: 'reasoning', summary: ['hm'] },
      {
        type: 'message',
        role: 'assistant',
        content: [
          { type: 'text', text: 'Let me look.' },
          { type: 'refusal', refusal: 'not that' },
        ],
      },
      { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
      { type: 'function_call', call_id: 'b', name: 'g', arguments: 'raw', custom: true },
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
    ])
    const read_ = read({ messages: [user, wire] }).prompt.input
    expect(read_.map(item => pathOf(item, '?'))).toEqual([
      'messages[0]',
      'messages[1]',
      'messages[1]',
      'messages[1].tool_calls[0]',
      'messages[1].tool_calls[1]',
      'messages[1].tool_calls[2]',
    ])
  })
  test('with calls and no text become calls only, and an empty message stays a message', () => {
    for (const content of [null, undefined, '', []]) {
      expect(items({ role: 'assistant', content, tool_calls: [call('a')] }).map(({ type }) => type)).toEqual(['function_call'])
    }
    expect(items({ role: 'assistant', content: null })).toEqual([{ type: 'message', role: 'assistant', content: [] }])
  })
  test('of tools become results, as text or in parts', () => {
    expect(
      items({ role: 'tool', tool_call_id: 'a', content: 'x' }, { role: 'tool', tool_call_id: 'b', content: [{ type: 'text', text: 'y' }] }),
    ).toEqual([
      { type: 'function_call_output', call_id: 'a', output: 'x' },
      { type: 'function_call_output', call_id: 'b', output: [{ type: 'text', text: 'y' }] },
    ])
  })
  test('with the older function_call are matched with their results by name', () => {
    const old = (name: string) => ({ role: 'assistant', content: null, function_call: { name, arguments: '{}' } })
    const [first, answer, second, again] = items(old('f'), { role: 'function', name: 'f', content: 'x' }, old('f'), {
      role: 'function',
      name: 'f',
      content: null,
    })
    const idOf = (item: unknown): unknown => (item as JsonObject).call_id
    expect(idOf(first)).toMatch(/^call_/)
    expect(idOf(answer)).toBe(idOf(first))
    expect(idOf(again)).toBe(idOf(second))
    expect(idOf(second)).not.toBe(idOf(first))
    expect(again).toMatchObject({ output: '' })
  })
})

describe('reasoning in a Chat request', () => {
  const sealed = (data: string) => ({ type: 'reasoning.encrypted', data, index: 0, format: 'signalbox' })
  const signed = (id: string, state: string) => call(id, { extra_content: { google: { thought_signature: state } } })
  const shape = (message: JsonObject): readonly string[] =>
    items({ role: 'assistant', content: 'w', ...message }).map(item => {
      if (item.type === 'reasoning') return `${item.summary.join()}|${item.encrypted_content ?? ''}`
      return item.type === 'function_call' ? item.call_id : item.type
    })

  test('is read from any of three fields, once', () => {
    expect(shape({ reasoning_content: 'a', reasoning: 'a' })).toEqual(['a|', 'message'])
    expect(shape({ reasoning: 'b' })).toEqual(['b|', 'message'])
    expect(shape({ reasoning_details: [{ type: 'reasoning.text', text: 'c' }] })).toEqual(['c|', 'message'])
  })
  test('has one state if the client sends it in two places', () => {
    const both = { reasoning_content: 't', reasoning_details: [sealed('S')], tool_calls: [signed('a', 'S')] }
    expect(shape(both)).toEqual(['t|S', 'message', 'a'])
    expect(shape({ ...both, reasoning_details: undefined })).toEqual(['t|S', 'message', 'a'])
    expect(shape({ ...both, tool_calls: [call('a')] })).toEqual(['t|S', 'message', 'a'])
  })
  test('has the state of a later call right before that call', () => {
    expect(shape({ tool_calls: [signed('a', 'S'), signed('b', 'T'), signed('c', 'T')] })).toEqual(['|S', 'message', 'a', '|T', 'b', 'c'])
    expect(shape({ reasoning_details: [sealed('S'), sealed('T')], tool_calls: [signed('a', 'S'), signed('b', 'T')] })).toEqual([
      '|S',
      'message',
      'a',
      '|T',
      'b',
    ])
  })
  test('has several states without a position first, in their order', () => {
    expect(shape({ reasoning_details: [sealed('S'), sealed('T')], reasoning_content: 't' })).toEqual(['t|S', '|T', 'message'])
  })
})

describe('the tools of a Chat request', () => {
  test('are read from `tools` and from the older `functions`', () => {
    const { tools } = read({
      tools: [
        {
          type: 'function',
          function: { name: 'f', description: 'd', parameters: { a: 1 }, strict: true },
          cache_control: { type: 'ephemeral' },
        },
      ],
      functions: [{ name: 'g' }],
    }).prompt
    expect(plain(tools)).toEqual([
      { type: 'function', name: 'f', description: 'd', parameters: { a: 1 }, strict: true, cache: {} },
      { type: 'function', name: 'g', strict: false },
    ])
    expect(tools?.map(tool => pathOf(tool, '?'))).toEqual(['tools[0]', 'functions[0]'])
  })
  test('that are not functions are native', () => {
    const search = { type: 'web_search', web_search: { name: 'c' } }
    expect(prompt({ tools: [search], tool_choice: search })).toMatchObject({
      tools: [{ type: 'native', dialect: 'chat', body: search }],
      tool_choice: { type: 'native', dialect: 'chat', body: search },
    })
  })
  test('include custom tools with free text and an optional grammar', () => {
    const grammar = { syntax: 'lark', definition: 'start: /.+/' }
    const custom = { type: 'custom', custom: { name: 'c', description: 'd', format: { type: 'grammar', grammar } } }
    expect(plain(prompt({ tools: [custom], tool_choice: { type: 'custom', custom: { name: 'c' } } }))).toMatchObject({
      tools: [{ type: 'function', name: 'c', description: 'd', custom: { grammar } }],
      tool_choice: { type: 'function', name: 'c' },
    })
  })
  test('have a choice in the new and the older form, and the new form takes precedence', () => {
    expect(prompt({ tool_choice: 'required' }).tool_choice).toBe('required')
    expect(prompt({ tool_choice: { type: 'function', function: { name: 'f' } } }).tool_choice).toEqual({ type: 'function', name: 'f' })
    expect(prompt({ function_call: { name: 'f' } }).tool_choice).toEqual({ type: 'function', name: 'f' })
    expect(prompt({ function_call: 'none' }).tool_choice).toBe('none')
    expect(prompt({ function_call: 'none', tool_choice: 'auto' }).tool_choice).toBe('auto')
  })
  test('can be limited by allowed_tools for both kinds of providers', () => {
    const tools = ['f', 'g'].map(name => ({ type: 'function', function: { name } }))
    const custom = { type: 'custom', custom: { name: 'c' } }
    const allowed = { mode: 'required', tools: [tools[1] ?? {}] }
    const request = read({ tools: [...tools, custom], tool_choice: { type: 'allowed_tools', allowed_tools: allowed } })
    expect(responsesProvider.encodeRequest(request, offer, {}).body.tool_choice).toEqual({
      type: 'allowed_tools',
      mode: 'required',
      tools: [{ type: 'function', name: 'g' }],
    })
    const { body: sent, warnings } = chatProvider.encodeRequest(request, offer, {})
    expect(sent).toMatchObject({ tools: [{ function: { name: 'g' } }], tool_choice: 'required' })
    expect(sent.tools).toHaveLength(1)
    expect(warnings).toEqual([])
    const unchanged = chatProvider.encodeRequest(request, offer, { allowedTools: true }).body
    expect(unchanged).toMatchObject({ tools: [...tools, custom], tool_choice: { type: 'allowed_tools', allowed_tools: allowed } })
  })
})

test('a large image is passed on without a copy', () => {
  const url = `data:image/png;base64,${'A'.repeat(3_000_000)}`
  const [message] = read({ messages: parts({ type: 'image_url', image_url: { url } }) }).prompt.input
  expect(message).toMatchObject({ content: [{ type: 'image', url }] })
})

test('an error names the field under the client’s path, also in the message', () => {
  const error = (param: string | null, message = 'm') =>
    chatClient.encodeError({ status: 400, message, type: 't', code: 'c', param, suggestion: 's', provider: 'p', request_id: 'r' })
  expect(error(null)).toEqual({ error: { message: 'm', type: 't', param: null, code: 'c', suggestion: 's', provider: 'p' } })
  const spelled: Readonly<Record<string, string>> = {
    input: 'messages',
    max_output_tokens: 'max_completion_tokens',
    'text.format': 'response_format',
    'text.format.schema': 'response_format.json_schema.schema',
    'text.verbosity': 'verbosity',
    'reasoning.effort': 'reasoning_effort',
    'include[0]': 'logprobs',
    'messages[0].content': 'messages[0].content',
    temperature: 'temperature',
    'tools[3].strict': 'tools[3].function.strict',
    'tools[3].function.strict': 'tools[3].function.strict',
  }
  for (const [ours, theirs] of Object.entries(spelled)) {
    expect(error(ours, `\`${ours}\` is not for us.`)).toMatchObject({ error: { param: theirs, message: `\`${theirs}\` is not for us.` } })
  }
})

const full = body({
  messages: [
    { role: 'system', content: 's' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'x', cache_control: { type: 'ephemeral', ttl: '5m' } },
        { type: 'image_url', image_url: { url: 'https://x', detail: 'low' } },
        { type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } },
        { type: 'file', file: { file_data: 'AA', filename: 'a' } },
      ],
    },
    {
      role: 'assistant',
      content: 'y',
      reasoning_content: 'z',
      reasoning_details: [{ type: 'reasoning.encrypted', data: 'S' }],
      tool_calls: [
        call('a', { extra_content: { google: { thought_signature: 'S' } } }),
        { id: 'b', type: 'custom', custom: { name: 'c', input: '' } },
      ],
    },
    { role: 'tool', tool_call_id: 'a', content: [{ type: 'text', text: 'r' }] },
    { role: 'assistant', function_call: { name: 'f', arguments: '{}' } },
    { role: 'function', name: 'f', content: 'r' },
  ],
  tools: [
    { type: 'function', function: { name: 'f', parameters: {}, strict: true } },
    { type: 'custom', custom: { name: 'c' } },
  ],
  functions: [{ name: 'g' }],
  tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'f' } }] } },
  response_format: { type: 'json_schema', json_schema: { name: 's', schema: {} } },
  stop: ['a'],
  stream_options: { include_usage: true },
  gateway: { routing: { order: ['a'] }, metadata: { a: 'b' } },
  temperature: 1,
  logprobs: true,
  metadata: { a: 'b' },
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
  copy[key] = withChange(copy[key], rest, put)
  return copy as Json
}

test('any JSON is accepted or refused with a 400 that names a field, and an accepted request can be encoded', () => {
  const any = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>
  const seen = { taken: 0, refused: 0 }
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom(...places(full)), any), { minLength: 1, maxLength: 3 }), changes => {
      const wire = changes.reduce<Json>((value, [path, put]) => {
        try {
          return withChange(value, path, put)
        } catch {
          return value
        }
      }, full)
      try {
        const request = chatClient.decodeRequest(wire as JsonObject)
        for (const provider of [chatProvider, responsesProvider]) JSON.stringify(provider.encodeRequest(request, offer, {}))
        seen.taken += 1
      } catch (error) {
        if (!isGatewayError(error)) throw error
        expect(error.status).toBe(400)
        expect(typeof error.facts.param).toBe('string')
        expect(error.message.length).toBeLessThan(2000)
        seen.refused += 1
      }
    }),
    { numRuns: inject('isLongRun') ? 5_000 : 500 },
  )
  expect(Math.min(seen.taken, seen.refused)).toBeGreaterThan(10)
})

test('words of Mistral’s clients mean what they mean there: `any`, `random_seed`, and an image address as a string', () => {
  const request = read({
    tools: [{ type: 'function', function: { name: 'f' } }],
    tool_choice: 'any',
    random_seed: 7,
    messages: [{ role: 'user', content: [{ type: 'image_url', image_url: 'https://a.example/1.png' }] }],
  })
  expect(request.prompt).toMatchObject({ tool_choice: 'required', seed: 7 })
  expect(request.prompt.native).toBeUndefined()
  const { body } = chatProvider.encodeRequest(request, offer, {})
  expect(body).toMatchObject({ tool_choice: 'required', seed: 7 })
  expect(body.messages).toEqual([{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://a.example/1.png' } }] }])
  const elsewhere = responsesProvider.encodeRequest(request, offer, {}).body
  expect(elsewhere).toMatchObject({ input: [{ content: [{ type: 'input_image', image_url: 'https://a.example/1.png' }] }] })
})
