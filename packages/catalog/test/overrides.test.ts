import type { Model, Offer, ProviderFacts } from '@signalbox/dialects/protocol'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CatalogError, catalog, type Overrides, overridden } from '../src/index.ts'

const base = catalog()
const find = (id: string, from = base): Model | undefined => from.models.find(model => model.id === id)
const offersOf = (provider: string, from = base): readonly Offer[] =>
  from.models.flatMap(({ offers }) => offers).filter(offer => offer.provider === provider)

function problemsOf(overrides: Overrides): readonly string[] {
  try {
    overridden(base, overrides)
  } catch (error) {
    if (error instanceof CatalogError) return error.problems
    throw error
  }
  return []
}

const price = fc.record({ input: fc.nat(), output: fc.nat() })
const modelChange = fc.record(
  {
    displayName: fc.string({ minLength: 1 }),
    retiresAt: fc.constantFrom('2027-01-01', null),
    knowledgeCutoff: fc.constantFrom('2026-01', null),
    openWeights: fc.boolean(),
    capabilities: fc.subarray(['tools', 'vision', 'web_search'] as const),
  },
  { requiredKeys: [] },
)
const offerChange = fc.record(
  { price: fc.option(price), contextWindow: fc.option(fc.integer({ min: 1 })), status: fc.constantFrom('beta', 'deprecated', null) },
  { requiredKeys: [] },
)
const factsChange = fc.record(
  { dataPolicy: fc.constantFrom('zdr', 'may_train'), retentionDays: fc.option(fc.nat()), displayName: fc.string({ minLength: 1 }) },
  { requiredKeys: [] },
)

/** What an item should be with a change. */
const expected = (item: object, change: object): object =>
  Object.fromEntries(Object.entries({ ...item, ...change }).filter(([, value]) => value !== null))

describe('an override', () => {
  test('of a model changes the fields that it names, and nothing else', () => {
    fc.assert(
      fc.property(fc.constantFrom(...base.models), modelChange, (model, change) => {
        const next = overridden(base, { models: { [model.id]: change } })
        expect(find(model.id, next)).toEqual(expected(model, change))
        expect(next.models.filter((other, at) => other !== base.models[at] && other.id !== model.id)).toEqual([])
        expect([next.asOf, next.providers, next.models.length]).toEqual([base.asOf, base.providers, base.models.length])
      }),
    )
  })

  test('of an offer changes the fields that it names, and nothing else', () => {
    const all = base.models.flatMap(model => model.offers.map((offer, at) => ({ model, offer, at })))
    fc.assert(
      fc.property(fc.constantFrom(...all), offerChange, ({ model, offer, at }, change) => {
        const next = overridden(base, { offers: { [offer.provider]: { [offer.model]: change } } })
        const { offers = [], ...rest } = find(model.id, next) ?? {}
        expect(offers[at]).toEqual(expected(offer, change))
        expect(offers.filter((other, place) => place !== at && other !== model.offers[place])).toEqual([])
        expect({ ...rest, offers: model.offers }).toEqual(model)
        expect(next.models.filter((other, place) => other !== base.models[place] && other.id !== model.id)).toEqual([])
      }),
    )
  })

  test('of a provider changes the fields that it names, and nothing else', () => {
    fc.assert(
      fc.property(fc.nat({ max: base.providers.length - 1 }), factsChange, (at, change) => {
        const facts = base.providers[at] as ProviderFacts
        const next = overridden(base, { providers: { [facts.id]: change } })
        expect(next.providers[at]).toEqual(expected(facts, change))
        expect(next.providers.filter((other, place) => place !== at && other !== base.providers[place])).toEqual([])
        expect(next.models.every((model, place) => model === base.models[place])).toBe(true)
      }),
    )
  })

  test('without fields changes nothing', () => {
    expect(overridden(base, {})).toEqual(base)
    expect(overridden(base, { models: {}, offers: { openai: {} }, add: {} })).toEqual(base)
  })

  test('does not change the original catalog, and does not change with its own values', () => {
    const named = { input: 1, output: 2 }
    const next = overridden(base, { offers: { openai: { 'gpt-6-sol': { price: named } } } })
    named.input = 3
    expect(offersOf('openai', next).find(({ model: id }) => id === 'gpt-6-sol')?.price).toEqual({ input: 1, output: 2 })
    expect(find('gpt-6-sol')?.offers[0]?.price?.input).toBe(2_000_000)
    expect(Object.isFrozen(find('gpt-6-sol', next)?.offers[0]?.price)).toBe(true)
  })
})

describe('an override of null', () => {
  test('removes a model, an offer, or the facts of a provider', () => {
    const next = overridden(base, {
      models: { 'claude-sonnet-5': null },
      offers: { azure: { 'gpt-6.1-sol': null } },
      providers: { nvidia: null },
    })
    expect(find('claude-sonnet-5', next)).toBeUndefined()
    expect(find('gpt-6.1-sol', next)?.offers.map(({ provider }) => provider)).toEqual(['openai', 'amazon-bedrock', 'openrouter'])
    expect(next.providers.length).toBe(base.providers.length - 1)
  })

  test('frees the name for something else', () => {
    const model = { id: 'gpt-4o', offers: [{ provider: 'mine', model: 'x', api: 'chat' }] }
    expect(find('gpt-4o', overridden(base, { models: { 'gpt-4o': null }, add: { models: [model] } }))).toEqual(model)
  })
})

describe('an added entry', () => {
  const model: Model = { id: 'house', aliases: ['ours'], offers: [{ provider: 'mine', model: 'h1', api: 'chat' }] }
  const offer: Offer = { provider: 'mine', model: 'sol', api: 'chat', price: { input: 0, output: 0 } }
  const facts: ProviderFacts = { id: 'mine', displayName: 'Mine', dataPolicy: 'zdr' }

  test('comes after the existing ones', () => {
    const next = overridden(base, { add: { models: [model], offers: { 'gpt-6-sol': [offer], house: [offer] }, providers: [facts] } })
    expect(
      next.models
        .slice(0, -1)
        .filter((each, at) => each !== base.models[at])
        .map(({ id }) => id),
    ).toEqual(['gpt-6-sol'])
    expect(find('gpt-6-sol', next)?.offers.at(-1)).toEqual(offer)
    expect(find('house', next)).toEqual({ ...model, offers: [...model.offers, offer] })
    expect(next.providers.at(-1)).toEqual(facts)
  })

  test.each<readonly [string, Overrides, string]>([
    [
      'a name that is taken',
      { add: { models: [{ ...model, aliases: ['gpt-4o'] }] } },
      '`add.models[0].aliases[0]` is "gpt-4o", which is a name of "gpt-4o" already; it takes a name that no other model has.',
    ],
    [
      'an offer that is there',
      { add: { offers: { 'gpt-4o': [find('gpt-4o')?.offers[0] as Offer] } } },
      '`models.gpt-4o.offers` holds "openai gpt-4o responses" twice; it takes each offer once.',
    ],
    [
      'facts that are there',
      { add: { providers: [{ ...facts, id: 'openai' }] } },
      '`providers` holds "openai" twice; it takes the facts of each provider once.',
    ],
  ])('cannot be %s', (_what, overrides, problem) => {
    expect(problemsOf(overrides)).toEqual([problem])
  })
})

describe('an unknown name is an error', () => {
  test.each<readonly [string, Overrides, string]>([
    ['a model', { models: { 'gpt-6-soul': {} } }, '`models.gpt-6-soul` names no model; did you mean "gpt-6-sol"?'],
    [
      'another name of a model',
      { models: { 'openai/gpt-6-sol': {} } },
      '`models["openai/gpt-6-sol"]` names no model; did you mean "gpt-6-sol"?',
    ],
    ['a provider', { providers: { opanai: {} } }, '`providers.opanai` names no provider; did you mean "openai"?'],
    ['a seller', { offers: { grok: {} } }, '`offers.grok` names no provider with offers; did you mean "groq"?'],
    [
      'an offer',
      { offers: { openai: { 'gpt-5.55': {} } } },
      '`offers.openai["gpt-5.55"]` names no offer of "openai"; did you mean "gpt-5.5"?',
    ],
    ['a name like no other', { models: { zzzzzzzzzzzzzz: null } }, '`models.zzzzzzzzzzzzzz` names no model; what is new goes under `add`.'],
    ['a model to sell', { add: { offers: { 'gpt-6-soul': [] } } }, '`add.offers.gpt-6-soul` names no model; did you mean "gpt-6-sol"?'],
    ['what every object has', { models: { constructor: null } }, expect.stringContaining('`models.constructor` names no model')],
  ])('%s', (_what, overrides, problem) => {
    expect(problemsOf(overrides)).toEqual([problem])
  })

  test('and all of them are reported', () => {
    expect(problemsOf({ models: { a: {}, b: {} }, providers: { c: {} } }).length).toBe(3)
  })
})
