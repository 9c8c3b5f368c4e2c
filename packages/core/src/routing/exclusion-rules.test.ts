import { chatClient, messagesClient, providerDialects } from '@signalbox/dialects'
import type { InferenceRequest, JsonObject, Model, Offer, Provider, Quirks } from '@signalbox/dialects/protocol'
import { describe, expect, test } from 'vitest'
import { asking, candidateOf, filtered, price, questionOf } from '../../test/routing/routing-fixture.ts'
import type { Demands } from './needs.ts'

/** Why an offer is excluded from a request. Undefined if it is not. */
const whyNot = (fields: JsonObject, offer: Partial<Offer>, inputTokens = 1): string | undefined =>
  whyNotFor(asking(fields), offer, { inputTokens })

function whyNotFor(request: InferenceRequest, offer: Partial<Offer>, more: Parameters<typeof questionOf>[1] = {}): string | undefined {
  const { excluded } = filtered([candidateOf(offer)], questionOf(request, more))
  return excluded[0] && `${excluded[0].code}: ${excluded[0].reason}`
}

test('JSON mode needs an offer that supports it or structured outputs', () => {
  const fields = { text: { format: { type: 'json_object' } } }
  expect(whyNot(fields, { abilities: ['tools'] })).toBe('capability_mismatch: it does not support JSON mode')
  expect(whyNot(fields, { abilities: ['json_mode'] })).toBeUndefined()
  expect(whyNot(fields, { abilities: ['structured_output'] })).toBeUndefined()
  expect(whyNot(fields, {})).toBeUndefined()
  expect(whyNot({}, { abilities: [] })).toBeUndefined()
})

test('a required tool call needs an offer that enforces it', () => {
  const fields = { tools: [{ type: 'function', name: 'f' }], tool_choice: 'required' }
  expect(whyNot(fields, { quirks: { refuses: ['tool_choice_required'] } })).toMatch(/^tool_choice_required_not_supported/)
  expect(whyNot({ ...fields, tool_choice: 'auto' }, { quirks: { refuses: ['tool_choice_required'] } })).toBeUndefined()
  expect(whyNot(fields, {})).toBeUndefined()
})

test('files and audio need offers that accept them, and unknown abilities exclude no offer', () => {
  const file = (type: string) => ({
    input: [{ role: 'user', content: [{ type: 'input_file', filename: 'f', file_data: `data:${type};base64,AAAA` }] }],
  })
  const audio = { input: [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }] }] }
  expect(whyNot(file('application/pdf'), { quirks: { files: false } })).toMatch(/^capability_mismatch: it does not support files/)
  expect(whyNot(file('text/plain'), { quirks: { files: false } })).toBeUndefined()
  expect(whyNot(file('application/pdf'), {})).toBeUndefined()
  expect(whyNot(audio, { quirks: { audio: false } })).toMatch(/^capability_mismatch: it does not support audio/)
  expect(whyNot(audio, {})).toBeUndefined()
})

describe('a maximum price', () => {
  const routing = { max_price: { input: 2 } }

  test('is compared with the price of the requested tier', () => {
    const withPriority = { price: { ...price, priority: { input: 3_000_000, output: 3_000_000 } } }
    expect(whyNot({ gateway: { routing } }, withPriority)).toBeUndefined()
    expect(whyNot({ service_tier: 'priority', gateway: { routing } }, withPriority)).toMatch(
      /^routing_constraint_unsatisfiable: it may cost 3 USD/,
    )
    expect(whyNot({ service_tier: 'priority', gateway: { routing } }, { price })).toBeUndefined()
  })

  test('is compared with every tier that a prompt of that length may reach', () => {
    const tiered = { price: { ...price, tiers: [{ over: 1_500, input: 4_000_000, output: 4_000_000 }] } }
    expect(whyNot({ gateway: { routing } }, tiered, 1_000)).toBeUndefined()
    expect(whyNot({ gateway: { routing } }, tiered, 1_001)).toMatch(/^routing_constraint_unsatisfiable: it may cost 4 USD/)
    expect(whyNot({ gateway: { routing: { max_price: { output: 3 } } } }, tiered, 1_001)).toMatch(/and 4 per million output tokens/)
  })

  test('of 0 allows only free offers', () => {
    const nothing = { gateway: { routing: { max_price: { input: 0, output: 0 } } } }
    expect(whyNot(nothing, { price: { input: 0, output: 0 } })).toBeUndefined()
    expect(whyNot(nothing, { price })).toMatch(/^routing_constraint/)
    // An unknown price is not a price of 0.
    const { price: _, ...unpriced } = candidateOf({}).offer
    const { excluded } = filtered([{ ...candidateOf({}), offer: unpriced }], questionOf(asking(nothing)))
    expect(excluded).toMatchObject([{ code: 'routing_failed', reason: expect.stringMatching(/its price is unknown/) }])
  })
})

test('an offer that takes only bytes is excluded for URLs that nothing can download, but not for inline bytes', () => {
  const showing = (image_url: string) => ({ input: [{ role: 'user', content: [{ type: 'input_image', image_url }] }] })
  expect(whyNot(showing('https://a.example/1.png'), { quirks: { inlineMediaOnly: true } })).toMatch(
    /^capability_mismatch: it only accepts images as base64 data/,
  )
  expect(whyNot(showing('data:image/png;base64,AAAA'), { quirks: { inlineMediaOnly: true } })).toBeUndefined()
})

const upload = messagesClient.decodeRequest({
  model: 'm',
  max_tokens: 9,
  messages: [{ role: 'user', content: [{ type: 'container_upload', file_id: 'file_1' }] }],
})

test('items of one dialect need offers that use it, with a code for each dialect', () => {
  const compacted = { input: [{ type: 'compaction', id: 'cmp_1', encrypted_content: 'e' }] }
  expect(whyNot(compacted, {})).toMatch(/^input_requires_responses_endpoint: .* only supported by the dialect "responses"/)
  expect(whyNot(compacted, { api: 'responses' })).toBeUndefined()
  expect(whyNotFor(upload, {})).toMatch(/^capability_mismatch: .* only supported by the dialect "messages"/)
  expect(whyNotFor(upload, { api: 'messages' })).toMatch(/^operation_not_allowed: /)
})

test('for a feature of the caller’s dialect, the error suggests POST /v1/responses if the model is only available through it', () => {
  const soldInResponses = candidateOf({ api: 'responses' })
  const answer = (request: InferenceRequest) => {
    const query = questionOf(request, { responsesOnly: new Set([soldInResponses.model]) })
    return filtered([soldInResponses], query).excluded.map(({ code, param }) => `${code} ${param}`)
  }
  const chat = (fields: JsonObject) => chatClient.decodeRequest({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...fields })
  expect(answer(upload)).toEqual(['response_api_only messages[0].content[0]'])
  expect(answer(chat({ tools: [{ type: 'custom', custom: { name: 'patch' } }] }))).toEqual([])
  expect(answer(chat({ tools: [{ type: 'function', function: { name: 'f' } }] }))).toEqual([])
  expect(answer(asking({ tools: [{ type: 'web_search' }] }))).toEqual([])
  expect(whyNotFor(upload, { api: 'responses' })).toMatch(/^capability_mismatch/)
})

test('a prompt that is clearly too long is excluded, and the size of a document leaves doubt', () => {
  const showing = (file_data: string) => ({ input: [{ role: 'user', content: [{ type: 'input_file', filename: 'f', file_data }] }] })
  const small = { contextWindow: 1_000 }
  expect(whyNot({}, small, 2_000)).toBeUndefined()
  expect(whyNot({}, small, 2_001)).toMatch(/^context_length_exceeded/)
  expect(whyNot({}, { contextWindow: 9_000, maxInputTokens: 1_000 }, 2_001)).toMatch(/^context_length_exceeded: .* is 1000 tokens$/)
  expect(whyNot(showing('data:text/plain;base64,AAAA'), small, 2_001)).toMatch(/^context_length_exceeded/)
  expect(whyNot(showing('data:application/pdf;base64,AAAA'), small, 2_001)).toBeUndefined()
})

test('a required data policy excludes offers without one, and a stricter one is accepted', () => {
  const takes = (data_policy: string | undefined, demand: string): boolean =>
    whyNot({ gateway: { routing: { data_policy: demand } } }, data_policy === undefined ? {} : { dataPolicy: data_policy }) === undefined
  const policies = ['zdr', 'no_training', 'may_train', 'unknown', 'a promise of tomorrow', undefined] as const
  const taking = (demand: string) => policies.filter(policy => takes(policy, demand))
  expect(taking('any')).toEqual(policies)
  expect(taking('no_training')).toEqual(['zdr', 'no_training'])
  expect(taking('zdr')).toEqual(['zdr'])
})

test('the data policy of an offer overrides that of its provider', () => {
  const query = questionOf(asking({ gateway: { routing: { data_policy: 'zdr' } } }))
  const kept = (offer: Partial<Offer>, provider: Partial<Provider>) => filtered([candidateOf(offer, provider)], query).eligible.length > 0
  expect(kept({}, { dataPolicy: 'zdr' })).toBe(true)
  expect(kept({ dataPolicy: 'may_train' }, { dataPolicy: 'zdr' })).toBe(false)
})

test.each<[Demands, boolean]>([
  [{}, true],
  [{ data_policy_required: 'no_training' }, true],
  [{ data_policy_required: 'zdr' }, false],
  [{ allowed_providers: ['p'] }, true],
  [{ allowed_providers: ['q'] }, false],
  [{ allowed_providers: [] }, false],
  [{ blocked_providers: ['p'] }, false],
  [{ blocked_providers: ['q'] }, true],
  [{ allowed_models: ['alias'] }, true],
  [{ allowed_models: ['m'] }, true],
  [{ allowed_models: ['other'] }, false],
])('a workspace that demands %j allows this offer: %s', (demands, taken) => {
  const candidate = candidateOf({ dataPolicy: 'no_training' })
  const named = { ...candidate, model: { ...candidate.model, aliases: ['alias'] } }
  // A request cannot demand less than its workspace.
  const { excluded } = filtered([named], questionOf(asking({ gateway: { routing: { data_policy: 'any' } } }), { demands }))
  expect(excluded.map(({ code, param }) => ({ code, param }))).toEqual(taken ? [] : [{ code: 'routing_constraint_unsatisfiable' }])
})

describe('a Messages request that ends with the assistant', () => {
  const request = (...last: readonly JsonObject[]): InferenceRequest =>
    messagesClient.decodeRequest({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }, ...last] })
  const prefill = request({ role: 'assistant', content: '{' })
  const whyNotAt = (asked: InferenceRequest, dialect: 'messages' | 'bedrock', quirks: Quirks): string | undefined => {
    const candidate = candidateOf({ api: dialect, quirks }, { dialects: [providerDialects[dialect]] })
    const { excluded } = filtered([candidate], questionOf(asked))
    return excluded[0] && `${excluded[0].code}: ${excluded[0].reason}`
  }

  test('goes to a model that continues it, or to another API', () => {
    expect(whyNotAt(prefill, 'messages', { noPrefill: true })).toBe(
      'capability_mismatch: it does not continue an assistant message, and `messages[1]` is one at the end',
    )
    expect(whyNotAt(prefill, 'messages', {})).toBeUndefined()
    expect(whyNotAt(prefill, 'bedrock', { noPrefill: true })).toBeUndefined()
    expect(whyNotAt(request(), 'messages', { noPrefill: true })).toBeUndefined()
  })

  test('is continued by every model if its response was paused', () => {
    const paused = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }
    expect(whyNotAt(request({ role: 'assistant', content: [paused] }), 'messages', { noPrefill: true })).toBeUndefined()
  })
})

describe('a model that a tool names', () => {
  const dear: Model = { id: 'vendor/dear', aliases: ['dear'], offers: [{ provider: 'p', model: 'dear-1', api: 'chat', price }] }
  const find = (name: string) => (name === 'vendor/dear' || name === 'dear' ? dear : undefined)
  const chat = (fields: JsonObject) => chatClient.decodeRequest({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...fields })
  const messages = (fields: JsonObject) =>
    messagesClient.decodeRequest({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }], ...fields })
  const image = { type: 'image_generation', model: 'dear-1' }
  const added = [
    { role: 'user', content: 'Hi' },
    { type: 'additional_tools', role: 'developer', tools: [image] },
  ]
  const requests: readonly (readonly [string, InferenceRequest])[] = [
    ['tools[0].model', messages({ tools: [{ type: 'advisor_20260301', name: 'advisor', model: 'dear-1' }] })],
    ['tools[0].model', asking({ tools: [image] })],
    ['tools[0].tools[0].model', asking({ tools: [{ type: 'namespace', name: 'g', tools: [image] }] })],
    ['input[1].tools[0].model', asking({ input: added })],
    ['tools[0].parameters.model', asking({ tools: [{ type: 'openrouter:image_generation', parameters: { model: 'dear-1' } }] })],
    ['plugins[0].analysis_models[0]', chat({ plugins: [{ id: 'fusion', analysis_models: ['dear-1'] }] })],
    ['extensions.plugins[0].model', chat({ extensions: { plugins: [{ id: 'web', model: 'dear-1' }] } })],
    ['compound_custom.models.answering_model', chat({ compound_custom: { models: { answering_model: 'dear-1' } } })],
    ['extensions.ranking.llmRanker.modelName', asking({ extensions: { ranking: { llmRanker: { modelName: 'dear-1' } } } })],
  ]

  test.each(requests)('is a model of the request: %s', (path, request) => {
    const why = (demands: Demands) => {
      const { excluded } = filtered([candidateOf({})], questionOf(request, { demands, find }))
      return excluded.map(({ code, param, reason }) => [code, param, reason.slice(0, reason.indexOf(' not allow'))])
    }
    const code = 'routing_constraint_unsatisfiable'
    expect(why({ allowed_models: ['m'] })).toEqual([[code, path, "the workspace's settings do"]])
    expect(why({ caller_models: ['m'] })).toEqual([[code, path, 'the session of the caller does']])
    for (const name of ['dear', 'vendor/dear', 'dear-1'])
      expect(why({ allowed_models: ['m', name], caller_models: ['m', name] })).toEqual([])
    expect(why({})).toEqual([])
  })

  test('is allowed at the provider that sells an allowed model under that name', () => {
    const question = questionOf(asking({ tools: [image] }), { demands: { allowed_models: ['m', 'dear'] }, find })
    expect(filtered([candidateOf({ provider: 'q' })], question).excluded).toMatchObject([{ param: 'tools[0].model' }])
  })

  test('is none where a schema, metadata or a function of the client has such a field', () => {
    const named = asking({
      tools: [{ type: 'function', name: 'f', parameters: { type: 'object', properties: { model: { type: 'string' } } } }],
      metadata: { model: 'dear-1' },
    })
    expect(filtered([candidateOf({})], questionOf(named, { demands: { allowed_models: ['m'] } })).excluded).toEqual([])
  })
})
