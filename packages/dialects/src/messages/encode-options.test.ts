import { describe, expect, test } from 'vitest'
import { offer } from '../../test/laws.ts'
import { hello, requestFor, result, send } from '../../test/messages-provider-sent.ts'
import type { Quirks } from '../protocol/model.ts'
import type { InferenceRequest, Prompt } from '../protocol/request.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { responsesClient } from '../responses/client.ts'
import { messagesClient } from './client.ts'
import { messagesProvider } from './provider.ts'

describe('the tools for a Messages provider', () => {
  const weather = {
    type: 'function',
    name: 'weather',
    description: 'Returns the weather',
    parameters: { type: 'object', properties: {} },
  } as const
  test('have a schema without strict mode unchanged, and an empty one if there is none', () => {
    const odd = { properties: { a: { type: 'string', minLength: 3 } } }
    expect(
      send({
        tools: [
          { type: 'function', name: 'f' },
          { ...weather, parameters: odd, strict: false },
        ],
      }),
    ).toMatchObject({
      tools: [
        { name: 'f', input_schema: { type: 'object', properties: {} } },
        { name: 'weather', description: 'Returns the weather', input_schema: { type: 'object', ...odd } },
      ],
      warned: [],
    })
  })
  test('have strict schemas adapted, and `strict` left out with a warning if it is not supported', () => {
    const tool = { ...weather, parameters: { type: 'object', properties: { a: { type: 'string', minLength: 3 } } }, strict: true } as const
    expect(send({ tools: [tool] })).toMatchObject({
      tools: [{ strict: true, input_schema: { additionalProperties: false, properties: { a: { description: 'minLength: 3' } } } }],
      warned: ['tools[0].parameters'],
    })
    const { tools, warned } = send({ tools: [tool] }, { refuses: ['strict'] })
    expect(tools).toEqual([{ name: 'weather', description: 'Returns the weather', input_schema: tool.parameters }])
    expect(warned).toEqual(['tools[0].strict'])
  })
  test('have valid names everywhere, which the mapping for the response reverses', () => {
    const name = 'ns.weather tool'
    const { tools, tool_choice, messages, mapping } = send({
      tools: [{ type: 'function', name }],
      tool_choice: { type: 'function', name },
      input: [hello, { type: 'function_call', call_id: 'a', name, arguments: '{}' }, result('a')],
    })
    const sent = tools?.[0]?.name
    expect(sent).toMatch(/^[a-zA-Z0-9_-]{1,128}$/)
    expect(tool_choice).toEqual({ type: 'tool', name: sent })
    expect(messages[1]).toMatchObject({ content: [{ name: sent }] })
    expect(mapping?.toolNames?.get(`${sent}`)).toBe(name)
    const long = 'x'.repeat(129)
    expect(`${send({ tools: [{ type: 'function', name: long }] }).tools?.[0]?.name}`).toHaveLength(128)
    expect(send({ tools: [weather] }).mapping).toBeUndefined()
  })
  test.each<[Prompt['tool_choice'], JsonObject | undefined]>([
    [undefined, undefined],
    ['auto', { type: 'auto' }],
    ['none', { type: 'none' }],
    ['required', { type: 'any' }],
    [
      { type: 'function', name: 'weather' },
      { type: 'tool', name: 'weather' },
    ],
    [{ type: 'native', dialect: 'messages', body: { type: 'future' } }, { type: 'future' }],
  ])('have the choice %j as %j', (tool_choice, sent) => {
    expect(send({ tools: [weather], ...(tool_choice && { tool_choice }) })).toMatchObject({ warned: [] })
    expect(send({ tools: [weather], ...(tool_choice && { tool_choice }) }).tool_choice).toEqual(sent)
  })
  test('have the setting for parallel calls beside the choice', () => {
    expect(send({ tools: [weather], parallel_tool_calls: false }).tool_choice).toEqual({ type: 'auto', disable_parallel_tool_use: true })
    expect(send({ tools: [weather], parallel_tool_calls: false, tool_choice: 'required' }).tool_choice).toEqual({
      type: 'any',
      disable_parallel_tool_use: true,
    })
    expect(send({ tools: [weather], parallel_tool_calls: true })).not.toHaveProperty('tool_choice')
    expect(send({ tools: [weather], parallel_tool_calls: false, tool_choice: 'none' }).tool_choice).toEqual({ type: 'none' })
  })
  test('have the choice `auto` with a warning if forced calls are not supported', () => {
    for (const quirks of [{ noForcedTools: true }, { thinking: ['budget'] }] satisfies Quirks[]) {
      const sent = send({ tools: [weather], tool_choice: 'required', reasoning: { effort: 'low' } }, quirks)
      expect(sent).toMatchObject({ tool_choice: { type: 'auto' }, warned: ['tool_choice'] })
    }
    expect(send({ tools: [weather], tool_choice: 'required', reasoning: { effort: 'low' } }).tool_choice).toEqual({ type: 'any' })
  })
  test.each<JsonObject>([
    { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'b' }] },
    { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'b' } }] } },
  ])('are only those of allowed_tools: %j', body => {
    const tools = ['a', 'b'].map(name => ({ ...weather, name }))
    const sent = send({ tools, tool_choice: { type: 'native', dialect: 'responses', body } })
    expect(sent).toMatchObject({ tools: [{ name: 'b' }], tool_choice: { type: 'any' }, warned: [] })
  })
  test('leave out native tools of other dialects with a warning, and keep those of Messages', () => {
    const own = { type: 'web_search_20250305', name: 'web_search' }
    const { tools, warned } = send({
      tools: [
        { type: 'native', dialect: 'responses', body: { type: 'web_search' } },
        { type: 'native', dialect: 'messages', body: own },
      ],
    })
    expect(tools).toEqual([own])
    expect(warned).toEqual(['tools[0]'])
    expect(send({ tool_choice: 'required' }).warned).toEqual(['tool_choice'])
    expect(send({ tool_choice: 'auto' })).toMatchObject({ warned: [] })
  })
})

describe('the response format for a Messages provider', () => {
  const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false } as const
  const format = { type: 'json_schema', name: 'place', schema, strict: true } as const
  const weather = { type: 'function', name: 'weather' } as const

  test('asks for a JSON object by an instruction, without a warning', () => {
    expect(send({ instructions: 'A', text: { format: { type: 'json_object' } } })).toMatchObject({
      system: [{ text: 'A' }, { text: 'Answer with one JSON object, and with nothing else.' }],
      warned: [],
    })
  })
  test('sends an adapted schema beside the effort', () => {
    expect(send({ text: { format }, reasoning: { effort: 'low' } })).toMatchObject({
      output_config: { effort: 'low', format: { type: 'json_schema', schema } },
      warned: [],
    })
    const loose = {
      ...format,
      description: 'Where it is',
      schema: { type: 'object', properties: { n: { type: 'integer', minimum: 1 } } },
    } as const
    expect(send({ text: { format: loose } })).toMatchObject({
      output_config: { format: { schema: { additionalProperties: false, description: 'Where it is' } } },
      warned: ['text.format.schema'],
    })
  })
  test('sends a schema as a forced tool with a unique name', () => {
    const sent = send({ text: { format } }, { jsonSchema: 'tool' })
    expect(sent).toMatchObject({
      tools: [{ name: 'answer', input_schema: schema }],
      tool_choice: { type: 'tool', name: 'answer', disable_parallel_tool_use: true },
      mapping: { answerTool: 'answer' },
      warned: ['text.format'],
    })
    expect(send({ text: { format }, tools: [{ type: 'function', name: 'answer' }] }, { jsonSchema: 'tool' })).toMatchObject({
      tools: [{ name: 'answer' }, { name: 'answer_' }],
      tool_choice: { type: 'any' },
      mapping: { answerTool: 'answer_' },
    })
  })
  test.each<[string, Partial<Prompt>, Quirks]>([
    ['the model supports only instructions', {}, { jsonSchema: 'words' }],
    ['calls cannot be forced', {}, { jsonSchema: 'tool', noForcedTools: true }],
    ['it has a thinking budget', { reasoning: { effort: 'low' } }, { jsonSchema: 'tool', thinking: ['budget'] }],
    ['another call is forced', { tools: [weather], tool_choice: { type: 'function', name: 'weather' } }, { jsonSchema: 'tool' }],
  ])('asks for a schema by an instruction if %s', (_, prompt, quirks) => {
    const { system: instruction, mapping, warned } = send({ text: { format }, ...prompt }, quirks)
    expect(instruction).toContain(JSON.stringify(schema))
    expect(mapping).toBeUndefined()
    expect(warned).toEqual(['text.format'])
  })
})

describe('the other settings for a Messages provider', () => {
  test('include stop sequences and the user', () => {
    expect(send({ stop: ['END'], user: 'u' })).toMatchObject({ stop_sequences: ['END'], metadata: { user_id: 'u' }, warned: [] })
    expect(send({ user: 'u', safety_identifier: 's' })).toMatchObject({ metadata: { user_id: 's' }, warned: ['user'] })
    expect(send({ stop: [] })).not.toHaveProperty('stop_sequences')
  })
  test.each<[Partial<Prompt>, readonly string[]]>([
    [{ frequency_penalty: 0.1, presence_penalty: 0.2 }, ['frequency_penalty', 'presence_penalty']],
    [{ frequency_penalty: 0, presence_penalty: 0, top_logprobs: 0, truncation: 'disabled' }, []],
    [{ top_logprobs: 3, seed: 0 }, ['top_logprobs', 'seed']],
    [{ text: { verbosity: 'low' } }, ['text.verbosity']],
    [{ truncation: 'auto', prompt_cache_key: 'k' }, ['truncation', 'prompt_cache_key']],
    [{ include: ['reasoning.encrypted_content', 'message.output_text.logprobs'] }, ['include[1]']],
    [{ native: { type: 'native', dialect: 'chat', body: { n: 1, logit_bias: {} } } }, ['n', 'logit_bias']],
    [{ metadata: { a: 'b' }, max_tool_calls: 3 }, []],
  ])('with %j leave out %j', (prompt, warned) => {
    expect(send(prompt).warned).toEqual(warned)
  })
  test('include unknown fields of Messages requests, and extensions', () => {
    const sent = send({
      native: { type: 'native', dialect: 'messages', body: { container: 'c' } },
      extensions: { top_k: 3, max_tokens: 1 },
    })
    expect(sent).toMatchObject({ container: 'c', top_k: 3, max_tokens: 32_000, warned: ['extensions.max_tokens'] })
  })
  test.each<[string | undefined, Quirks, string | undefined, readonly string[]]>([
    ['auto', {}, 'auto', []],
    ['default', {}, 'standard_only', []],
    ['standard_only', {}, 'standard_only', []],
    ['flex', {}, undefined, ['service_tier']],
    ['priority', { priorityTier: 'auto' }, 'auto', []],
  ])('include the tier %s', (...[service_tier, quirks, sent, warned]) => {
    const price = { input: 1, output: 1, priority: { input: 2, output: 2 } }
    const encoded = send(service_tier === undefined ? {} : { service_tier }, quirks, { ...offer, price })
    expect([encoded.service_tier, encoded.warned]).toEqual([sent, warned])
    if (service_tier === 'priority') expect(send({ service_tier }, quirks).warned).toEqual(['service_tier'])
  })
  test('that the offer does not support are left out, with warnings under the client’s names', () => {
    expect(send({ stop: ['x'] }, { refuses: ['stop_sequences'] }).warned).toEqual(['stop'])
    expect(send({}, { fixedFields: { vendor_style: 'eu' } }).vendor_style).toBe('eu')
  })
})

describe('the headers for a Messages provider', () => {
  const headersOf = (headers?: InferenceRequest['headers']) =>
    messagesProvider.encodeRequest({ ...requestFor({}), ...(headers && { headers }) }, offer, {}).headers
  test('have the version, and the betas of a Messages client', () => {
    expect(headersOf()).toEqual({ 'anthropic-version': '2023-06-01' })
    const values = { 'anthropic-version': '2026-10-21', 'anthropic-beta': 'a,b', cookie: 'secret' }
    expect(headersOf({ dialect: 'messages', values })).toEqual({ 'anthropic-version': '2026-10-21', 'anthropic-beta': 'a,b' })
    expect(headersOf({ dialect: 'chat', values })).toEqual({ 'anthropic-version': '2023-06-01' })
  })
})

describe('the token count request for a Messages provider', () => {
  const { counting } = messagesProvider
  test('has the fields of the prompt only', () => {
    const request = responsesClient.decodeRequest({
      model: 'm',
      input: 'Hi',
      instructions: 'S',
      temperature: 0.5,
      stream: true,
      tools: [{ type: 'function', name: 'f', parameters: {} }],
      reasoning: { effort: 'low' },
    })
    expect(counting?.encodeRequest(request, offer, {})).toMatchObject({
      body: {
        model: 'their-model',
        system: 'S',
        messages: [{ role: 'user' }],
        tools: [{ name: 'f' }],
        thinking: { type: 'adaptive' },
        output_config: { effort: 'low' },
      },
      headers: { 'anthropic-version': '2023-06-01' },
    })
    expect(Object.keys(counting?.encodeRequest(request, offer, {}).body ?? {}).sort()).toEqual(
      ['messages', 'model', 'output_config', 'system', 'thinking', 'tools'].sort(),
    )
    const own = messagesClient.decodeCounting?.({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] })
    expect(own && counting?.encodeRequest(own, offer, {}).body).toEqual({
      model: 'their-model',
      messages: [{ role: 'user', content: 'Hi' }],
    })
  })
  test('returns the count, or undefined', () => {
    expect(counting?.decode({ input_tokens: 12 })).toBe(12)
    expect(counting?.decode({})).toBeUndefined()
  })
})
