import { chatClient, chatProvider, responsesClient, responsesProvider } from '@signalbox/dialects'
import type { EncodedRequest, Provider, Quirks } from '@signalbox/dialects/protocol'
import { isObject, type Json, type JsonObject, quirksFor } from '@signalbox/dialects/protocol'
import { describe, expect, test } from 'vitest'
import { addressing, authorizing } from '../test/calling.ts'
import * as providers from './index.ts'

const { cloudflare, openai, ...rest } = providers
/** Every vendor with its id and URL. */
const rows: readonly (readonly [id: string, make: (options: { readonly apiKey: string }) => Provider, url: string])[] = [
  ['openai', openai, 'https://api.openai.com/v1'],
  ...Object.values<unknown>(rest)
    .filter(providers.isVendor)
    .map(make => [make.row.id, make, make.row.baseURL] as const),
]
const paths: Readonly<Record<string, string>> = { chat: '/chat/completions', responses: '/responses', messages: '/messages' }
/** Messages endpoints under a different root than the other dialects. */
const messagesAt: Readonly<Record<string, string>> = {
  deepseek: 'https://api.deepseek.com/anthropic/v1/messages',
  moonshotai: 'https://api.moonshot.ai/anthropic/v1/messages',
  'moonshotai-cn': 'https://api.moonshot.cn/anthropic/v1/messages',
  zai: 'https://api.z.ai/api/anthropic/v1/messages',
  'zai-cn': 'https://open.bigmodel.cn/api/anthropic/v1/messages',
  'zai-coding': 'https://api.z.ai/api/anthropic/v1/messages',
  minimax: 'https://api.minimax.io/anthropic/v1/messages',
  'minimax-cn': 'https://api.minimaxi.com/anthropic/v1/messages',
  novita: 'https://api.novita.ai/anthropic/v1/messages',
  deepinfra: 'https://api.deepinfra.com/anthropic/v1/messages',
}

/** Every field that Responses has and another dialect can express. */
const everything: JsonObject = {
  instructions: 'Be brief.',
  input: [
    { role: 'user', content: 'Hi' },
    { type: 'reasoning', summary: [{ type: 'summary_text', text: 'They greet.' }] },
    { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{}' },
    { type: 'function_call_output', call_id: 'call_1', output: 'done' },
  ],
  tools: [{ type: 'function', name: 'f', parameters: { type: 'object' }, strict: true }],
  tool_choice: { type: 'function', name: 'f' },
  parallel_tool_calls: false,
  max_output_tokens: 100,
  temperature: 0.5,
  top_p: 0.5,
  top_k: 5,
  top_logprobs: 2,
  frequency_penalty: 0.5,
  presence_penalty: 0.5,
  text: { format: { type: 'json_schema', name: 'n', schema: { type: 'object' } }, verbosity: 'low' },
  reasoning: { effort: 'high' },
  user: 'u',
  safety_identifier: 's',
  prompt_cache_key: 'k',
}

interface Encoded extends EncodedRequest {
  readonly warned: readonly (string | undefined)[]
}

function ask(provider: Provider, model: string, { dialect = 'chat', ...fields }: JsonObject & { readonly dialect?: string } = {}): Encoded {
  const decoded = responsesClient.decodeRequest({ model: 'm', input: 'Hi', ...fields })
  // Fields that Responses lacks and other dialects have.
  const request = { ...decoded, prompt: { ...decoded.prompt, ...(fields.stop !== undefined && { stop: ['x'], seed: 7 }) } }
  const offer = { provider: provider.id, model, api: dialect }
  const half = provider.dialects.find(({ name }) => name === dialect)
  if (!half) throw new Error(`${provider.id} does not speak ${dialect}`)
  const encoded = half.encodeRequest(request, offer, quirksFor(provider, offer))
  return { ...encoded, warned: encoded.warnings.map(({ param }) => param) }
}

/** Names in the client's dialect. */
const clientNames: Readonly<Record<string, string>> = { logprobs: 'top_logprobs', verbosity: 'text.verbosity' }

describe.each(rows)('%s', (id, make, url) => {
  const provider = make({ apiKey: 'the-key' })
  const dialect = provider.dialects.some(({ name }) => name === 'chat') ? 'chat' : 'responses'

  test('is called at its URL, in each of its dialects', () => {
    expect(provider.id).toBe(id)
    for (const { name } of provider.dialects) {
      const usual = url + paths[name]
      expect(provider.endpoint(addressing(provider, name))).toBe(name === 'messages' ? (messagesAt[id] ?? usual) : usual)
    }
  })

  test('receives the key as a bearer token', async () => {
    const headers = {}
    await provider.authorize(headers, addressing(provider, 'chat').credential, authorizing('chat'))
    expect(headers).toEqual({ authorization: 'Bearer the-key' })
  })

  test('is never sent unsupported fields, and each gives a warning', () => {
    const { body, warned } = ask(provider, 'some-model', { ...everything, stop: true, dialect })
    const refused = provider.quirks?.refuses ?? []
    expect(refused.filter(field => field in body)).toEqual([])
    const dropped = refused.filter(
      field => field in { ...everything, ...(dialect === 'chat' && { stop: 1, seed: 1, logprobs: 1, verbosity: 1 }) },
    )
    expect(warned).toEqual(expect.arrayContaining(dropped.map(field => clientNames[field] ?? field)))
  })

  test('is sent all supported fields', () => {
    const { body } = ask(provider, 'some-model', { ...everything, stop: true, dialect })
    const kept = ['temperature', 'top_p', 'frequency_penalty', 'user', ...(dialect === 'chat' ? ['stop'] : [])].filter(
      field => !provider.quirks?.refuses?.includes(field),
    )
    expect(Object.keys(body)).toEqual(expect.arrayContaining(kept))
    const cap = dialect === 'chat' ? (provider.quirks?.maxTokensField ?? 'max_completion_tokens') : 'max_output_tokens'
    expect(body[cap]).toBe(100)
  })
})

test('each vendor has a unique id, an HTTPS URL and environment variables for its key, and self-hosted servers a local URL and variables for it', () => {
  const vendors = Object.values<unknown>(rest).filter(providers.isVendor)
  expect(new Set(vendors.map(({ row }) => row.id)).size).toBe(vendors.length)
  expect(vendors.length).toBeGreaterThan(35)
  for (const { row } of vendors) {
    expect([row.id, row.baseURL]).toEqual([
      row.id,
      expect.stringMatching(row.keyless ? /^http:\/\/127\.0\.0\.1:\d+\/v1$/ : /^https:\/\/[\w.-]+(\/|$)/),
    ])
    expect([row.id, row.apiKeyVariables]).toEqual([row.id, expect.arrayContaining([expect.stringMatching(/^[A-Z_]+$/)])])
    expect([row.id, row.baseURLVariables !== undefined]).toEqual([row.id, row.keyless === true])
  }
})

test('a vendor is registered and off without a key, and a self-hosted server is on', async () => {
  expect(rest.groq().credential).toBeUndefined()
  expect(rest.ollama().credential).toMatchObject({ secret: '' })
  const headers = {}
  await rest.ollama().authorize(headers, addressing(rest.ollama(), 'chat').credential, authorizing('chat'))
  expect(headers).toEqual({})
})

test('additional dialects are reached at the same host', () => {
  const elsewhere = rest.moonshot({ apiKey: 'k', baseURL: 'https://proxy.example/kimi/v1/' })
  expect(elsewhere.endpoint(addressing(elsewhere, 'messages'))).toBe('https://proxy.example/kimi/anthropic/v1/messages')
})

describe('MiniMax', () => {
  const at = (temperature: number) => ask(rest.minimax(), 'MiniMax-M3', { temperature })

  test('accepts temperatures above 0 and up to 1; others are clamped with a warning', () => {
    expect([at(0).body.temperature, at(0.5).body.temperature, at(1.7).body.temperature]).toEqual([0.01, 0.5, 1])
    expect([at(0).warned, at(0.5).warned]).toEqual([['temperature'], []])
  })

  test('returns reasoning separately, and is configured by type or by level', () => {
    const off = { reasoning: { effort: 'none' } }
    expect(ask(rest.minimax(), 'MiniMax-M3', off).body).toMatchObject({ thinking: { type: 'disabled' }, reasoning_split: true })
    expect(ask(rest.minimax(), 'MiniMax-M3', { reasoning: { effort: 'high' } }).body).toMatchObject({ thinking: { type: 'adaptive' } })
    expect(ask(rest.minimax(), 'MiniMax-M3.1-Flash', { reasoning: { effort: 'max' } }).body).toMatchObject({ reasoning_effort: 'max' })
    expect(ask(rest.minimax(), 'MiniMax-M3.1-Flash', off)).toMatchObject({
      body: { reasoning_effort: 'low' },
      warned: ['reasoning.effort'],
    })
  })

  test('receives schemas as an instruction, and cannot be forced to call a tool', () => {
    const { body, warned } = ask(rest.minimax(), 'MiniMax-M3', { ...everything })
    expect(body).toMatchObject({ tool_choice: 'auto', max_completion_tokens: 100 })
    expect(JSON.stringify(body.response_format ?? {})).not.toContain('json_schema')
    expect(warned).toEqual(expect.arrayContaining(['tool_choice', 'text.format', 'parallel_tool_calls']))
  })
})

describe('Claude Platform on AWS', () => {
  const provider = rest.claudeOnAws({ apiKey: 'k', workspace: 'wrkspc_1', region: 'us-west-2' })

  test('is called at the host of a region, with a key and a workspace id', async () => {
    const call = addressing(provider, 'messages')
    expect(provider.endpoint(call)).toBe('https://aws-external-anthropic.us-west-2.api.aws/v1/messages')
    expect(provider.countEndpoint?.(call)).toBe('https://aws-external-anthropic.us-west-2.api.aws/v1/messages/count_tokens')
    const headers = {}
    await provider.authorize(headers, call.credential, authorizing('messages'))
    expect(headers).toEqual({ 'x-api-key': 'k', 'anthropic-workspace-id': 'wrkspc_1' })
  })

  test('reports a missing workspace', () => {
    const call = { ...addressing(provider, 'messages').credential, extra: { region: 'us-west-2' } }
    expect(() => provider.authorize({}, call, authorizing('messages'))).toThrow('extra.workspace')
    expect(provider.account?.extra).toEqual(['region', 'workspace'])
  })
})

test('a vendor may have another base URL', () => {
  const elsewhere = rest.groq({ apiKey: 'k', baseURL: 'https://proxy.example/groq/' })
  expect(elsewhere.endpoint(addressing(elsewhere, 'chat'))).toBe('https://proxy.example/groq/chat/completions')
})

describe('Cloudflare', () => {
  const url = (account: string): string => `https://api.cloudflare.com/client/v4/accounts/${account}/ai/v1/chat/completions`

  test('is called with the account of the key', () => {
    const provider = cloudflare({ apiKey: 'k', accountId: 'a/b' })
    expect(provider.endpoint(addressing(provider, 'chat'))).toBe(url('a%2Fb'))
  })

  test('is called with a BYOK credential’s own account', () => {
    const provider = cloudflare({ apiKey: 'k', accountId: 'ours' })
    const credential = { id: 'c', owner: 'workspace', secret: 's', extra: { account_id: 'theirs' } } as const
    expect(provider.endpoint({ ...addressing(provider, 'chat'), credential })).toBe(url('theirs'))
  })
})

describe('Mistral', () => {
  const { body } = ask(rest.mistral(), 'mistral-large-2512', { ...everything, tool_choice: 'required', stream: true, stop: true })

  test('has its own fields for a seed and a required tool call', () => {
    expect(body).toMatchObject({ random_seed: 7, tool_choice: 'any', max_tokens: 100 })
    expect(body).not.toHaveProperty('seed')
    expect(body).not.toHaveProperty('stream_options')
  })

  test('receives call ids of nine letters and digits that match their results', () => {
    const [call, result] = messagesOf(body).flatMap(message => idsOf(message))
    expect(call).toMatch(/^[a-zA-Z0-9]{9}$/)
    expect(result).toBe(call)
  })
})

describe('DeepSeek', () => {
  const turn = (model: string): unknown => messagesOf(ask(rest.deepseek(), model, everything).body).find(({ role }) => role === 'assistant')

  test('receives reasoning back on every turn, except R1, which accepts none', () => {
    for (const model of ['deepseek-v4-pro', 'deepseek-reasoner', 'deepseek-chat'])
      expect(turn(model)).toMatchObject({ reasoning_content: 'They greet.' })
    expect(turn('deepseek-r1-0528')).not.toHaveProperty('reasoning_content')
  })

  test('has thinking switched on or off, and sampling settings only if it is off', () => {
    const off = ask(rest.deepseek(), 'deepseek-v4-pro', { reasoning: { effort: 'none' }, temperature: 0.5 })
    expect(off.body).toMatchObject({ thinking: { type: 'disabled' }, temperature: 0.5 })
    const on = ask(rest.deepseek(), 'deepseek-v4-pro', { reasoning: { effort: 'medium' }, temperature: 0.5 })
    expect(on.body).toMatchObject({ reasoning_effort: 'low' })
    expect(on.body).not.toHaveProperty('temperature')
    expect(on.warned).toEqual(['reasoning.effort', 'temperature'])
  })

  test('receives a schema as an instruction', () => {
    const { body, warned } = ask(rest.deepseek(), 'deepseek-v4-pro', { text: everything.text as Json })
    expect(body.response_format).toEqual({ type: 'json_object' })
    expect(JSON.stringify(body.messages)).toContain('JSON schema')
    expect(warned).toContain('text.format')
  })
})

describe('Groq', () => {
  const effort = (model: string, wanted: string): unknown =>
    ask(rest.groq(), model, { reasoning: { effort: wanted } }).body.reasoning_effort

  test('supports different efforts for each model family', () => {
    expect(effort('openai/gpt-oss-120b', 'max')).toBe('high')
    expect(effort('openai/gpt-oss-120b', 'none')).toBe('low')
    expect(effort('qwen/qwen3.6-27b', 'max')).toBe('default')
    expect(effort('qwen/qwen3.6-27b', 'none')).toBe('none')
    expect(effort('llama-3.3-70b-versatile', 'high')).toBe('high')
  })

  test('receives no effort if a Chat client sends `default`', () => {
    const request = chatClient.decodeRequest({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], reasoning_effort: 'default' })
    const offer = { ...offerOf('qwen/qwen3.6-27b'), provider: 'groq' }
    const { body, warnings } = chatProvider.encodeRequest(request, offer, quirksFor(rest.groq(), offer))
    expect(body).not.toHaveProperty('reasoning_effort')
    expect(warnings).toEqual([])
  })

  test('receives its own name of the standard tier in Chat Completions, and OpenAI’s in Responses', () => {
    const ways = { chat: chatProvider, responses: responsesProvider }
    const tier = (way: keyof typeof ways) => {
      const offer = { ...offerOf('openai/gpt-oss-120b'), provider: 'groq', api: way }
      const request = chatClient.decodeRequest({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], service_tier: 'default' })
      return ways[way].encodeRequest(request, offer, quirksFor(rest.groq(), offer)).body.service_tier
    }
    expect([tier('chat'), tier('responses')]).toEqual(['on_demand', 'default'])
  })

  test('is request to return reasoning separately if a model mixes it with text', () => {
    expect(ask(rest.groq(), 'qwen/qwen3.6-27b').body).toMatchObject({ reasoning_format: 'parsed' })
    expect(ask(rest.groq(), 'openai/gpt-oss-120b').body).not.toHaveProperty('reasoning_format')
  })
})

describe('Moonshot', () => {
  test('does not accept sampling settings for Kimi', () => {
    const { body, warned } = ask(rest.moonshot(), 'kimi-k3', { temperature: 0.2, top_p: 1 })
    expect(body).not.toHaveProperty('temperature')
    expect(body).not.toHaveProperty('top_p')
    expect(warned).toEqual(['temperature'])
  })

  test('cannot switch off thinking for every model', () => {
    const off = { reasoning: { effort: 'none' } }
    expect(ask(rest.moonshot(), 'kimi-k2.6', off).body).toMatchObject({ thinking: { type: 'disabled' } })
    expect(ask(rest.moonshot(), 'kimi-k2.7-code', off)).toMatchObject({
      body: { thinking: { type: 'enabled' } },
      warned: ['reasoning.effort'],
    })
    expect(ask(rest.moonshot(), 'kimi-k3', off)).toMatchObject({ body: { reasoning_effort: 'low' }, warned: ['reasoning.effort'] })
  })

  test('is excluded for a forced call if the model does not support one', () => {
    const refuses = (model: string): Quirks['refuses'] => quirksFor(rest.moonshot(), offerOf(model)).refuses
    expect(refuses('kimi-k2.6')).toContain('tool_choice_required')
    expect(refuses('kimi-k3')).not.toContain('tool_choice_required')
  })
})

describe('Z.AI', () => {
  test.each<Json>(['required', { type: 'function', name: 'f' }])('cannot be forced to call a tool: %j', tool_choice => {
    const { body, warned } = ask(rest.zai(), 'glm-5.3', { tools: everything.tools as Json, tool_choice })
    expect(body.tool_choice).toBe('auto')
    expect(warned).toContain('tool_choice')
  })

  test('allows thinking to be switched off', () => {
    expect(ask(rest.zai(), 'glm-4.7', { reasoning: { effort: 'none' } })).toMatchObject({
      body: { thinking: { type: 'disabled' } },
      warned: [],
    })
  })
})

describe('OpenAI', () => {
  const sampling = { temperature: 0.5, top_p: 0.9, top_logprobs: 2, presence_penalty: 1 }
  const dropped = ['temperature', 'top_p', 'presence_penalty', 'top_logprobs']
  const dialects = ['chat', 'responses'] as const

  test.each(dialects)('a reasoning model does not accept sampling settings (%s)', dialect => {
    for (const model of ['o3', 'gpt-5-mini', 'gpt-5.5', 'gpt-6-sol', 'gpt-6.1-sol']) {
      const { body, warned } = ask(openai(), model, { dialect, ...sampling })
      expect(Object.keys(body).filter(field => /temperature|top_|logprobs|penalty/.test(field))).toEqual([])
      expect(warned.toSorted()).toEqual(dropped.toSorted())
    }
  })

  test.each(dialects)('a model accepts sampling settings if it does not reason (%s)', dialect => {
    const off = { reasoning: { effort: 'none' } }
    for (const [model, fields] of [
      ['gpt-6-sol', off],
      ['gpt-4.1', {}],
      ['gpt-5-chat-latest', {}],
      ['gpt-5.1', {}],
    ] as const) {
      expect(ask(openai(), model, { dialect, ...sampling, ...fields })).toMatchObject({
        body: { temperature: 0.5, top_p: 0.9 },
        warned: [],
      })
    }
    expect(ask(openai(), 'o3', { dialect, ...sampling, ...off }).warned).toEqual(['reasoning.effort', ...dropped])
  })

  test('default values are left out without a warning', () => {
    expect(ask(openai(), 'gpt-5', { temperature: 1, top_p: 1 })).toMatchObject({ warned: [] })
  })

  test('a reasoning model is sent no stop sequences, and no model is sent `top_k`', () => {
    const thinking = ask(openai(), 'o4-mini', { stop: true, top_k: 4 })
    const other = ask(openai(), 'gpt-4.1', { stop: true, top_k: 4 })
    expect(other.body).toHaveProperty('stop')
    expect(thinking.body).not.toHaveProperty('stop')
    expect(thinking.body).not.toHaveProperty('top_k')
    expect(thinking.warned).toEqual([...other.warned, 'stop'])
    expect(ask(openai(), 'o3-mini', { stop: true }).body).toHaveProperty('stop')
  })
})

const offerOf = (model: string) => ({ provider: 'p', model, api: 'chat' })
const messagesOf = (body: JsonObject): readonly JsonObject[] => (Array.isArray(body.messages) ? body.messages.filter(isObject) : [])
const idsOf = ({ tool_calls, tool_call_id }: JsonObject): readonly unknown[] =>
  Array.isArray(tool_calls) ? tool_calls.map((call: JsonObject) => call.id) : tool_call_id === undefined ? [] : [tool_call_id]

test('OpenAI receives its own name of the standard tier, and allowed_tools unchanged', () => {
  const tool_choice = { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'f' }] }
  const tools = ['f', 'g'].map(name => ({ type: 'function', name }))
  const { body } = ask(openai(), 'gpt-4.1', { tools, tool_choice, service_tier: 'on_demand' })
  expect(body).toMatchObject({ service_tier: 'default', tool_choice: { type: 'allowed_tools' } })
  expect(body.tools).toHaveLength(2)
})

test('Azure gets its own name of the standard tier, and no choice among some tools: its older API versions do not know it', () => {
  const tool_choice = { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'f' }] }
  const tools = ['f', 'g'].map(name => ({ type: 'function', name }))
  const { body } = ask(rest.azure(), 'gpt-4.1', { tools, tool_choice, service_tier: 'on_demand' })
  expect(body).toMatchObject({ service_tier: 'default', tool_choice: 'auto', tools: [{ function: { name: 'f' } }] })
})
