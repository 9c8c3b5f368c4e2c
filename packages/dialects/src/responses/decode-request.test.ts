import fc from 'fast-check'
import { describe, expect, inject, test } from 'vitest'
import { plain } from '../../test/laws.ts'
import { isGatewayError } from '../errors/gateway-error.ts'
import { originalOf } from '../protocol/original.ts'
import type { Json, JsonObject } from '../protocol/wire.ts'
import { responsesClient } from './client.ts'

const body = (fields: JsonObject = {}): JsonObject => ({ model: 'm', input: 'Hi', ...fields })
const read = (fields: JsonObject = {}) => responsesClient.decodeRequest(body(fields))
const prompt = (fields: JsonObject = {}) => plain(read(fields).prompt)
const item = (wire: Json) => plain(read({ input: [wire] }).prompt.input[0])

/** `code param` of the error, or `taken`. */
function verdict(wire: JsonObject): string {
  try {
    responsesClient.decodeRequest(wire)
    return 'taken'
  } catch (error) {
    if (!isGatewayError(error)) throw error
    return `${error.code} ${error.facts.param}`
  }
}
const refusal = (fields: JsonObject): string => verdict(body(fields))

describe('a missing field is reported', () => {
  test.each<[string, JsonObject]>([
    ['missing_required_parameter model', { input: 'Hi' }],
    ['missing_required_parameter model', { model: null, input: 'Hi' }],
    ['missing_required_parameter input', { model: 'm' }],
    ['missing_required_parameter input', { model: 'm', input: null }],
    ['missing_required_parameter input[0].role', { model: 'm', input: [{ content: 'x' }] }],
    ['missing_required_parameter input[0].role', { model: 'm', input: [{ type: 'message', content: 'x' }] }],
    ['missing_required_parameter input[0].content', { model: 'm', input: [{ role: 'user' }] }],
    [
      'missing_required_parameter input[0].content[1].text',
      { model: 'm', input: [{ role: 'user', content: [{ type: 'input_text', text: '' }, { type: 'input_text' }] }] },
    ],
    ['missing_required_parameter input[0].content[0].type', { model: 'm', input: [{ role: 'user', content: [{ text: 'x' }] }] }],
    [
      'missing_required_parameter input[0].content[0].image_url',
      { model: 'm', input: [{ role: 'user', content: [{ type: 'input_image' }] }] },
    ],
    ['missing_required_parameter input[0].call_id', { model: 'm', input: [{ type: 'function_call', name: 'f', arguments: '' }] }],
    ['missing_required_parameter input[0].name', { model: 'm', input: [{ type: 'function_call', call_id: 'c', arguments: '' }] }],
    ['missing_required_parameter input[0].arguments', { model: 'm', input: [{ type: 'function_call', call_id: 'c', name: 'f' }] }],
    ['missing_required_parameter input[0].output', { model: 'm', input: [{ type: 'function_call_output', call_id: 'c' }] }],
    ['missing_required_parameter tools[0].type', { model: 'm', input: '', tools: [{}] }],
    ['missing_required_parameter tools[0].name', { model: 'm', input: '', tools: [{ type: 'function' }] }],
    ['missing_required_parameter tools[0].name', { model: 'm', input: '', tools: [{ type: 'function', function: { name: 'f' } }] }],
    ['missing_required_parameter tool_choice.name', { model: 'm', input: '', tool_choice: { type: 'function' } }],
    ['missing_required_parameter text.format.schema', { model: 'm', input: '', text: { format: { type: 'json_schema', name: 's' } } }],
  ])('%s', (expected, wire) => expect(verdict(wire)).toBe(expected))
})

describe('a field of the wrong kind is reported', () => {
  const wrong: Readonly<Record<string, readonly [JsonObject, string?][]>> = {
    model: [[{ model: 1 }], [{ model: '' }]],
    input: [[{ input: 1 }], [{ input: {} }], [{ input: true }]],
    'input[1]': [[{ input: [{ role: 'user', content: 'x' }, 'y'] }]],
    'input[0].type': [[{ input: [{ type: 1 }] }]],
    'input[0].role': [[{ input: [{ role: 'tool', content: 'x' }] }]],
    'input[0].content': [[{ input: [{ role: 'user', content: 1 }] }]],
    'input[0].content[0]': [[{ input: [{ role: 'user', content: ['x'] }] }]],
    'input[0].content[0].text': [[{ input: [{ role: 'user', content: [{ type: 'input_text', text: {} }] }] }]],
    'input[0].arguments': [[{ input: [{ type: 'function_call', call_id: 'c', name: 'f', arguments: {} }] }]],
    'input[0].output': [[{ input: [{ type: 'function_call_output', call_id: 'c', output: 1 }] }]],
    'input[0].summary': [[{ input: [{ type: 'reasoning', summary: 'x' }] }]],
    instructions: [[{ instructions: [] }]],
    tools: [[{ tools: {} }]],
    'tools[0].parameters': [[{ tools: [{ type: 'function', name: 'f', parameters: [] }] }]],
    'tools[0].strict': [[{ tools: [{ type: 'function', name: 'f', strict: 'yes' }] }]],
    tool_choice: [[{ tool_choice: 'any' }], [{ tool_choice: 1 }]],
    parallel_tool_calls: [[{ parallel_tool_calls: 'true' }]],
    max_output_tokens: [
      [{ max_output_tokens: 0 }],
      [{ max_output_tokens: 1.5 }],
      [{ max_output_tokens: '9' }],
      [{ max_output_tokens: 1e300 }],
    ],
    max_tool_calls: [[{ max_tool_calls: 0 }]],
    temperature: [[{ temperature: -0.01 }], [{ temperature: 2.01 }], [{ temperature: '1' }], [{ temperature: Infinity }]],
    top_p: [[{ top_p: -0.1 }], [{ top_p: 1.0001 }]],
    top_k: [[{ top_k: 1.5 }], [{ top_k: 2 ** 53 }]],
    top_logprobs: [[{ top_logprobs: -1 }], [{ top_logprobs: 21 }], [{ top_logprobs: 0.5 }]],
    frequency_penalty: [[{ frequency_penalty: 'high' }]],
    stream: [[{ stream: 'true' }]],
    text: [[{ text: 'json' }]],
    'text.format.type': [[{ text: { format: { type: 'yaml' } } }]],
    'reasoning.effort': [[{ reasoning: { effort: 'extreme' } }]],
    'reasoning.summary': [[{ reasoning: { summary: 'long' } }]],
    metadata: [[{ metadata: [] }]],
    'metadata.a': [[{ metadata: { a: 1 } }], [{ metadata: { a: null } }]],
    include: [[{ include: 'x' }]],
    'include[0]': [[{ include: [1] }]],
    store: [[{ store: true }], [{ store: 'no' }]],
    gateway: [[{ gateway: [] }]],
    'gateway.routing.tier': [[{ gateway: { routing: { tier: 'fast' } } }]],
    'gateway.routing.timeout_ms': [[{ gateway: { routing: { timeout_ms: 0 } } }], [{ gateway: { routing: { timeout_ms: 1.5 } } }]],
    'gateway.routing.max_price.input': [[{ gateway: { routing: { max_price: { input: -1 } } } }]],
    'gateway.metadata': [[{ gateway: { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`k${at}`, 'v'])) } }]],
    extensions: [[{ extensions: 'x' }]],
  }
  test.each(Object.entries(wrong).flatMap(([param, cases]) => cases.map(([fields]) => [param, fields] as const)))('%s', (param, fields) => {
    expect(refusal(fields)).toBe(`invalid_parameter_value ${param}`)
  })
})

test.each<[string, JsonObject]>([
  ['temperature 0 and 2', { temperature: 0 }],
  ['temperature 0 and 2', { temperature: 2 }],
  ['top_p', { top_p: 0 }],
  ['top_p', { top_p: 1 }],
  ['top_logprobs', { top_logprobs: 0 }],
  ['top_logprobs', { top_logprobs: 20 }],
  ['max_tool_calls', { max_tool_calls: 1 }],
  ['16 gateway metadata', { gateway: { metadata: Object.fromEntries(Array.from({ length: 16 }, (_, at) => [`k${at}`, 'v'])) } }],
  ['many metadata', { metadata: Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`k${at}`, 'v'])) }],
  [
    'what makes no sense here, switched off',
    { background: false, prompt: false, conversation: null, previous_response_id: null, store: false },
  ],
  ['hedge and byok_first', { gateway: { routing: { hedge: true, byok_first: false } } }],
])('limits are inclusive: %s', (_, fields) => expect(refusal(fields)).toBe('taken'))

test('null counts as absent in every field for which SDKs send it', () => {
  const fields = [
    'instructions',
    'tools',
    'tool_choice',
    'parallel_tool_calls',
    'max_output_tokens',
    'temperature',
    'top_p',
    'top_k',
    'top_logprobs',
    'stream',
  ]
  const more = [
    'text',
    'reasoning',
    'truncation',
    'metadata',
    'include',
    'user',
    'store',
    'gateway',
    'extensions',
    'service_tier',
    'unheard_of',
    'stream_options',
  ]
  const nulls = Object.fromEntries([...fields, ...more].map(field => [field, null]))
  expect(prompt(nulls)).toEqual(prompt())
  expect(refusal({ gateway: { routing: null, metadata: null, models: null } })).toBe('taken')
  expect(refusal({ gateway: { routing: { tier: null, order: null } } })).toBe('taken')
  expect(
    prompt({ reasoning: { effort: null, summary: null, generate_summary: null }, text: { format: null, verbosity: null } }),
  ).toMatchObject({ reasoning: {}, text: {} })
  expect(item({ role: 'user', type: null, id: null, status: null, phase: null, content: 'x' })).toEqual({
    type: 'message',
    role: 'user',
    content: [{ type: 'text', text: 'x' }],
  })
})

describe('unknown fields are refused in the gateway’s options and kept elsewhere', () => {
  test.each<[string, JsonObject]>([
    ['gateway.colour', { gateway: { colour: 'red' } }],
    ['gateway.routing.colour', { gateway: { routing: { colour: null } } }],
    ['gateway.routing.max_price.cached', { gateway: { routing: { max_price: { cached: 1 } } } }],
  ])('unknown_field %s', (param, fields) => expect(refusal(fields)).toBe(`unknown_field ${param}`))

  test.each(['previous_response_id', 'conversation', 'prompt'])('%s is refused, since it needs stored state', field => {
    expect(refusal({ [field]: 'x' })).toBe(`unknown_parameter ${field}`)
    expect(refusal({ background: true })).toBe('unknown_parameter background')
  })

  test('other unknown fields of the body are kept as native fields', () => {
    expect(prompt({ client_metadata: { a: 1 }, prompt_cache_retention: '24h' })).toMatchObject({
      native: { dialect: 'responses', body: { client_metadata: { a: 1 }, prompt_cache_retention: '24h' } },
    })
    expect(originalOf(read({ client_metadata: 1 }))?.body).toEqual(body({ client_metadata: 1 }))
  })

  test('fields may be named __proto__ or constructor', () => {
    const wire = JSON.parse(
      '{"model":"m","input":"x","__proto__":{"polluted":1},"constructor":1,"toString":2,"metadata":{"__proto__":"v"}}',
    ) as JsonObject
    const { prompt } = responsesClient.decodeRequest(wire)
    expect(Object.keys(prompt.native?.body ?? {})).toEqual(['__proto__', 'constructor', 'toString'])
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
    expect(verdict(JSON.parse('{"model":"m","input":"x","gateway":{"__proto__":{}}}') as JsonObject)).toBe(
      'unknown_field gateway.__proto__',
    )
  })
})

describe('the model of a Responses request', () => {
  test('may be a pool in gateway.models', () => {
    expect(responsesClient.decodeRequest({ input: 'x', gateway: { models: ['a', 'b'] } }).routing).toEqual({
      models: ['a', 'b'],
      allow_fallbacks: true,
    })
  })
  test('is refused if `model` and `gateway.models` are both set, both missing, or the pool is empty', () => {
    expect(refusal({ gateway: { models: ['a'] } })).toBe('invalid_parameter_value model')
    expect(verdict({ input: 'x', gateway: {} })).toBe('missing_required_parameter model')
    expect(verdict({ input: 'x', gateway: { models: [] } })).toBe('invalid_parameter_value gateway.models')
    expect(verdict({ input: 'x', gateway: { models: [''] } })).toBe('invalid_parameter_value gateway.models[0]')
  })
  test('comes with unchanged routing options', () => {
    const routing = {
      tier: 'priority',
      timeout_ms: 5,
      deadline_ms: 6,
      order: ['a'],
      only: ['b'],
      ignore: [],
      max_price: { input: 1 },
      strict: true,
      strategy: 's',
      hedge: true,
      byok_first: false,
    }
    expect(read({ gateway: { routing: { ...routing, allow_fallbacks: false } } }).routing).toEqual({
      models: ['m'],
      allow_fallbacks: false,
      ...routing,
    })
  })
})

describe('the items of a Responses request', () => {
  test('have text in all its forms', () => {
    expect(prompt({ input: 'x' })).toEqual({ input: [{ type: 'message', role: 'user', content: [{ type: 'text', text: 'x' }] }] })
    for (const type of ['input_text', 'output_text', 'text']) {
      expect(item({ role: 'assistant', content: [{ type, text: 'x', annotations: [], logprobs: [] }] })).toMatchObject({
        content: [{ type: 'text', text: 'x' }],
      })
    }
  })
  test('have images by URL, refusals, and native parts for files by id and unknown parts', () => {
    const parts = [
      { type: 'input_image', image_url: 'data:x', detail: 'low' },
      { type: 'input_image', image_url: null, file_id: 'f' },
      { type: 'refusal', refusal: 'no' },
      { type: 'input_file', file_id: 'f' },
    ]
    expect(item({ role: 'user', content: parts })).toMatchObject({
      content: [
        { type: 'image', url: 'data:x', detail: 'low' },
        { type: 'native', body: parts[1] },
        { type: 'refusal', refusal: 'no' },
        { type: 'native', body: parts[3] },
      ],
    })
  })
  test('have tool results as text or parts', () => {
    expect(item({ type: 'function_call_output', call_id: 'c', output: [{ type: 'input_text', text: 'x' }] })).toMatchObject({
      output: [{ type: 'text', text: 'x' }],
    })
  })
  test('keep the summary, text and state of reasoning', () => {
    const wire = {
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'summary_text', text: 's' }],
      content: [{ type: 'reasoning_text', text: 't' }],
      encrypted_content: 'e',
    }
    expect(item(wire)).toEqual({ type: 'reasoning', id: 'rs_1', summary: ['s'], content: ['t'], encrypted_content: 'e' })
    expect(item({ type: 'reasoning', summary: [], content: null, encrypted_content: null })).toEqual({ type: 'reasoning', summary: [] })
  })
  test('are references if they have only an id, with or without a type, and keep no original', () => {
    const references = [
      ...[{ type: 'item_reference', id: 'x' }, { id: 'x' }, { type: null, id: 'x' }, { type: 'message', id: 'x', content: [] }],
      ...[{ type: 'function_call', id: 'x', status: 'completed' }],
    ]
    for (const wire of references) {
      expect(item(wire)).toEqual({ type: 'native', dialect: 'responses', body: { type: 'item_reference', id: 'x' } })
      expect(originalOf(read({ input: [wire] }).prompt.input[0] ?? {})).toBeUndefined()
    }
    const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], content: null }
    expect(item(reasoning)).toEqual({ type: 'native', dialect: 'responses', body: { type: 'item_reference', id: 'rs_1' } })
    for (const wire of [
      { ...reasoning, id: 'theirs' },
      { ...reasoning, encrypted_content: 'e' },
    ])
      expect(item(wire)?.type).toBe('reasoning')
    expect(refusal({ input: [{ type: 'item_reference' }] })).toBe('missing_required_parameter input[0].id')
  })
  test('are native, with their whole body, if only the Responses API knows them', () => {
    for (const type of ['compaction', 'tomorrow']) {
      expect(item({ type, anything: [1] })).toEqual({ type: 'native', dialect: 'responses', body: { type, anything: [1] } })
    }
    for (const body of [{ type: 'local_shell_call' }, { type: 'mcp_call', anything: [1] }, { type: 'tomorrow', id: 'x' }])
      expect(item(body)).toEqual({ type: 'native', dialect: 'responses', body, isRecord: true })
    expect(prompt({ tools: [{ type: 'web_search', x: 1 }], tool_choice: { type: 'web_search' } })).toMatchObject({
      tools: [{ type: 'native', body: { type: 'web_search', x: 1 } }],
      tool_choice: { type: 'native', body: { type: 'web_search' } },
    })
  })
})

test('effort `off` is none, and a summary may be set by its older name', () => {
  expect(prompt({ reasoning: { effort: 'off', generate_summary: 'auto' } })).toMatchObject({
    reasoning: { effort: 'none', summary: 'auto' },
  })
})

const full = body({
  input: [
    {
      role: 'user',
      content: [
        { type: 'input_text', text: 'x' },
        { type: 'input_image', image_url: 'https://x' },
      ],
    },
    { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c', output: [{ type: 'input_text', text: 'y' }] },
    { type: 'reasoning', id: 'r', summary: [{ type: 'summary_text', text: 's' }], encrypted_content: 'e' },
    { type: 'custom_tool_call', call_id: 'd', name: 'g', input: 'raw' },
    { type: 'custom_tool_call_output', call_id: 'd', output: 'z' },
  ],
  tools: [{ type: 'function', name: 'f', parameters: {}, strict: null }, { type: 'web_search' }],
  tool_choice: { type: 'function', name: 'f' },
  text: { format: { type: 'json_schema', name: 's', schema: {} }, verbosity: 'low' },
  reasoning: { effort: 'low', summary: 'auto' },
  gateway: { routing: { tier: 'priority', order: ['a'], max_price: { input: 1 } }, metadata: { a: 'b' } },
  temperature: 1,
  include: ['x'],
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

test('any JSON is accepted, or refused with a 400 that names a field', () => {
  const any = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>
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
        responsesClient.decodeRequest(wire as JsonObject)
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

test('an error has the shape of the API', () => {
  const facts = {
    status: 404,
    message: 'm',
    type: 't',
    code: 'c',
    param: null,
    suggestion: 's',
    doc_url: 'd',
    provider: 'p',
    request_id: 'r',
  }
  expect(responsesClient.encodeError(facts)).toEqual({
    error: { message: 'm', type: 't', param: null, code: 'c', suggestion: 's', doc_url: 'd', provider: 'p' },
  })
})

test('`prompt` as a text is told to be `input`', () => {
  expect(() => responsesClient.decodeRequest({ model: 'm', prompt: 'Hi' })).toThrow('write `"input"` instead')
  expect(() => responsesClient.decodeRequest({ model: 'm', input: 'Hi', prompt: { id: 'pmpt_1' } })).toThrow(
    'this gateway does not store responses',
  )
})
