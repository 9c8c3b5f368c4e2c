import { describe, expect, test } from 'vitest'
import { offer } from '../test/laws.ts'
import { chatProvider } from './chat/provider.ts'
import { messagesClient } from './messages/client.ts'
import { messagesProvider } from './messages/provider.ts'
import type { Item } from './protocol/item.ts'
import type { Quirks } from './protocol/model.ts'
import type { InferenceRequest } from './protocol/request.ts'
import type { JsonObject } from './protocol/wire.ts'
import { responsesClient } from './responses/client.ts'
import { responsesProvider } from './responses/provider.ts'

const ask = (fields: JsonObject): InferenceRequest => responsesClient.decodeRequest({ model: 'm', input: 'Hi', ...fields })
const chat = (fields: JsonObject, quirks: Quirks = {}) => {
  const { body, warnings } = chatProvider.encodeRequest(ask(fields), offer, quirks)
  return { ...body, warned: warnings.map(({ param }) => param) } as unknown as JsonObject & {
    readonly warned: readonly string[]
    readonly messages: readonly JsonObject[]
  }
}
const responses = (request: InferenceRequest, quirks: Quirks = {}) => responsesProvider.encodeRequest(request, offer, quirks)

describe('Responses to Responses', () => {
  test('a request body is sent unchanged, under the provider’s model id', () => {
    const wire = {
      input: [{ role: 'user', content: 'x', future: 1 }],
      client_metadata: { a: 1 },
      stream: true,
      gateway: { routing: { strict: true } },
      user: null,
    }
    const { body, warnings } = responses(ask(wire))
    expect(body).toEqual({ model: 'their-model', input: wire.input, client_metadata: { a: 1 }, user: null, stream: true, store: false })
    expect(warnings).toEqual([])
  })
  test('a changed request is encoded anew, and its unchanged items keep unknown fields', () => {
    const request = ask({
      input: [{ role: 'user', content: 'x', future: 1 }],
      tools: [{ type: 'function', name: 'f', output_schema: {} }],
      reasoning: { effort: 'low', context: 'auto' },
      unheard: 1,
    })
    const { body } = responses({ ...request, prompt: { ...request.prompt, temperature: 0.5 } })
    expect(body).toMatchObject({
      temperature: 0.5,
      input: [{ future: 1 }],
      tools: [{ output_schema: {} }],
      reasoning: { effort: 'low', context: 'auto' },
      unheard: 1,
      store: false,
    })
  })
  test('a changed item is sent in its new form', () => {
    const request = ask({ input: [{ role: 'user', content: 'secret', future: 1 }] })
    const [first] = request.prompt.input
    if (first?.type !== 'message') throw new Error('The request has a message.')
    const { body } = responses({
      ...request,
      prompt: { ...request.prompt, input: [{ ...first, content: [{ type: 'text', text: 'clean' }] }] },
    })
    expect(body.input).toEqual([{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'clean' }] }])
  })
  test('unsupported fields are left out with a warning, unless they are default values', () => {
    const { body, warnings } = responses(ask({ top_k: 3, temperature: 1, top_p: 0.5 }), {
      refuses: ['top_k', 'temperature', 'top_p', 'frequency_penalty'],
    })
    expect(body).not.toHaveProperty('top_k')
    expect(body).not.toHaveProperty('temperature')
    expect(warnings.map(({ param }) => param)).toEqual(['top_k', 'top_p'])
  })
  test('extensions are applied last, except for fields that the gateway controls', () => {
    const { body, warnings } = responses(ask({ temperature: 1, extensions: { temperature: 0, model: 'expensive', store: true, seed: 7 } }))
    expect(body).toMatchObject({ temperature: 0, seed: 7, model: 'their-model', store: false })
    expect(body).not.toHaveProperty('extensions')
    expect(warnings.map(({ param }) => param)).toEqual(['extensions.model', 'extensions.store'])
  })
  test('fields that choose models, routes or output limits in other APIs are not passed on', () => {
    const decided = {
      models: ['expensive'],
      provider: { order: ['expensive'] },
      route: 'fallback',
      max_completion_tokens: 100_000,
      best_of: 9,
    }
    const request = ask({ ...decided, max_tokens: 100_000, messages: [], future: 1 })
    const edited = { ...request, prompt: { ...request.prompt, temperature: 0.5 } }
    for (const each of [request, edited]) {
      const { body, warnings } = responses(each)
      expect(Object.keys(body).filter(field => field in decided || field === 'max_tokens' || field === 'messages')).toEqual([])
      expect(body).toMatchObject({ model: 'their-model', future: 1 })
      expect(warnings.map(({ param }) => param).sort()).toEqual([...Object.keys(decided), 'max_tokens', 'messages'].sort())
    }
    const messages = [{ role: 'user', content: 'Hi' }]
    const sent = messagesProvider.encodeRequest(
      messagesClient.decodeRequest({ model: 'm', max_tokens: 9, messages, ...decided, future: 1 }),
      offer,
      {},
    )
    expect(sent.body).toEqual({ model: 'their-model', max_tokens: 9, messages, future: 1, stream: false })
    expect(sent.warnings.map(({ param }) => param).sort()).toEqual(Object.keys(decided).sort())
  })
  test('effort `off` is sent as `none`, and other efforts as the nearest supported one', () => {
    expect(responses(ask({ reasoning: { effort: 'off', summary: 'auto' } })).body.reasoning).toEqual({ summary: 'auto', effort: 'none' })
    const near = (effort: string, efforts: readonly string[]) => {
      const { body, warnings } = responses(ask({ reasoning: { effort } }), { efforts })
      return [(body.reasoning as JsonObject).effort, warnings.length]
    }
    expect(near('max', ['low', 'high'])).toEqual(['high', 1])
    expect(near('minimal', ['low', 'high'])).toEqual(['low', 1])
    expect(near('high', ['low', 'high'])).toEqual(['high', 0])
    expect(near('high', [])).toEqual([undefined, 1])
  })
  test('unencrypted reasoning is left out if the offer accepts only encrypted reasoning', () => {
    const open = { type: 'reasoning', id: 'rs_1', summary: [], content: [{ type: 'reasoning_text', text: 'hm' }] }
    const sealed = { type: 'reasoning', id: 'rs_2', summary: [], encrypted_content: 'x' }
    const request = ask({ input: [open, sealed, { role: 'user', content: 'x' }] })
    expect(responses(request).body.input).toHaveLength(3)
    expect(responses(request, { sealedReasoning: true }).body.input).toEqual([sealed, { role: 'user', content: 'x' }])
  })
})

describe.each([responsesProvider, chatProvider])('options that cost more, for $name', ({ encodeRequest }) => {
  const price = { input: 1, output: 1 }
  const withPriority = { ...offer, price: { ...price, priority: { input: 2, output: 2 } } }
  const sent = (fields: JsonObject, sold = offer, quirks: Quirks = {}) => {
    const { body, warnings } = encodeRequest(ask(fields), sold, quirks)
    return { tier: body.service_tier, warned: warnings.map(({ param }) => param) }
  }

  test('include the gateway’s priority tier if its price is known', () => {
    const priority = { gateway: { routing: { tier: 'priority' } } }
    const none = { tier: undefined, warned: ['gateway.routing.tier'] }
    expect(sent(priority, withPriority, { priorityTier: 'fast' })).toEqual({ tier: 'fast', warned: [] })
    expect(sent(priority, withPriority)).toEqual(none)
    expect(sent(priority, { ...offer, price }, { priorityTier: 'fast' })).toEqual(none)
    expect(sent(priority, offer, { priorityTier: 'fast' })).toEqual(none)
  })
  test('include a `service_tier` only at its own price, unless it costs no more', () => {
    expect(sent({ service_tier: 'priority' }, withPriority)).toEqual({ tier: 'priority', warned: [] })
    expect(sent({ service_tier: 'priority' })).toEqual({ tier: undefined, warned: ['service_tier'] })
    expect(sent({ service_tier: 'unheard-of' })).toEqual({ tier: undefined, warned: ['service_tier'] })
    expect(sent({ service_tier: 'flex' })).toEqual({ tier: 'flex', warned: [] })
  })
  test.each(['max_output_tokens', 'max_completion_tokens', 'max_tokens', 'n', 'best_of', 'service_tier'])(
    'an extension does not set %s',
    field => {
      const { body, warnings } = encodeRequest(ask({ extensions: { [field]: 9, seed: 7 } }), withPriority, {})
      expect(body).not.toHaveProperty(field)
      expect(body).toMatchObject({ seed: 7 })
      expect(warnings).toMatchObject([{ code: 'unsupported_parameter', param: `extensions.${field}` }])
    },
  )
})

describe('messages for a Chat host', () => {
  const call = (id: string) => ({ type: 'function_call', call_id: id, name: 'f', arguments: '{}' })
  const result = (id: string, output: string | readonly JsonObject[] = 'r') => ({ type: 'function_call_output', call_id: id, output })
  const tool = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } })

  test('have instructions first, and developers as system unless the host supports the role', () => {
    const fields = {
      instructions: 'I',
      input: [
        { role: 'developer', content: 'D' },
        { role: 'user', content: 'U' },
        { role: 'system', content: 'S' },
      ],
    }
    expect(chat(fields).messages).toEqual([
      { role: 'system', content: 'I' },
      { role: 'system', content: 'D' },
      { role: 'user', content: 'U' },
      { role: 'system', content: 'S' },
    ])
    expect(chat(fields, { developerRole: true }).messages.map(({ role }) => role)).toEqual(['developer', 'developer', 'user', 'system'])
  })
  test('have one assistant turn as one message', () => {
    const input = [
      { role: 'assistant', content: 'a' },
      call('1'),
      call('2'),
      result('1'),
      result('2'),
      {
        role: 'assistant',
        content: [
          { type: 'output_text', text: 'b' },
          { type: 'refusal', refusal: 'c' },
        ],
      },
      call('3'),
      result('3'),
      { role: 'user', content: 'u' },
    ]
    expect(chat({ input }).messages).toEqual([
      { role: 'assistant', content: 'a', tool_calls: [tool('1'), tool('2')] },
      { role: 'tool', tool_call_id: '1', content: 'r' },
      { role: 'tool', tool_call_id: '2', content: 'r' },
      { role: 'assistant', content: 'bc', tool_calls: [tool('3')] },
      { role: 'tool', tool_call_id: '3', content: 'r' },
      { role: 'user', content: 'u' },
    ])
  })
  test('have calls in separate messages after a tool result', () => {
    expect(chat({ input: [call('1'), result('1'), call('2'), result('2')] }).messages.map(({ role }) => role)).toEqual([
      'assistant',
      'tool',
      'assistant',
      'tool',
    ])
    expect(chat({ input: [call('1')] }).messages).toEqual([{ role: 'assistant', content: null, tool_calls: [tool('1')] }])
  })
  test('have images of users, and images in tool results after all results of the turn', () => {
    const image = (url: string) => ({ type: 'input_image', image_url: url, detail: 'high' })
    const sent = (url: string) => ({ type: 'image_url', image_url: { url, detail: 'high' } })
    const input = [
      { role: 'user', content: [{ type: 'input_text', text: 'see' }, image('data:1')] },
      call('1'),
      call('2'),
      result('1', [{ type: 'input_text', text: 't' }, image('data:2')]),
      result('2', [image('data:3')]),
    ]
    const { messages, warned } = chat({ input })
    expect(messages).toMatchObject([
      { role: 'user', content: [{ type: 'text', text: 'see' }, sent('data:1')] },
      { role: 'assistant' },
      { role: 'tool', content: 't' },
      { role: 'tool', content: 'The result is in the next message.' },
      { role: 'user', content: [{ type: 'text' }, sent('data:2'), { type: 'text' }, sent('data:3')] },
    ])
    expect(warned).toEqual([])
  })
  test('have text parts as one string, since many hosts do not support lists', () => {
    expect(
      chat({
        input: [
          {
            role: 'user',
            content: [
              { type: 'input_text', text: 'a' },
              { type: 'input_text', text: 'b' },
            ],
          },
        ],
      }).messages,
    ).toEqual([{ role: 'user', content: 'a\n\nb' }])
  })
  test('have earlier reasoning if the host accepts it, and in every turn if it requires that', () => {
    const input = [
      { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'hm' }] },
      { role: 'assistant', content: 'a' },
      { role: 'user', content: 'u' },
      { role: 'assistant', content: 'b' },
    ]
    expect(chat({ input }).messages).toEqual([
      { role: 'assistant', content: 'a' },
      { role: 'user', content: 'u' },
      { role: 'assistant', content: 'b' },
    ])
    const withReasoning = { role: 'assistant', content: 'a', reasoning_content: 'hm' }
    const without = { role: 'assistant', content: 'b' }
    expect(chat({ input }, { reasoningField: 'reasoning_content' }).messages).toEqual([
      withReasoning,
      { role: 'user', content: 'u' },
      without,
    ])
    expect(chat({ input }, { earlierReasoning: 'always' }).messages).toEqual([
      withReasoning,
      { role: 'user', content: 'u' },
      { ...without, reasoning_content: '' },
    ])
  })
  test('leave out items of other dialects with warnings', () => {
    const input = [
      { type: 'local_shell_call', call_id: '1' },
      {
        role: 'user',
        content: [
          { type: 'input_file', file_id: 'f' },
          { type: 'input_text', text: 'x' },
        ],
      },
      { role: 'assistant', content: [{ type: 'input_image', image_url: 'data:' }] },
      result('1', [{ type: 'input_video' }]),
    ]
    expect(chat({ input }).warned).toEqual(['input[3].output[0]', 'input[1].content[0]', 'input[2].content[0]'])
  })
  test('have matching call ids of a fixed length', () => {
    const { messages } = chat({ input: [call('call_abcdefghijk'), result('call_abcdefghijk'), call('abc123XYZ')] }, { callIdLength: 9 })
    const [calling, answered, kept] = messages
    const [{ id } = { id: '' }] = (calling?.tool_calls ?? []) as readonly { readonly id: string }[]
    expect(id).toMatch(/^[a-zA-Z0-9]{9}$/)
    expect(answered?.tool_call_id).toBe(id)
    expect(kept?.tool_calls).toMatchObject([{ id: 'abc123XYZ' }])
  })
})

describe('tools and formats for a Chat host', () => {
  const tools = [
    { type: 'function', name: 'f', description: 'd', parameters: { type: 'object' }, strict: true },
    { type: 'function', name: 'g' },
  ]
  test('have nested functions', () => {
    expect(chat({ tools, tool_choice: { type: 'function', name: 'f' }, parallel_tool_calls: false })).toMatchObject({
      tools: [
        { type: 'function', function: { name: 'f', description: 'd', parameters: { type: 'object' }, strict: true } },
        { type: 'function', function: { name: 'g', parameters: { type: 'object', properties: {} } } },
      ],
      tool_choice: { type: 'function', function: { name: 'f' } },
      parallel_tool_calls: false,
    })
  })
  test('have the host’s own value for a required call', () => {
    expect(chat({ tools, tool_choice: 'required' }).tool_choice).toBe('required')
    expect(chat({ tools, tool_choice: 'required' }, { requiredToolChoice: 'any' }).tool_choice).toBe('any')
  })
  test('leave out the tools that are not allowed', () => {
    const tool_choice = { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'g' }] }
    expect(chat({ tools, tool_choice })).toMatchObject({ tools: [{ function: { name: 'g' } }], tool_choice: 'required', warned: [] })
  })
  test('have all tools and the allowed ones if the host supports allowed_tools', () => {
    const tool_choice = { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'g' }] }
    expect(chat({ tools, tool_choice }, { allowedTools: true })).toMatchObject({
      tools: [{ function: { name: 'f' } }, { function: { name: 'g' } }],
      tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'g' } }] } },
      warned: [],
    })
  })
  test('leave out hosted tools with a warning, and the choice if there are no tools', () => {
    const only = chat({ tools: [{ type: 'web_search' }], tool_choice: 'required', parallel_tool_calls: true })
    expect(only.warned).toEqual(['tools[0]', 'tool_choice'])
    expect(only).not.toHaveProperty('tools')
    expect(only).not.toHaveProperty('parallel_tool_calls')
    expect(chat({ tools, tool_choice: { type: 'web_search' } }).warned).toEqual(['tool_choice'])
  })
  test('leave out `strict` if it is not supported', () => {
    const { tools: sent, warned } = chat({ tools }, { refuses: ['strict'] })
    expect(JSON.stringify(sent)).not.toContain('strict')
    expect(warned).toEqual(['tools[0].strict'])
  })
  test('have the response format, with an instruction if schemas are not supported', () => {
    const format = { type: 'json_schema', name: 'n', schema: { a: 1 }, strict: true, description: 'd' }
    expect(chat({ text: { format } }).response_format).toEqual({
      type: 'json_schema',
      json_schema: { name: 'n', schema: { a: 1 }, strict: true, description: 'd' },
    })
    expect(chat({ text: { format: { type: 'text' } } })).not.toHaveProperty('response_format')
    const instructed = chat({ text: { format }, instructions: 'I' }, { noJsonSchema: true })
    expect(instructed).toMatchObject({ response_format: { type: 'json_object' }, warned: ['text.format'] })
    expect(instructed.messages[1]?.content).toContain('{"a":1}')
  })
})

describe('parameters for a Chat host', () => {
  test('have Chat’s names, and stream options in a stream', () => {
    const fields = {
      max_output_tokens: 9,
      reasoning: { effort: 'low' },
      text: { verbosity: 'low' },
      include: ['message.output_text.logprobs', 'reasoning.encrypted_content'],
      top_logprobs: 2,
      stream: true,
    }
    expect(chat(fields)).toMatchObject({
      max_completion_tokens: 9,
      reasoning_effort: 'low',
      verbosity: 'low',
      logprobs: true,
      top_logprobs: 2,
      stream: true,
      stream_options: { include_usage: true },
      model: 'their-model',
      warned: [],
    })
    expect(chat(fields, { maxTokensField: 'max_tokens', noStreamOptions: true })).toMatchObject({ max_tokens: 9 })
    expect(chat(fields, { noStreamOptions: true })).not.toHaveProperty('stream_options')
    expect(chat({})).not.toHaveProperty('stream_options')
  })
  test('that are left out give warnings under the client’s names', () => {
    expect(
      chat(
        { max_output_tokens: 9, reasoning: { effort: 'low' }, text: { verbosity: 'low' }, top_k: 1 },
        { refuses: ['max_completion_tokens', 'reasoning_effort', 'verbosity', 'top_k'] },
      ).warned,
    ).toEqual(['max_output_tokens', 'reasoning.effort', 'text.verbosity', 'top_k'])
    expect(chat({ truncation: 'auto', include: ['x'], reasoning: { summary: 'auto' }, unheard: 1 }).warned).toEqual([
      'truncation',
      'include[0]',
      'unheard',
    ])
    expect(chat({ truncation: 'disabled', metadata: { a: 'b' } }).warned).toEqual([])
  })
  test('have extensions applied last', () => {
    expect(chat({ temperature: 1, extensions: { temperature: 0, thinking: { type: 'enabled' }, stream: true } })).toMatchObject({
      temperature: 0,
      thinking: { type: 'enabled' },
      stream: false,
      warned: ['extensions.stream'],
    })
  })
})

test('a user id that is too long for vendors is replaced by a stable short one', () => {
  const user_id = JSON.stringify({ device: 'd'.repeat(64), session: 's'.repeat(64) })
  const request = messagesClient.decodeRequest({
    model: 'm',
    max_tokens: 9,
    metadata: { user_id },
    messages: [{ role: 'user', content: 'Hi' }],
  })
  const sent = [chatProvider, responsesProvider].map(
    ({ name, encodeRequest }) => encodeRequest(request, { provider: 'p', model: 'm', api: name }, {}).body.safety_identifier,
  )
  expect(new Set(sent).size).toBe(1)
  expect(String(sent[0]).length).toBeLessThanOrEqual(64)
})

test('a Responses provider receives a name with a document’s bytes, and arguments that are JSON', () => {
  const request = messagesClient.decodeRequest({
    model: 'm',
    max_tokens: 9,
    messages: [
      { role: 'user', content: [{ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' } }] },
    ],
  })
  const call: Item = { type: 'function_call', call_id: 'c', name: 'f', arguments: '' }
  const { body } = responses({ ...request, prompt: { ...request.prompt, input: [...request.prompt.input, call] } })
  expect(body.input).toMatchObject([
    { content: [{ type: 'input_file', file_data: 'data:application/pdf;base64,JVBERi0=', filename: 'document.pdf' }] },
    { type: 'function_call', arguments: '{}' },
  ])
})
