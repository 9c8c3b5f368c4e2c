import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { offer } from '../../test/laws.ts'
import type { Item } from '../protocol/item.ts'
import type { Offer, Quirks } from '../protocol/model.ts'
import type { InferenceRequest, Prompt } from '../protocol/request.ts'
import type { Json, JsonObject } from '../protocol/wire.ts'
import { responsesClient } from '../responses/client.ts'
import { geminiProvider } from './provider.ts'

interface Content {
  readonly role: string
  readonly parts: readonly JsonObject[]
}

const ask = (prompt: Partial<Prompt>, fields: Partial<InferenceRequest> = {}): InferenceRequest => ({
  prompt: { input: [user('Hi')], ...prompt },
  routing: { models: ['m'], allow_fallbacks: true },
  delivery: 'stream',
  ...fields,
})
const encode = (prompt: Partial<Prompt>, quirks: Quirks = {}, sold: Offer = offer) => {
  const { body, warnings, mapping } = geminiProvider.encodeRequest(ask(prompt), sold, quirks)
  return {
    body,
    contents: body.contents as unknown as readonly Content[],
    config: (body.generationConfig ?? {}) as JsonObject,
    calling: (body.toolConfig as { readonly functionCallingConfig?: JsonObject } | undefined)?.functionCallingConfig,
    mapping,
    warned: warnings.map(({ param }) => param),
  }
}

const say = (role: 'user' | 'assistant' | 'system' | 'developer', text: string): Item => ({
  type: 'message',
  role,
  content: [{ type: 'text', text }],
})
const user = (text: string): Item => say('user', text)
const call = (id: string, name = 'f', written = '{}'): Item => ({ type: 'function_call', call_id: id, name, arguments: written })
const result = (id: string, output: string): Item => ({ type: 'function_call_output', call_id: id, output })
const thought = (state: JsonObject, ...summary: readonly string[]): Item => ({
  type: 'reasoning',
  summary,
  encrypted_content: JSON.stringify(state),
})
const weather = { type: 'function', name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } } as const
const budget: Quirks = { thinking: ['budget'], thinkingBudget: { min: 128, max: 32_768 } }

describe('the contents of a Gemini request', () => {
  test('are turns of user and model, where consecutive items of one role are one turn', () => {
    expect(
      encode({ input: [user('a'), user('b'), say('assistant', 'c'), call('1'), result('1', 'r'), user('d')] }, budget).contents,
    ).toEqual([
      { role: 'user', parts: [{ text: 'a' }, { text: 'b' }] },
      { role: 'model', parts: [{ text: 'c' }, { functionCall: { id: '1', name: 'f', args: {} } }] },
      { role: 'user', parts: [{ text: 'd' }, { functionResponse: { id: '1', name: 'f', response: { output: 'r' } } }] },
    ])
  })
  test('put parallel tool results into one turn, in the order of the calls, each with the name of its function', () => {
    const { contents } = encode({ input: [user('a'), call('1', 'f'), call('2', 'g'), result('2', 'second'), result('1', 'first')] })
    expect(contents.at(-1)?.parts).toEqual([
      { functionResponse: { id: '1', name: 'f', response: { output: 'first' } } },
      { functionResponse: { id: '2', name: 'g', response: { output: 'second' } } },
    ])
  })
  test.each<[string, { readonly output: string; readonly is_error?: boolean }, JsonObject]>([
    ['a JSON object is sent unchanged', { output: '{"temp": 3}' }, { temp: 3 }],
    ['a list is wrapped', { output: '[1]' }, { output: '[1]' }],
    ['text is wrapped', { output: 'sunny' }, { output: 'sunny' }],
    ['invalid JSON is sent as text', { output: '{oops' }, { output: '{oops' }],
    ['an error is sent under `error`', { output: '{"code": 1}', is_error: true }, { error: '{"code": 1}' }],
  ])('send a tool result as an object: %s', (_, answered, response) => {
    const { contents } = encode({
      input: [user('a'), call('1'), { type: 'function_call_output', call_id: '1', ...answered }],
    })
    expect(contents.at(-1)?.parts).toMatchObject([{ functionResponse: { response } }])
  })
  test('send a tool result that is nested too deep to be serialized as text', () => {
    const deep = `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`
    const { body } = encode({ input: [user('a'), call('1', 'f', deep), result('1', deep)] })
    expect(() => JSON.stringify(body)).not.toThrow()
  })
  test('wrap arguments that are not an object in one, with a warning', () => {
    const { contents, warned } = encode({ input: [user('a'), call('1', 'f', '{"x":'), call('2', 'f', '')] }, budget)
    expect(contents[1]?.parts).toMatchObject([{ functionCall: { args: { _raw: '{"x":' } } }, { functionCall: { args: {} } }])
    expect(warned).toEqual(['input[1].arguments'])
  })
  test('send a tool result without a matching call under a placeholder name, with a warning', () => {
    const { contents, warned } = encode({ input: [user('a'), result('9', 'r')] })
    expect(contents[0]?.parts).toMatchObject([{ text: 'a' }, { functionResponse: { name: 'tool' } }])
    expect(warned).toEqual(['input[1].call_id'])
  })
  test('leave out empty texts, which the API rejects', () => {
    expect(encode({ input: [user(''), user('a'), say('assistant', ''), user('b')] }).contents).toEqual([
      { role: 'user', parts: [{ text: 'a' }, { text: 'b' }] },
    ])
  })
  test('leave out native items of other dialects with a warning, and send those of Gemini unchanged', () => {
    const native = (dialect: string): Item => ({ type: 'native', dialect, body: { executableCode: { code: '1' } } })
    const { contents, warned } = encode({ input: [user('a'), native('gemini'), native('responses')] })
    expect(contents.at(-1)).toEqual({ role: 'model', parts: [{ executableCode: { code: '1' } }] })
    expect(warned).toEqual(['input[2]'])
  })
})

describe('system messages', () => {
  test('at the front become the system instruction, and later ones are marked in the user turn', () => {
    const { body, contents } = encode({
      instructions: 'I',
      input: [say('developer', 'D'), say('system', 'S'), user('U'), say('system', 'M'), user('V')],
    })
    expect(body.systemInstruction).toEqual({ parts: [{ text: 'I' }, { text: 'D' }, { text: 'S' }] })
    expect(contents).toEqual([{ role: 'user', parts: [{ text: 'U' }, { text: '<system>\nM\n</system>' }, { text: 'V' }] }])
  })
  test('are sent before the first user text if the model has no system instruction', () => {
    const { body, contents } = encode({ instructions: 'I', input: [say('assistant', 'A'), user('U')] }, { noSystem: true })
    expect(body).not.toHaveProperty('systemInstruction')
    expect(contents.at(-1)?.parts).toEqual([{ text: 'I' }, { text: 'U' }])
    expect(encode({ instructions: 'I', input: [say('assistant', 'A')] }, { noSystem: true }).contents[0]).toEqual({
      role: 'user',
      parts: [{ text: 'I' }],
    })
  })
  test('without other messages are sent as a user turn, since the API requires contents', () => {
    const { body, contents } = encode({ instructions: 'I', input: [] })
    expect(contents).toEqual([{ role: 'user', parts: [{ text: 'I' }] }])
    expect(body).not.toHaveProperty('systemInstruction')
  })
})

describe('images, files and audio', () => {
  const sent = (...content: Extract<Item, { type: 'message' }>['content']) =>
    encode({ input: [{ type: 'message', role: 'user', content }] })
  test('given as bytes are sent inline, byte for byte', () => {
    const { contents } = sent(
      { type: 'image', url: 'data:image/PNG;base64,iVBO+/==' },
      { type: 'file', url: 'data:application/pdf;name=x;base64,JVBERi0=' },
      { type: 'audio', data: 'UklGRg==', format: 'wav' },
    )
    expect(contents[0]?.parts).toEqual([
      { inlineData: { mimeType: 'image/png', data: 'iVBO+/==' } },
      { inlineData: { mimeType: 'application/pdf', data: 'JVBERi0=' } },
      { inlineData: { mimeType: 'audio/wav', data: 'UklGRg==' } },
    ])
  })
  test('given by URL are sent as file URIs, with the MIME type of the extension', () => {
    const { contents } = sent(
      { type: 'image', url: 'https://a.example/x.WEBP?y=1', detail: 'low' },
      { type: 'image', url: 'https://a.example/x' },
      { type: 'file', url: 'https://a.example/x.txt#z' },
    )
    expect(contents[0]?.parts).toEqual([
      { fileData: { mimeType: 'image/webp', fileUri: 'https://a.example/x.WEBP?y=1' } },
      { fileData: { mimeType: 'image/jpeg', fileUri: 'https://a.example/x' } },
      { fileData: { mimeType: 'text/plain', fileUri: 'https://a.example/x.txt#z' } },
    ])
  })
  test('that cannot be sent are left out with a warning', () => {
    expect(sent({ type: 'image', url: 'data:image/svg+xml,<svg/>' }).warned).toEqual(['input[0].content[0]'])
    const file = { type: 'file', url: 'https://a.example/x.pdf' } as const
    expect(encode({ input: [{ type: 'message', role: 'user', content: [file] }] }, { files: false }).warned).toEqual([
      'input[0].content[0]',
    ])
    expect(encode({ input: [{ type: 'message', role: 'assistant', content: [file] }] }).warned).toEqual(['input[0].content[0]'])
  })
  test('in a tool result are sent inside it, or after it on older models', () => {
    const input: readonly Item[] = [
      user('a'),
      call('1'),
      {
        type: 'function_call_output',
        call_id: '1',
        output: [
          { type: 'text', text: 'see' },
          { type: 'image', url: 'data:image/png;base64,AA==' },
        ],
      },
      user('b'),
    ]
    const image = { inlineData: { mimeType: 'image/png', data: 'AA==' } }
    const answered = { id: '1', name: 'f', response: { output: 'see' } }
    expect(encode({ input }).contents.at(-1)?.parts).toEqual([{ text: 'b' }, { functionResponse: { ...answered, parts: [image] } }])
    const note = { text: 'Returned by the tool call 1:' }
    expect(encode({ input }, { textOnlyResults: true }).contents.at(-1)?.parts).toEqual([
      { functionResponse: answered },
      note,
      image,
      { text: 'b' },
    ])
  })
})

describe('the tools of a Gemini request', () => {
  const tool = (name: string, more: JsonObject = {}) => ({ type: 'function' as const, name, ...more })
  const declared = (fields: Partial<Prompt>) => {
    const { body, ...rest } = encode(fields)
    return {
      ...rest,
      functions:
        (body.tools as readonly { readonly functionDeclarations?: readonly JsonObject[] }[] | undefined)?.[0]?.functionDeclarations ?? [],
    }
  }

  test('are declared with their schemas, or without one if they take no arguments', () => {
    const { functions, warned } = declared({
      tools: [
        { ...weather, description: 'Returns the weather' },
        tool('now'),
        tool('then', { parameters: { type: 'object', properties: {}, additionalProperties: false } }),
        tool('any', { parameters: { type: 'object', additionalProperties: true } }),
      ],
    })
    expect(functions).toEqual([
      {
        name: 'weather',
        description: 'Returns the weather',
        parametersJsonSchema: { type: 'object', properties: { city: { type: 'string' } } },
      },
      { name: 'now' },
      { name: 'then' },
      { name: 'any', parametersJsonSchema: { type: 'object', additionalProperties: true } },
    ])
    expect(warned).toEqual([])
  })
  test('have schemas adapted to the API, with a warning for each change', () => {
    const { functions, warned } = declared({
      tools: [tool('f', { parameters: { type: 'object', properties: { a: { type: 'string', minLength: 3 } } } })],
    })
    expect(functions[0]?.parametersJsonSchema).toMatchObject({ properties: { a: { description: 'minLength: 3' } } })
    expect(warned).toEqual(['tools[0].parameters'])
  })
  test('include native tools of Gemini unchanged, and leave out those of other dialects with a warning', () => {
    const { body, warned } = encode({
      tools: [
        weather,
        { type: 'native', dialect: 'gemini', body: { googleSearch: {} } },
        { type: 'native', dialect: 'responses', body: { type: 'web_search' } },
      ],
    })
    expect(body.tools).toMatchObject([{ functionDeclarations: [{ name: 'weather' }] }, { googleSearch: {} }])
    expect(warned).toEqual(['tools[2]'])
  })
  test('are sent under valid names everywhere, which the mapping for the response reverses', () => {
    const name = 'get weather!'
    const { body, contents, calling, mapping } = encode({
      tools: [tool(name), tool('get_weather_')],
      input: [user('a'), call('1', name), result('1', 'r')],
      tool_choice: { type: 'function', name },
    })
    const [first, second] = ((body.tools as readonly JsonObject[])[0]?.functionDeclarations ?? []) as unknown as readonly {
      readonly name: string
    }[]
    const sent = first?.name ?? ''
    expect(sent).toMatch(/^get_weather_\w+$/)
    expect(second?.name).toBe('get_weather_')
    expect(contents[1]?.parts).toMatchObject([{ functionCall: { name: sent } }])
    expect(contents[2]?.parts).toMatchObject([{ functionResponse: { name: sent } }])
    expect(calling).toEqual({ mode: 'ANY', allowedFunctionNames: [sent] })
    expect(mapping?.toolNames).toEqual(new Map([[sent, name]]))
  })
  test('have a valid and unique name each, whatever their names are', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(
          fc.oneof(fc.string({ minLength: 1 }), fc.string({ minLength: 60, maxLength: 90, unit: fc.constantFrom('a', ' ', 'ü', '1') })),
          { maxLength: 20 },
        ),
        names => {
          const { body, mapping } = encode({ tools: names.map(each => tool(each)) })
          const sent = ((body.tools as readonly JsonObject[] | undefined)?.[0]?.functionDeclarations ?? []) as unknown as readonly {
            readonly name: string
          }[]
          expect(new Set(sent.map(each => each.name)).size).toBe(names.length)
          for (const [at, each] of sent.entries()) {
            expect(each.name).toMatch(/^[A-Za-z_][\w.:-]{0,63}$/)
            expect(mapping?.toolNames?.get(each.name) ?? each.name).toBe(names[at])
          }
        },
      ),
    )
  })

  test.each<[string, Partial<Prompt>, readonly [JsonObject | undefined, ...string[]]]>([
    ['auto', { tool_choice: 'auto' }, [undefined]],
    ['none', { tool_choice: 'none' }, [{ mode: 'NONE' }]],
    ['required', { tool_choice: 'required' }, [{ mode: 'ANY' }]],
    ['one tool by name', { tool_choice: { type: 'function', name: 'weather' } }, [{ mode: 'ANY', allowedFunctionNames: ['weather'] }]],
    ['strict', { tools: [{ ...weather, strict: true }] }, [{ mode: 'VALIDATED' }]],
    ['strict and required', { tools: [{ ...weather, strict: true }], tool_choice: 'required' }, [{ mode: 'ANY' }]],
    [
      'allowed tools',
      {
        tool_choice: {
          type: 'native',
          dialect: 'responses',
          body: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'weather' }] },
        },
      },
      [{ mode: 'VALIDATED', allowedFunctionNames: ['weather'] }],
    ],
    [
      'required allowed tools',
      {
        tool_choice: {
          type: 'native',
          dialect: 'chat',
          body: {
            type: 'allowed_tools',
            allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'weather' } }] },
          },
        },
      },
      [{ mode: 'ANY', allowedFunctionNames: ['weather'] }],
    ],
    ['a hosted tool', { tool_choice: { type: 'native', dialect: 'responses', body: { type: 'web_search' } } }, [undefined, 'tool_choice']],
    ['no parallel calls', { parallel_tool_calls: false }, [undefined, 'parallel_tool_calls']],
  ])('have the tool choice: %s', (_, fields, [expected, ...warnings]) => {
    const { calling, warned } = encode({ tools: [weather], ...fields })
    expect(calling).toEqual(expected)
    expect(warned).toEqual(warnings)
  })
  test('are left to the model’s choice with a warning if the model does not support forced calls', () => {
    const { calling, warned } = encode({ tools: [weather], tool_choice: { type: 'function', name: 'weather' } }, { noForcedTools: true })
    expect(calling).toEqual({ mode: 'VALIDATED', allowedFunctionNames: ['weather'] })
    expect(warned).toEqual(['tool_choice'])
  })
  test('give a warning if a call is required and there are none', () => {
    const { body, warned } = encode({ tool_choice: 'required' })
    expect(body).not.toHaveProperty('toolConfig')
    expect(warned).toEqual(['tool_choice'])
  })
})

describe('the settings of a Gemini request', () => {
  test('are sent under Gemini’s names, and the body has no other fields', () => {
    const { body, config, warned } = encode({
      max_output_tokens: 7,
      temperature: 0.1,
      top_p: 0.2,
      top_k: 3,
      stop: ['a'],
      seed: 4,
      frequency_penalty: 0.5,
      presence_penalty: 0.6,
      top_logprobs: 2,
    })
    expect(config).toEqual({
      maxOutputTokens: 7,
      temperature: 0.1,
      topP: 0.2,
      topK: 3,
      stopSequences: ['a'],
      seed: 4,
      frequencyPenalty: 0.5,
      presencePenalty: 0.6,
      responseLogprobs: true,
      logprobs: 2,
    })
    expect(Object.keys(body).sort()).toEqual(['contents', 'generationConfig'])
    expect(warned).toEqual([])
  })
  test('are left out if they are empty or the default', () => {
    expect(Object.keys(encode({ stop: [], top_logprobs: 0, reasoning: {}, text: { format: { type: 'text' } } }).body)).toEqual(['contents'])
  })
  test('that the offer refuses are left out, with warnings under the client’s names', () => {
    const { config, warned } = encode(
      { temperature: 0.5, frequency_penalty: 0.5, presence_penalty: 0, top_logprobs: 3 },
      { refuses: ['frequency_penalty', 'presence_penalty', 'logprobs'], sampling: 'none' },
    )
    expect(config).toEqual({})
    expect(warned.toSorted()).toEqual(['frequency_penalty', 'temperature', 'top_logprobs'])
  })
  test('include the first five stop sequences, with a warning if there are more', () => {
    const { config, warned } = encode({ stop: ['1', '2', '3', '4', '5', '6'] })
    expect(config.stopSequences).toEqual(['1', '2', '3', '4', '5'])
    expect(warned).toEqual(['stop'])
  })
  test('include logprobs if the client requests them through `include`', () => {
    expect(encode({ include: ['message.output_text.logprobs'] }).config).toEqual({ responseLogprobs: true })
  })
  test('without a counterpart give a warning, except metadata', () => {
    const { warned } = encode({
      user: 'u',
      safety_identifier: 's',
      prompt_cache_key: 'k',
      metadata: { a: 'b' },
      truncation: 'auto',
      text: { verbosity: 'low' },
      include: ['web_search_call.results', 'reasoning.encrypted_content'],
    })
    expect(warned.toSorted()).toEqual(['include[0]', 'prompt_cache_key', 'safety_identifier', 'text.verbosity', 'truncation', 'user'])
  })
  test('with several cache points give one warning, at the first', () => {
    const cache = {}
    const { warned } = encode({
      input: [
        {
          type: 'message',
          role: 'user',
          content: [
            { type: 'text', text: 'a' },
            { type: 'text', text: 'b', cache },
            { type: 'text', text: 'c', cache },
          ],
        },
      ],
    })
    expect(warned).toEqual(['input[0].content[1]'])
  })
  test('include a service tier that the offer sells, but not the default tier', () => {
    const withPriority: Offer = { ...offer, price: { input: 1, output: 1, priority: { input: 2, output: 2 } } }
    const tier = (prompt: Partial<Prompt>, sold: Offer, quirks: Quirks = {}) => encode(prompt, quirks, sold).body.serviceTier
    expect(tier({ service_tier: 'priority' }, withPriority)).toBe('priority')
    expect(tier({ service_tier: 'priority' }, offer)).toBeUndefined()
    expect(tier({ service_tier: 'flex' }, offer)).toBe('flex')
    expect(tier({ service_tier: 'default' }, offer)).toBeUndefined()
    const { body } = geminiProvider.encodeRequest(
      ask({}, { routing: { models: ['m'], allow_fallbacks: true, tier: 'priority' } }),
      withPriority,
      {
        priorityTier: 'priority',
      },
    )
    expect(body.serviceTier).toBe('priority')
    expect(encode({ service_tier: 'flex' }, { refuses: ['service_tier'] })).toMatchObject({ warned: ['service_tier'] })
  })
})

describe('the response format', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } } }
  const format = { type: 'json_schema', name: 'n', schema } as const

  test('is sent as a JSON schema or as JSON mode', () => {
    expect(encode({ text: { format } }).config).toEqual({ responseMimeType: 'application/json', responseJsonSchema: schema })
    expect(encode({ text: { format: { type: 'json_object' } } }).config).toEqual({ responseMimeType: 'application/json' })
  })
  test.each<[string, Quirks, Partial<Prompt>]>([
    ['beside tools on models that do not support both', { jsonSchemaWithoutTools: true }, { tools: [weather] }],
    ['on models without JSON schemas', { jsonSchema: 'words' }, {}],
  ])('is requested by an instruction %s', (_, quirks, more) => {
    for (const each of [format, { type: 'json_object' } as const]) {
      const { config, body, warned } = encode({ text: { format: each }, instructions: 'I', ...more }, quirks)
      expect(config).toEqual({})
      expect(body.systemInstruction).toMatchObject({ parts: [{ text: 'I' }, { text: expect.stringContaining('one JSON object') }] })
      expect(warned).toEqual(['text.format'])
    }
  })
  test('needs no instruction without tools', () => {
    expect(encode({ text: { format } }, { jsonSchemaWithoutTools: true }).warned).toEqual([])
  })
})

describe('the thinking configuration', () => {
  const thinks = (reasoning: Prompt['reasoning'], quirks: Quirks = {}): Json => {
    const { config, warned } = encode({ reasoning: reasoning ?? {} }, quirks)
    return [config.thinkingConfig ?? null, warned.length]
  }
  test('has the nearest level that the model supports', () => {
    expect(thinks({ effort: 'low' })).toEqual([{ thinkingLevel: 'LOW' }, 0])
    expect(thinks({ effort: 'max' })).toEqual([{ thinkingLevel: 'HIGH' }, 1])
    expect(thinks({ effort: 'minimal' })).toEqual([{ thinkingLevel: 'LOW' }, 1])
    expect(thinks({ effort: 'minimal' }, { efforts: ['minimal', 'low', 'high'] })).toEqual([{ thinkingLevel: 'MINIMAL' }, 0])
    expect(thinks({ effort: 'none' }, { efforts: ['minimal', 'low', 'high'] })).toEqual([{ thinkingLevel: 'MINIMAL' }, 1])
    expect(thinks({ effort: 'medium' }, { efforts: ['low', 'high'] })).toEqual([{ thinkingLevel: 'LOW' }, 1])
    expect(thinks({ effort: 'high', budget_tokens: 5000 })).toEqual([{ thinkingLevel: 'HIGH' }, 0])
  })
  test('has a token budget on older models', () => {
    const flash: Quirks = { thinking: ['budget'], thinkingBudget: { min: 1, max: 24_576 } }
    expect(thinks({ effort: 'minimal' }, flash)).toEqual([{ thinkingBudget: 1311 }, 0])
    expect(thinks({ effort: 'medium' }, flash)).toEqual([{ thinkingBudget: 19_661 }, 0])
    expect(thinks({ effort: 'max' }, flash)).toEqual([{ thinkingBudget: 24_576 }, 0])
    expect(thinks({ effort: 'none' }, flash)).toEqual([{ thinkingBudget: 0 }, 0])
    expect(thinks({ effort: 'none' }, { ...budget, thinkingOff: 'never' })).toEqual([{ thinkingBudget: 128 }, 1])
    expect(thinks({ effort: 'low', budget_tokens: 3000 }, flash)).toEqual([{ thinkingBudget: 3000 }, 0])
    expect(thinks({ effort: 'max', budget_tokens: 90_000 }, flash)).toEqual([{ thinkingBudget: 24_576 }, 1])
  })
  test('has only on and off on models with a toggle, and is left out for models without thinking', () => {
    expect(thinks({ effort: 'none' }, { thinking: ['toggle'] })).toEqual([{ thinkingBudget: 0 }, 0])
    expect(thinks({ effort: 'high' }, { thinking: ['toggle'] })).toEqual([{ thinkingBudget: -1 }, 0])
    expect(thinks({ effort: 'high' }, { thinking: [] })).toEqual([null, 1])
    expect(thinks({ effort: 'none' }, { thinking: [] })).toEqual([null, 0])
  })
  test('includes thoughts only if a summary is requested', () => {
    expect(thinks({ summary: 'auto' })).toEqual([{ includeThoughts: true }, 0])
    expect(thinks({ effort: 'low', summary: 'detailed' })).toEqual([{ thinkingLevel: 'LOW', includeThoughts: true }, 0])
    expect(thinks({ summary: 'none' })).toEqual([null, 0])
    expect(thinks({ effort: 'low' })).toEqual([{ thinkingLevel: 'LOW' }, 0])
  })
})

describe('thought signatures', () => {
  const placeholder = 'skip_thought_signature_validator'
  const models = (input: readonly Item[], quirks: Quirks = {}) =>
    encode({ input }, quirks)
      .contents.filter(({ role }) => role === 'model')
      .map(({ parts }) => parts)
  const { functionCall } = { functionCall: { id: '1', name: 'f', args: {} } }

  test('are sent back on the part that they came on', () => {
    expect(models([user('a'), thought({ on: 'call', signature: 'C' }, 'Hm.'), call('1'), call('2')])).toEqual([
      [{ functionCall, thoughtSignature: 'C' }, { functionCall: { ...functionCall, id: '2' } }],
    ])
    expect(models([user('a'), thought({ on: 'text', signature: 'T', length: 2 }), say('assistant', 'Hi you')])).toEqual([
      [{ text: 'Hi', thoughtSignature: 'T' }, { text: ' you' }],
    ])
    expect(models([user('a'), say('assistant', 'Hi'), thought({ on: 'end', signature: 'E' })])).toEqual([
      [{ text: 'Hi' }, { text: '', thoughtSignature: 'E' }],
    ])
    expect(models([user('a'), say('assistant', 'Hi you'), thought({ on: 'end', signature: 'E', length: 4 })])).toEqual([
      [{ text: 'Hi' }, { text: ' you', thoughtSignature: 'E' }],
    ])
    expect(models([user('a'), thought({ on: 'thought', signature: 'H' }, 'Hm.'), say('assistant', 'Hi')])).toEqual([
      [{ text: 'Hm.', thought: true, thoughtSignature: 'H' }, { text: 'Hi' }],
    ])
  })
  test('of an earlier turn are not moved to another part', () => {
    expect(models([user('a'), thought({ on: 'call', signature: 'C' }), user('b'), call('1')], { thoughtSignatures: false })).toEqual([
      [{ functionCall }],
    ])
  })
  test('that are missing are replaced by a placeholder on the first call of each step, in every turn', () => {
    const [old, first, second] = models([
      user('a'),
      call('0'),
      result('0', 'r'),
      say('assistant', 'x'),
      user('b'),
      call('1'),
      call('2'),
      result('1', 'r'),
      result('2', 'r'),
      call('3'),
    ]).filter(parts => parts.some(part => part.functionCall))
    expect(old?.map(({ thoughtSignature }) => thoughtSignature)).toEqual([placeholder])
    expect(first?.map(({ thoughtSignature }) => thoughtSignature)).toEqual([placeholder, undefined])
    expect(second?.map(({ thoughtSignature }) => thoughtSignature)).toEqual([placeholder])
  })
  test('are replaced by a placeholder only on models that require signatures', () => {
    expect(models([user('a'), call('1')], budget)).toEqual([[{ functionCall }]])
    expect(models([user('a'), call('1')], { ...budget, thoughtSignatures: true })).toEqual([
      [{ functionCall, thoughtSignature: placeholder }],
    ])
    expect(models([user('a'), call('1')], { thoughtSignatures: false })).toEqual([[{ functionCall }]])
  })
  test('are not read from state in an unknown format', () => {
    for (const state of [{ on: 'elsewhere', signature: 'x' }, { on: 'call' }, { signature: 'x' }])
      expect(models([user('a'), thought(state), call('1')], budget)).toEqual([[{ functionCall }]])
    expect(models([user('a'), { type: 'reasoning', summary: [], encrypted_content: 'gAAAA' }, call('1')], budget)).toEqual([
      [{ functionCall }],
    ])
  })
})

describe('a tool loop of three turns', () => {
  const answer = (...parts: readonly JsonObject[]): JsonObject => ({
    candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
    responseId: `r${parts.length}`,
  })
  const turns: readonly (readonly JsonObject[])[] = [
    [
      { text: 'Thinking.', thought: true },
      { functionCall: { name: 'f', args: { a: 1 }, id: 'one' }, thoughtSignature: 'AQ+/==' },
      { functionCall: { name: 'g', args: {}, id: 'two' } },
    ],
    [{ text: 'And then' }, { functionCall: { name: 'f', args: { b: [2] }, id: 'three' }, thoughtSignature: 'Bg==' }],
    [{ text: 'Done.', thoughtSignature: 'Cw==' }],
  ]

  test.each(['whole', 'streamed'])('sends back each part as it came, signatures byte for byte: %s', delivery => {
    let input: readonly Item[] = [user('go')]
    for (const parts of turns) {
      const decoder = geminiProvider.decodeEvents()
      const body = answer(...parts)
      const items =
        delivery === 'whole'
          ? geminiProvider.decodeResponse(body).output
          : [...decoder.read([{ data: JSON.stringify(body) }]), ...decoder.end()].flatMap(event =>
              event.type === 'item_finished' ? [event.item] : [],
            )
      const results = items.flatMap(item => (item.type === 'function_call' ? [result(item.call_id, 'ok')] : []))
      input = [...input, ...items, ...results]
    }
    const { contents } = encode({ input: [...input, user('and?')] })
    const sent = contents.filter(({ role }) => role === 'model').map(({ parts }) => parts)
    expect(sent).toEqual(turns.map(parts => parts.filter(({ thought: hidden }) => !hidden)))
    expect(contents.map(({ role }) => role)).toEqual(['user', 'model', 'user', 'model', 'user', 'model', 'user'])
  })
})

describe('extensions', () => {
  test('add unknown fields and override known settings', () => {
    const { body, config, warned } = encode({
      temperature: 1,
      max_output_tokens: 9,
      extensions: {
        safetySettings: [],
        labels: { a: 'b' },
        generationConfig: { temperature: 0, mediaResolution: 'LOW' },
        generation_config: { top_p: 0.5 },
      },
    })
    expect(body).toMatchObject({ safetySettings: [], labels: { a: 'b' } })
    expect(body).not.toHaveProperty('generation_config')
    expect(config).toEqual({ temperature: 0, maxOutputTokens: 9, mediaResolution: 'LOW', topP: 0.5 })
    expect(warned).toEqual([])
  })
  test.each<[string, JsonObject]>([
    ['contents', { contents: [] }],
    ['systemInstruction', { systemInstruction: {} }],
    ['system_instruction', { system_instruction: {} }],
    ['tools', { tools: [] }],
    ['toolConfig', { toolConfig: {} }],
    ['tool_config', { tool_config: {} }],
    ['cachedContent', { cachedContent: 'x' }],
    ['cached_content', { cached_content: 'x' }],
    ['serviceTier', { serviceTier: 'priority' }],
    ['service_tier', { service_tier: 'priority' }],
    ['model', { model: 'expensive' }],
    ['generationConfig.maxOutputTokens', { generationConfig: { maxOutputTokens: 1e6 } }],
    ['generationConfig.max_output_tokens', { generationConfig: { max_output_tokens: 1e6 } }],
    ['generationConfig.max_output_tokens', { generation_config: { max_output_tokens: 1e6 } }],
    ['generationConfig.candidateCount', { generationConfig: { candidateCount: 8 } }],
    ['generationConfig', { generationConfig: 'x' }],
  ])('do not set %s', (field, extensions) => {
    const without = encode({ max_output_tokens: 9 })
    const { body, warned } = encode({ max_output_tokens: 9, extensions })
    expect(body).toEqual(without.body)
    expect(warned).toEqual([`extensions.${field}`])
  })
})

describe('token counting', () => {
  const { counting } = geminiProvider
  test('sends the same contents, instruction and tools as the request', () => {
    const counted = counting?.encodeRequest(ask({ instructions: 'I', tools: [weather], temperature: 1 }), offer, {})
    const { body } = geminiProvider.encodeRequest(ask({ instructions: 'I', tools: [weather], temperature: 1 }), offer, {})
    const { contents, systemInstruction, tools } = body
    expect(counted?.body).toEqual({ generateContentRequest: { model: 'models/their-model', contents, systemInstruction, tools } })
  })
  test('returns the count, or undefined if the response has none', () => {
    expect(counting?.decode({ totalTokens: 31, totalBillableCharacters: 96 })).toBe(31)
    for (const totalTokens of [undefined, null, '31', -1, 1.5]) expect(counting?.decode({ totalTokens } as JsonObject)).toBeUndefined()
  })
})

test('every valid request is encoded into alternating turns that are not empty', () => {
  const text = fc.string()
  const item = fc.oneof(
    fc.record({ role: fc.constantFrom('user', 'assistant', 'system', 'developer'), content: text }),
    fc.record({
      type: fc.constant('function_call'),
      call_id: fc.constantFrom('1', '2'),
      name: fc.string({ minLength: 1 }),
      arguments: fc.oneof(text, fc.json()),
    }),
    fc.record({ type: fc.constant('function_call_output'), call_id: fc.constantFrom('1', '2'), output: fc.oneof(text, fc.json()) }),
    fc.record({
      type: fc.constant('reasoning'),
      summary: fc.constant([]),
      encrypted_content: fc.oneof(
        text,
        fc
          .record({ on: fc.constantFrom('call', 'text', 'end', 'thought'), signature: text, length: fc.integer() })
          .map(state => JSON.stringify(state)),
      ),
    }),
  )
  fc.assert(
    fc.property(fc.array(item, { maxLength: 12 }), input => {
      const request = responsesClient.decodeRequest({ model: 'm', input: input as unknown as Json })
      const { body } = geminiProvider.encodeRequest(request, offer, {})
      const contents = body.contents as unknown as readonly Content[]
      for (const [at, { role, parts }] of contents.entries()) {
        expect(parts.length).toBeGreaterThan(0)
        expect(role).not.toBe(contents[at - 1]?.role)
      }
    }),
  )
})
