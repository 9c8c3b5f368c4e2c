import { catalogModels } from '@signalbox/catalog'
import { responsesClient } from '@signalbox/dialects'
import type { EncodedRequest, JsonObject, Offer, Provider, Quirks } from '@signalbox/dialects/protocol'
import { quirksFor } from '@signalbox/dialects/protocol'
import { describe, expect, test } from 'vitest'
import { fieldsOf } from '../src/access.ts'
import { builtIns } from '../src/built-in.ts'

// The catalog's facts of an offer and the engine's facts of a provider and its models: the combined result.

const dialects = ['responses', 'chat', 'messages', 'gemini', 'bedrock']
const values = { api_key: 'k', region: 'us-east-1', resource: 'r', project: 'p', location: 'global', account_id: 'a' } as const
const providers = new Map(
  builtIns.map(row => {
    const access = Object.entries(values).filter(([name]) => fieldsOf(row).some(field => field === name))
    return [row.id, row.make(Object.fromEntries(access))]
  }),
)

interface Sold {
  readonly name: string
  readonly author: string
  readonly offer: Offer
  readonly provider: Provider
  readonly quirks: Quirks
}

const sold: readonly Sold[] = catalogModels({ providers: [...providers.keys()], apis: dialects }).flatMap(({ id, author = '', offers }) =>
  offers.flatMap(offer => {
    const provider = providers.get(offer.provider)
    return provider ? [{ name: `${id} at ${offer.provider}`, author, offer, provider, quirks: quirksFor(provider, offer) }] : []
  }),
)

const everything = {
  model: 'm',
  input: [{ role: 'user', content: 'Hi' }],
  instructions: 'Be brief.',
  tools: [{ type: 'function', name: 'f', parameters: { type: 'object', properties: {} }, strict: true }],
  tool_choice: 'required',
  parallel_tool_calls: false,
  max_output_tokens: 4000,
  temperature: 0.5,
  top_p: 0.5,
  top_k: 5,
  frequency_penalty: 0.5,
  presence_penalty: 0.5,
  user: 'u',
  safety_identifier: 's',
  prompt_cache_key: 'k',
}

function encode({ offer, provider, quirks }: Sold, fields: JsonObject): EncodedRequest {
  const dialect = provider.dialects.find(({ name }) => name === offer.api)
  if (!dialect) throw new Error('It does not speak that.')
  return dialect.encodeRequest(responsesClient.decodeRequest({ ...everything, ...fields }), offer, quirks)
}

describe('every offer of the catalog', () => {
  test('has a dialect that its provider supports', () => {
    expect(sold.length).toBeGreaterThan(390)
    expect(new Set(sold.map(({ offer }) => offer.api))).toEqual(new Set(dialects))
    const mute = sold.filter(({ offer, provider }) => !provider.dialects.some(({ name }) => name === offer.api))
    expect(mute.map(({ name }) => name)).toEqual([])
  })

  test('can be sent all options at once, and receives none that it refuses', () => {
    const told = sold.flatMap(one => {
      const { body } = encode(one, { reasoning: { effort: 'high' } })
      return (one.quirks.refuses ?? []).filter(field => field in body).map(field => `${one.name}: ${field}`)
    })
    expect(told).toEqual([])
  })

  test('maps an effort to one that it supports, or warns', () => {
    const lost = sold.filter(one => {
      const { body, warnings } = encode(one, { reasoning: { effort: 'minimal' } })
      const kept = JSON.stringify({ ...body, messages: [], input: [], contents: [] }).match(/effort|thinking|budget/i)
      return !kept && !warnings.some(({ param }) => param === 'reasoning.effort')
    })
    expect(lost.map(({ name }) => name)).toEqual([])
  })

  test('receives no sampling options while reasoning if it does not support them', () => {
    const steered = sold.filter(one => {
      const { body } = encode(one, { reasoning: { effort: 'high' } })
      const cannot = one.quirks.sampling === 'none' || one.quirks.sampling === 'unless_thinking'
      return cannot && /"(temperature|top_?[pP]|top_?[kK])":/.test(JSON.stringify(body))
    })
    expect(steered.map(({ name }) => name)).toEqual([])
  })
})

describe('facts of the engine about a vendor’s models are not overridden by the catalog', () => {
  const of = (author: string, pattern: RegExp): readonly Sold[] =>
    sold.filter(({ author: by, offer }) => by === author && pattern.test(offer.model))

  test('Claude has adaptive or budgeted reasoning at every provider', () => {
    // Another gateway has its own dialect.
    const claude = of('anthropic', /claude/).filter(({ offer }) => offer.provider !== 'openrouter')
    expect(new Set(claude.map(({ offer }) => offer.provider)).size).toBe(4)
    for (const { name, quirks, provider, offer } of claude) {
      expect([name, quirks.thinking?.some(style => style === 'adaptive' || style === 'budget')]).toEqual([name, true])
      expect([name, quirks]).toEqual([name, { ...provider.quirks, ...provider.quirksOf?.(offer.model), audio: false }])
    }
  })

  test('Gemini has reasoning by level or by budget at every provider', () => {
    const gemini = of('google', /gemini/).filter(({ offer }) => offer.provider !== 'openrouter')
    expect(new Set(gemini.map(({ offer }) => offer.provider))).toEqual(new Set(['google', 'google-vertex']))
    for (const { name, quirks } of gemini) {
      const isOld = name.startsWith('gemini-2')
      expect([name, quirks.thinking]).toEqual([name, [isOld ? 'budget' : 'level']])
      expect([name, quirks.thinkingBudget !== undefined, quirks.efforts !== undefined]).toEqual([name, isOld, !isOld])
    }
  })

  test('models of OpenAI receive no sampling options while reasoning, at every provider of the Responses dialect', () => {
    const gpt = of('openai', /^(gpt-(5|6)|o\d)/).filter(({ offer }) => offer.api === 'responses')
    expect(gpt.length).toBeGreaterThan(30)
    expect(gpt.filter(({ quirks }) => quirks.sampling === undefined || quirks.sampling === 'any').map(({ name }) => name)).toEqual([])
    const silent = gpt.filter(one => 'temperature' in encode(one, { reasoning: { effort: 'low' } }).body)
    expect(silent.map(({ name }) => name)).toEqual([])
  })
})
