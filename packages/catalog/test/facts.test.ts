import type { Offer, Price, Rates } from '@signalbox/dialects/protocol'
import { describe, expect, test } from 'vitest'
import { catalog } from '../src/index.ts'
import { catalogText, readCatalog } from '../src/schema/index.ts'

const { models, providers, asOf } = catalog()
const offers = models.flatMap(model => model.offers.map(offer => ({ model, offer })))
const at = (seller: string, id: string): Offer | undefined =>
  offers.find(({ model, offer }) => model.id === id && offer.provider === seller)?.offer

interface Placed {
  readonly place: string
  readonly rates: Rates
}

const ratesIn = (place: string, price: Price): readonly Placed[] => [
  { place, rates: price },
  ...(price.tiers ?? []).map(tier => ({ place: `${place} over ${tier.over}`, rates: tier })),
  ...(price.priority ? [{ place: `${place} in haste`, rates: price.priority }] : []),
]
const prices = offers.flatMap(({ model, offer: { provider, price, regions = [] } }) => [
  ...(price ? [{ place: `${model.id} at ${provider}`, price }] : []),
  ...regions.flatMap(region => (region.price ? [{ place: `${model.id} at ${provider} in ${region.region}`, price: region.price }] : [])),
])
const rates = prices.flatMap(({ place, price }) => ratesIn(place, price))

describe('the built-in catalog', () => {
  test('matches its own schema, and survives JSON unchanged', () => {
    expect(readCatalog(JSON.parse(catalogText(catalog())))).toEqual(catalog())
  })

  test('is parsed once, and frozen', () => {
    expect(catalog()).toBe(catalog())
    const loose = (value: unknown, path: string): readonly string[] =>
      typeof value !== 'object' || value === null
        ? []
        : [...(Object.isFrozen(value) ? [] : [path]), ...Object.entries(value).flatMap(([key, inner]) => loose(inner, `${path}.${key}`))]
    expect(loose(catalog(), 'catalog')).toEqual([])
  })

  test('has unique names', () => {
    const names = models.flatMap(({ id, aliases = [] }) => [id, ...aliases])
    expect(names.length).toBe(new Set(names).size)
    expect(names.length).toBeGreaterThan(300)
  })

  test('has each offer once', () => {
    const names = offers.map(({ offer }) => `${offer.provider} ${offer.model} ${offer.api}`)
    expect(names.filter((name, place) => names.indexOf(name) !== place)).toEqual([])
  })

  test('lists exactly the providers that have offers', () => {
    expect(new Set(offers.map(({ offer }) => offer.provider))).toEqual(new Set(providers.map(({ id }) => id)))
  })

  test('describes every model', () => {
    const bare = models.filter(
      ({ author, displayName, created, openWeights, inputModalities, outputModalities, capabilities }) =>
        ![author, displayName, created, openWeights, inputModalities, outputModalities, capabilities].every(field => field !== undefined),
    )
    expect(bare.map(({ id }) => id)).toEqual([])
    expect(models.find(({ id }) => id === 'gpt-6.1-sol')).toMatchObject({
      family: 'gpt-sol',
      knowledgeCutoff: '2026-04-30',
      openWeights: false,
      inputModalities: ['text', 'image', 'pdf'],
      outputModalities: ['text'],
      capabilities: expect.arrayContaining(['computer_use', 'web_search']),
    })
  })

  test('has the data policy and the kinds of accounts of every provider', () => {
    const bare = providers.filter(({ dataPolicy, docsURL, headquarters, env = [], tiers = [] }) =>
      [dataPolicy, docsURL, headquarters, env[0], tiers[0]].includes(undefined),
    )
    expect(bare).toEqual([])
    expect(providers.find(({ id }) => id === 'google')).toMatchObject({
      dataPolicy: 'no_training',
      retentionDays: 55,
      tiers: expect.arrayContaining([expect.objectContaining({ tier: 'free', dataPolicy: 'may_train' })]),
    })
  })
})

describe('prices', () => {
  test('are whole microdollars', () => {
    const broken = rates.filter(({ rates: { input, output, cached = 0, cacheWrite = 0, cacheWrite1h = 0 } }) =>
      [input, output, cached, cacheWrite, cacheWrite1h].some(rate => !Number.isSafeInteger(rate) || rate < 0),
    )
    expect(rates.length).toBeGreaterThan(550)
    expect(broken).toEqual([])
  })

  test('of long prompts are in order, and at least the standard ones', () => {
    const tiered = prices.filter(({ price }) => price.tiers)
    expect(tiered.length).toBeGreaterThan(50)
    for (const { place, price } of tiered) {
      const steps = [{ over: 0, ...price }, ...(price.tiers ?? [])]
      const ordered = steps.every((step, index) => {
        const before = steps[index - 1]
        return !before || (step.over > before.over && step.input >= before.input && step.output >= before.output)
      })
      expect([place, ordered]).toEqual([place, true])
    }
  })

  test('of cache reads are at most those of input, and of one-hour cache writes at least those of a write', () => {
    expect(rates.filter(({ rates: { input, cached = 0 } }) => cached > input).map(({ place }) => place)).toEqual([])
    const kept = rates.filter(({ rates: { cacheWrite1h } }) => cacheWrite1h !== undefined)
    expect(kept.length).toBeGreaterThan(30)
    expect(kept.filter(({ rates: { cacheWrite = 0, cacheWrite1h = 0 } }) => cacheWrite1h < cacheWrite)).toEqual([])
  })

  test('of a faster tier exist if a `service_tier` selects it, with its name', () => {
    const dear = offers.filter(({ offer }) => offer.price?.priority)
    expect(new Set(dear.map(({ offer }) => offer.provider))).toEqual(new Set(['openai', 'fireworks']))
    expect(new Set(dear.map(({ offer }) => offer.quirks?.priorityTier))).toEqual(new Set(['priority']))
    // Its fast mode is no `service_tier` but a surcharge.
    expect(at('anthropic', 'claude-opus-5')?.price).toEqual({
      input: 5_000_000,
      output: 25_000_000,
      cached: 500_000,
      cacheWrite: 6_250_000,
      cacheWrite1h: 10_000_000,
      tools: { web_search: 10_000, web_fetch: 0 },
      surcharges: [
        { field: 'speed', value: 'fast', percent: 200 },
        { field: 'inference_geo', value: 'us', percent: 110 },
      ],
    })
  })

  test('are complete', () => {
    expect(at('openai', 'gpt-6.1-sol')?.price).toEqual({
      input: 2_000_000,
      output: 10_000_000,
      cached: 100_000,
      cacheWrite: 2_500_000,
      tiers: [{ over: 272_000, input: 4_000_000, output: 15_000_000, cached: 200_000, cacheWrite: 5_000_000 }],
      priority: { input: 4_000_000, output: 20_000_000, cached: 200_000, cacheWrite: 5_000_000, upTo: 272_000 },
      tools: { web_search: 10_000, file_search: 2_500 },
    })
  })

  test('of another region are listed if they differ', () => {
    expect(at('amazon-bedrock', 'claude-opus-5')?.regions).toContainEqual({
      region: 'eu',
      model: 'eu.anthropic.claude-opus-5',
      price: { input: 5_500_000, output: 27_500_000, cached: 550_000, cacheWrite: 6_875_000 },
    })
    expect(at('amazon-bedrock', 'gpt-6.1-sol')?.regions).toEqual([{ region: 'us', model: 'us.openai.gpt-6.1-sol' }])
  })

  test('that are unknown are left out, and those of a trial are 0', () => {
    const unpriced = offers.filter(({ offer }) => !offer.price).map(({ model, offer }) => `${model.id} at ${offer.provider}`)
    expect(unpriced).toEqual(['gemma-4-31b-it at google', 'gemma-4-26b-a4b-it at google', 'grok-4.6 at azure'])
    const free = offers.filter(({ offer }) => offer.price?.input === 0)
    expect(new Set(free.map(({ offer }) => offer.provider))).toEqual(new Set(['nvidia', 'zai']))
  })
})

describe('offers', () => {
  test('that are deprecated are kept and marked', () => {
    const old = offers.filter(({ offer }) => offer.status === 'deprecated')
    expect(old.length).toBeGreaterThan(0)
    expect(offers.filter(({ offer }) => offer.status === 'beta').length).toBeGreaterThan(0)
  })

  test('have a limit on the prompt only if it is below the context window', () => {
    const limited = offers.filter(({ offer }) => offer.maxInputTokens !== undefined)
    expect(limited.length).toBeGreaterThan(40)
    expect(limited.filter(({ offer: { maxInputTokens = 0, contextWindow = 0 } }) => maxInputTokens >= contextWindow)).toEqual([])
  })
})

test('the facts have a date', () => {
  expect(asOf).toMatch(/^2026-\d\d-\d\d$/)
})
