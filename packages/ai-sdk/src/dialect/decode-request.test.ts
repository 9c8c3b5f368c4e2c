import { isGatewayError } from '@signalbox/dialects/errors'
import type { InferenceRequest, JsonObject } from '@signalbox/dialects/protocol'
import { describe, expect, test } from 'vitest'
import { decodeCallOptions, decodeRequest } from './decode-request.ts'

const target = { modelId: 'small', stream: false, header: () => undefined }
/** Strips the notes about the origin of each value. */
const decode = (options: object): InferenceRequest => JSON.parse(JSON.stringify(decodeCallOptions(options as JsonObject, target)))
const user = (...content: readonly object[]): object => ({ prompt: [{ role: 'user', content }] })
const partsOf = (...content: readonly object[]): unknown => {
  const [item] = decode(user(...content)).prompt.input
  return item?.type === 'message' ? item.content : undefined
}
const lostOf = (options: object): readonly string[] => Object.keys(decode(options).prompt.native?.body ?? {})

function refused(options: object): string | undefined {
  try {
    decode(options)
  } catch (error) {
    if (isGatewayError(error)) return `${error.code} ${error.facts.param}`
    throw error
  }
  return undefined
}

describe('files', () => {
  test.each([
    [
      { mediaType: 'image/png', data: { type: 'data', data: 'AAAA' } },
      { type: 'image', url: 'data:image/png;base64,AAAA' },
    ],
    [
      { mediaType: 'image/png', data: { type: 'data', data: new Uint8Array(3) } },
      { type: 'image', url: 'data:image/png;base64,AAAA' },
    ],
    [
      { mediaType: 'image/*', data: { type: 'url', url: new URL('https://a.example/b') } },
      { type: 'image', url: 'https://a.example/b' },
    ],
    [
      { mediaType: 'image', data: { type: 'url', url: 'https://a.example/b' } },
      { type: 'image', url: 'https://a.example/b' },
    ],
    [
      { mediaType: 'application/pdf', filename: 'a.pdf', data: { type: 'data', data: 'AAAA' } },
      { type: 'file', url: 'data:application/pdf;base64,AAAA', filename: 'a.pdf' },
    ],
    [
      { mediaType: 'text/plain', data: { type: 'text', text: 'Grüße' } },
      { type: 'file', url: 'data:text/plain;base64,R3LDvMOfZQ==' },
    ],
    [
      { mediaType: 'audio/mpeg', data: { type: 'data', data: 'AAAA' } },
      { type: 'audio', data: 'AAAA', format: 'mp3' },
    ],
    [
      { mediaType: 'audio/x-wav', data: { type: 'data', data: 'AAAA' } },
      { type: 'audio', data: 'AAAA', format: 'wav' },
    ],
  ])('%j', (file, part) => {
    expect(partsOf({ type: 'file', ...file })).toEqual([part])
  })

  test('an unsupported file is refused with its path', () => {
    const file = (mediaType: string, data: object) => user({ type: 'text', text: 'x' }, { type: 'file', mediaType, data })
    expect(refused(file('image/png', { type: 'reference', reference: { openai: 'file-1' } }))).toBe(
      'capability_mismatch prompt[0].content[1].data',
    )
    expect(refused(file('audio/wav', { type: 'url', url: 'https://a.example' }))).toBe('capability_mismatch prompt[0].content[1]')
    expect(refused(user({ type: 'video', url: 'x' }))).toBe('invalid_parameter_value prompt[0].content[0].type')
  })
})

test('reasoning parts of one item become one item, with its state; others stay apart', () => {
  const reasoning = (text: string, gateway?: object) => ({ type: 'reasoning', text, ...(gateway && { providerOptions: { gateway } }) })
  const content = [
    reasoning('One.', { itemId: 'a' }),
    reasoning('Two.', { itemId: 'a', raw: true, state: 'gw1.s' }),
    reasoning('', { itemId: 'b', state: 'gw1.t' }),
    reasoning('Foreign.'),
    reasoning('Foreign, too.'),
    { type: 'text', text: 'Yes.' },
  ]
  const { input } = decode({ prompt: [{ role: 'assistant', content }] }).prompt
  expect(input).toEqual([
    { type: 'reasoning', summary: ['One.'], content: ['Two.'], encrypted_content: 'gw1.s' },
    { type: 'reasoning', summary: [], encrypted_content: 'gw1.t' },
    { type: 'reasoning', summary: ['Foreign.'] },
    { type: 'reasoning', summary: ['Foreign, too.'] },
    { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'Yes.' }] },
  ])
})

test('cache control of any provider is a cache point, of a message on its last part', () => {
  const mark = { providerOptions: { anthropic: { cacheControl: { type: 'ephemeral', ttl: '1h' } } } }
  const point = { providerOptions: { bedrock: { cachePoint: { type: 'default' } } } }
  const { prompt } = decode({
    prompt: [
      { role: 'system', content: 'Be brief.', ...mark },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a', ...point },
          { type: 'text', text: 'b' },
        ],
        ...mark,
      },
    ],
    tools: [{ type: 'function', name: 'f', inputSchema: {}, ...point }],
  })
  expect(prompt.input).toMatchObject([
    { content: [{ text: 'Be brief.', cache: { ttl: '1h' } }] },
    {
      content: [
        { text: 'a', cache: {} },
        { text: 'b', cache: { ttl: '1h' } },
      ],
    },
  ])
  expect(prompt.tools).toMatchObject([{ name: 'f', cache: {} }])
  expect(prompt.native).toBeUndefined()
})

test('tools of a provider cause a warning, and so does choosing one', () => {
  const options = { ...user(), tools: [{ type: 'provider', id: 'openai.web_search', name: 'web_search', args: {} }] }
  expect(decode(options).prompt.tools).toBeUndefined()
  expect(lostOf(options)).toEqual(['tools[0] (openai.web_search)'])
  const both = { ...options, tools: [...options.tools, { type: 'function', name: 'f', inputSchema: {} }] }
  expect(lostOf({ ...both, toolChoice: { type: 'tool', toolName: 'web_search' } })).toEqual(['tools[0] (openai.web_search)', 'toolChoice'])
  expect(decode({ ...both, toolChoice: { type: 'tool', toolName: 'f' } }).prompt.tool_choice).toEqual({ type: 'function', name: 'f' })
})

test('options of other providers mean the same whichever provider is called', () => {
  const providerOptions = {
    openai: { reasoningSummary: 'auto', parallelToolCalls: false, textVerbosity: 'low', user: 'u', strictJsonSchema: true, store: false },
    anthropic: { thinking: { type: 'enabled', budgetTokens: 3_000 } },
  }
  const responseFormat = { type: 'json', schema: { type: 'object' } }
  const { prompt } = decode({ ...user(), maxOutputTokens: 10_000, responseFormat, providerOptions })
  expect(prompt).toMatchObject({
    reasoning: { effort: 'medium', budget_tokens: 3_000, summary: 'auto' },
    parallel_tool_calls: false,
    user: 'u',
    text: { verbosity: 'low', format: { type: 'json_schema', name: 'response', strict: true } },
  })
  expect(prompt.native).toBeUndefined()
})

test.each([
  ['byok', { openai: [{ apiKey: 'sk-secret' }] }],
  ['hipaaCompliant', true],
])('an option whose omission would break a promise is refused: %s', (name, value) => {
  const error = refused({ ...user(), providerOptions: { gateway: { [name]: value } } })
  expect(error).toContain(`providerOptions.gateway.${name}`)
  expect(error).not.toContain('sk-secret')
  expect(decode({ ...user(), providerOptions: { gateway: { hipaaCompliant: false } } }).prompt.native).toBeUndefined()
})

test('options of the gateway are routing options', () => {
  const gateway = {
    order: ['a'],
    sort: 'ttft',
    models: ['b'],
    disallowPromptTraining: true,
    routing: { strict: true },
    tags: ['x'],
    caching: 'auto',
  }
  const request = decode({ ...user(), providerOptions: { gateway } })
  expect(request.routing).toEqual({
    models: ['small', 'b'],
    allow_fallbacks: true,
    order: ['a'],
    strategy: 'latency',
    data_policy: 'no_training',
    strict: true,
  })
  expect(request.metadata).toEqual({ tags: 'x' })
  expect(request.prompt.native?.body).toEqual({ 'providerOptions.gateway.caching': true })
  expect(refused({ ...user(), providerOptions: { gateway: { routing: { stratgy: 'cost' } } } })).toContain('unknown_field')
})

test('lost options cause one warning for all places alike, and their number is bounded', () => {
  const part = { type: 'text', text: 'x', providerOptions: { acme: { id: 1 } } }
  expect(lostOf(user(part, part, part))).toEqual(['prompt[*].content[*].providerOptions.acme.id'])
  const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`o${at}`, 1]))
  expect(lostOf({ ...user(), providerOptions: { acme: many } }).length).toBe(51)
})

test('over HTTP the model and the stream are read from headers, and the version has to match', () => {
  const headers: Record<string, string> = { 'ai-language-model-id': 'small', 'ai-language-model-streaming': 'true', 'anthropic-beta': 'b' }
  const request = decodeRequest(user({ type: 'text', text: 'Hi' }) as JsonObject, name => headers[name])
  expect(request).toMatchObject({
    routing: { models: ['small'] },
    delivery: 'stream',
    headers: { dialect: 'messages', values: { 'anthropic-beta': 'b' } },
  })
  expect(() => decodeRequest({}, () => undefined)).toThrow('`ai-language-model-id` is required')
})

test('a custom part of another provider causes a warning, and a reference to an item is not an item', () => {
  const custom = (options?: object) => ({ type: 'custom', kind: 'x.y', ...(options && { providerOptions: options }) })
  const reference = { gateway: { item: { dialect: 'responses', body: { type: 'item_reference', id: 'rs_1' } } } }
  const options = { prompt: [{ role: 'assistant', content: [{ type: 'text', text: 'x' }, custom(), custom(reference)] }] }
  expect(decode(options).prompt.input.map(({ type }) => type)).toEqual(['message'])
  expect(lostOf(options)).toEqual(['prompt[0].content[1] (custom)', 'prompt[0].content[2] (custom)'])
})
