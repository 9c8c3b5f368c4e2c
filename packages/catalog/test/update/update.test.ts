import { describe, expect, test } from 'vitest'
import { catalog } from '../../src/index.ts'
import { catalogText, readCatalog } from '../../src/schema/index.ts'
import { current, listed, modelsDev, opinion, routed, unchanged, update, updated } from './samples.ts'

describe('models.dev', () => {
  test('that matches the catalog changes nothing but the date and the source', () => {
    const { diff, warnings, catalog: next, offerAt } = updated({ 'models.dev': modelsDev(unchanged) })
    expect(diff.filter(line => !line.includes('max_output_tokens'))).toEqual([])
    expect(warnings).toEqual([])
    expect(next.asOf).toBe('2026-11-22')
    expect(offerAt('openai', 'gpt-5')).toMatchObject({
      source: 'https://models.dev/api.json',
      abilities: expect.arrayContaining(['tools', 'json_mode', 'web_search']),
      price: { input: 1_250_000, output: 10_000_000, cached: 125_000, tools: { web_search: 10_000 } },
    })
  })

  test('corrects a price, keeps the prices of tools, and the diff has a line for the offer', () => {
    const openai = [listed('gpt-5', [1.5, 10], { cost: { cache_read: 0.15, tiers: [{ tier: { size: 272_000 }, input: 3, output: 15 }] } })]
    const { diff, offerAt } = updated({ 'models.dev': modelsDev({ ...unchanged, openai }) })
    expect(offerAt('openai', 'gpt-5')?.price).toEqual({
      input: 1_500_000,
      output: 10_000_000,
      cached: 150_000,
      tiers: [{ over: 272_000, input: 3_000_000, output: 15_000_000 }],
      tools: { web_search: 10_000 },
    })
    expect(diff.find(line => line.includes('gpt-5'))).toMatch(/^~ openai gpt-5: input 1\.25 → 1\.5, cached 0\.125 → 0\.15, tiers added/)
  })

  test('adds a new model of a vendor, and the offer of a host for it', () => {
    const reasoning = { reasoning: true, reasoning_options: [{ type: 'effort', values: ['low', 'none', 'high'] }], temperature: false }
    const fast = { modes: { fast: { cost: { input: 4, output: 16 }, provider: { body: { service_tier: 'priority' } } } } }
    const openai = [...unchanged.openai, listed('gpt-7', [2, 8], { ...reasoning, experimental: fast })]
    const groq = [...unchanged.groq, listed('maker/gpt-7', [3, 9], { base_model: 'openai/gpt-7' })]
    const { catalog: next, diff } = updated({ 'models.dev': modelsDev({ ...unchanged, openai, groq }) })
    const model = next.models.find(({ id }) => id === 'gpt-7')
    expect(model).toMatchObject({ aliases: ['openai/gpt-7'], author: 'openai', created: 1_754_524_800 })
    expect(model?.offers).toMatchObject([
      {
        provider: 'openai',
        api: 'responses',
        price: { input: 2_000_000, output: 8_000_000, priority: { input: 4_000_000, output: 16_000_000 } },
        quirks: { efforts: ['none', 'low', 'high'], sampling: 'unless_thinking', priorityTier: 'priority' },
      },
      { provider: 'groq', api: 'chat', model: 'maker/gpt-7' },
    ])
    expect(diff).toEqual(expect.arrayContaining(['+ openai gpt-7: 2/8', '+ groq maker/gpt-7: 3/9']))
  })

  test('leaves out a model of a host without a known vendor, and reports it', () => {
    const groq = [...unchanged.groq, listed('mystery', [3, 9])]
    const { catalog: next, warnings } = updated({ 'models.dev': modelsDev({ ...unchanged, groq }) })
    expect(next.models).toHaveLength(3)
    expect(warnings).toEqual([expect.stringMatching(/^1 offers of .* are left out/)])
  })

  test('with an entry of another shape leaves that offer unchanged, and reports it', () => {
    for (const odd of [
      null,
      'free',
      { ...listed('gpt-5', [9, 9]), cost: { input: 'free', output: -1 } },
      listed('gpt-5', [Number.NaN, 1]),
      [],
    ]) {
      const sample = modelsDev(unchanged) as Record<string, { models: Record<string, unknown> }>
      if (sample.openai) sample.openai.models['gpt-5'] = odd
      const { offerAt, warnings } = updated({ 'models.dev': sample })
      expect(offerAt('openai', 'gpt-5')?.price).toEqual(current.models[0]?.offers[0]?.price)
      expect(warnings).toEqual(['1 entries of models.dev cannot be read and are left as they are, such as "openai gpt-5".'])
    }
  })

  test('that lists the price of one hour does not change prices by the hour', () => {
    const price = { input: 150_000, output: 600_000, windows: [{ from: '01:00', to: '04:00', input: 300_000, output: 1_200_000 }] }
    const models = current.models.map(model =>
      model.id === 'deepseek-chat' ? { ...model, offers: model.offers.map(offer => ({ ...offer, price })) } : model,
    )
    for (const [input, output] of [
      [0.15, 0.6],
      [0.3, 1.2],
    ] as const) {
      const sample = modelsDev({ ...unchanged, deepseek: [listed('deepseek-chat', [input, output])] })
      expect(updated({ 'models.dev': sample }, { current: { ...current, models } }).offerAt('deepseek', 'deepseek-chat')?.price).toEqual(
        price,
      )
    }
  })
})

test('regional names on Bedrock are regions of their offer, with a price if it differs', () => {
  const id = 'anthropic.claude-opus-5'
  const offer = {
    provider: 'amazon-bedrock',
    model: `global.${id}`,
    api: 'bedrock',
    price: { input: 5_000_000, output: 25_000_000 },
  }
  const models = [...current.models, { id: 'claude-opus-5', offers: [{ ...offer, regions: [{ region: 'eu', model: `eu.${id}` }] }] }]
  const bedrock = [
    listed(`global.${id}`, [5, 25]),
    listed(`us.${id}`, [5, 25]),
    listed(`eu.${id}`, [5.5, 27.5]),
    listed('us.anthropic.other', [1, 2]),
  ]
  const { catalog: next, offerAt } = updated(
    { 'models.dev': modelsDev({ ...unchanged, 'amazon-bedrock': bedrock }) },
    { current: { ...current, models } },
  )
  expect(offerAt('amazon-bedrock', `global.${id}`)?.regions).toEqual([
    { region: 'eu', model: `eu.${id}`, price: { input: 5_500_000, output: 27_500_000 } },
    { region: 'us', model: `us.${id}` },
  ])
  expect(next.models.flatMap(model => model.offers).filter(({ provider }) => provider === 'amazon-bedrock')).toHaveLength(1)
})

test('surcharges and audio prices are read, and kept if a list has none', () => {
  const cost = { input_audio: 3 }
  const fast = { fast: { cost: { input: 2.5, output: 20 }, provider: { body: { speed: 'fast' }, headers: { beta: 'x' } } } }
  const first = updated({
    'models.dev': modelsDev({ ...unchanged, openai: [listed('gpt-5', [1.25, 10], { cost, experimental: { modes: fast } })] }),
  })
  const price = first.offerAt('openai', 'gpt-5')?.price
  expect(price).toMatchObject({ inputAudio: 3_000_000, surcharges: [{ field: 'speed', value: 'fast', percent: 200 }] })
  const later = updated({ 'models.dev': modelsDev({ ...unchanged, openai: [listed('gpt-5', [1.5, 10])] }) }, { current: first.catalog })
  expect(later.offerAt('openai', 'gpt-5')?.price).toMatchObject({ input: 1_500_000, surcharges: price?.surcharges })
})

describe('openrouter', () => {
  test('adds offers of the provider openrouter to models of the catalog, and missing models', () => {
    const list = [
      routed('openai/gpt-5', ['0.00000125', '0.00001'], { input_cache_read: '0.000000125', request: '0.001' }),
      routed('tencent/hy4', ['0.0000002', '0.0000008']),
      routed('openai/gpt-5:free', ['0', '0']),
      routed('openrouter/auto', ['-1', '-1']),
      { id: 'no/pricing' },
    ]
    const { catalog: next, offerAt, warnings } = updated({ openrouter: { data: list } })
    expect(next.models[0]?.offers.at(-1)).toMatchObject({
      provider: 'openrouter',
      model: 'openai/gpt-5',
      api: 'chat',
      maxOutputTokens: 32_768,
      price: { input: 1_250_000, output: 10_000_000, cached: 125_000, request: 1_000 },
      source: 'https://openrouter.ai/api/v1/models',
    })
    expect(next.models.at(-1)).toMatchObject({ id: 'hy4', aliases: ['tencent/hy4'], author: 'tencent' })
    expect([offerAt('openrouter', 'openai/gpt-5:free'), offerAt('openrouter', 'openrouter/auto')]).toEqual([undefined, undefined])
    expect(next.providers.at(-1)).toMatchObject({ id: 'openrouter', dataPolicy: 'unknown' })
    expect(warnings).toEqual([expect.stringContaining('1 entries of openrouter cannot be read')])
  })
})

describe('openai', () => {
  test('sets the end date of OpenAI offers, from a date or from seconds', () => {
    const data = [
      { id: 'gpt-5', object: 'model', shutdown_date: '2026-12-11' },
      { id: 'gpt-4', shutdown_date: null },
    ]
    expect(updated({ openai: { data } }).offerAt('openai', 'gpt-5')?.retiresAt).toBe('2026-12-11')
    const seconds = [{ id: 'gpt-5', shutdown_date: Date.parse('2026-12-11') / 1000 }]
    expect(updated({ openai: { data: seconds } }).offerAt('openai', 'gpt-5')?.retiresAt).toBe('2026-12-11')
    expect(
      updated({ openai: { data: [{ id: 'gpt-5', shutdown_date: '2026-13-45' }] } }).offerAt('openai', 'gpt-5')?.retiresAt,
    ).toBeUndefined()
  })
})

describe('genai-prices', () => {
  const usual = { 'models.dev': modelsDev(unchanged) }

  test('that agrees adds what only it has: later prices, hours of the day, fees per request', () => {
    const dated = opinion('openai', 'gpt-5', [
      { prices: { input_mtok: 9, output_mtok: 9 } },
      { constraint: { start_date: '2026-01-01' }, prices: { input_mtok: 1.25, output_mtok: 10, cache_write_1h_mtok: 2.5 } },
      { constraint: { start_date: '2027-01-01' }, prices: { input_mtok: 2, output_mtok: 12 } },
    ])
    const hours = opinion('deepseek', 'deepseek-chat', [
      { prices: { input_mtok: 0.15, output_mtok: 0.6, requests_kcount: 5 } },
      { constraint: { start_time: '01:00:00Z', end_time: '04:00:00Z' }, prices: { input_mtok: 0.3, output_mtok: 1.2 } },
    ])
    const { offerAt, warnings } = updated({ ...usual, 'genai-prices': [dated, hours] })
    expect(warnings).toEqual([])
    expect(offerAt('openai', 'gpt-5')?.price).toMatchObject({
      input: 1_250_000,
      cacheWrite1h: 2_500_000,
      changes: [{ from: '2027-01-01', price: { input: 2_000_000, output: 12_000_000 } }],
    })
    expect(offerAt('deepseek', 'deepseek-chat')?.price).toMatchObject({
      request: 5_000,
      windows: [{ from: '01:00', to: '04:00', input: 300_000, output: 1_200_000 }],
    })
  })

  test('that differs by more than 1 % causes a warning, and by less does not', () => {
    const at = (input: number) =>
      updated({ ...usual, 'genai-prices': [opinion('openai', 'gpt-5', { input_mtok: input, output_mtok: 10 })] })
    expect(at(1.26).warnings).toEqual([])
    const { warnings, offerAt } = at(1.4)
    expect(warnings).toEqual([
      'gpt-5 at openai costs 1.25/10 by one source and 1.4/10 by genai-prices (USD per million tokens); the first is used.',
    ])
    expect(offerAt('openai', 'gpt-5')?.price?.input).toBe(1_250_000)
  })

  test('that differs by more than three times keeps the old price, and leaves a new offer without one', () => {
    const openai = [listed('gpt-5', [6, 10]), listed('gpt-7', [8, 10])]
    const second = {
      ...opinion('openai', 'gpt-5', {}),
      models: ['gpt-5', 'gpt-7'].flatMap(id => opinion('openai', id, { input_mtok: 1.25, output_mtok: 10 }).models),
    }
    const { offerAt, warnings } = updated({ 'models.dev': modelsDev({ ...unchanged, openai }), 'genai-prices': [second] })
    expect(offerAt('openai', 'gpt-5')?.price?.input).toBe(1_250_000)
    expect(offerAt('openai', 'gpt-7')?.price).toBeUndefined()
    expect(warnings).toEqual([expect.stringContaining('the old price stays'), expect.stringContaining('it gets no price and is not used')])
  })
})

describe('corrections', () => {
  const openai = [listed('gpt-5', [1.5, 10])]

  test('override every source, and what they name is not removed', () => {
    const corrections = {
      offers: {
        openai: { 'gpt-5': { price: { input: 1_300_000, output: 9_000_000 } } },
        groq: { 'openai/gpt-oss-20b': { contextWindow: 131_072 } },
      },
    }
    const { offerAt, warnings } = updated({ 'models.dev': modelsDev({ ...unchanged, openai, groq: [] }) }, { corrections })
    expect(offerAt('openai', 'gpt-5')?.price).toEqual({ input: 1_300_000, output: 9_000_000 })
    expect(offerAt('groq', 'openai/gpt-oss-20b')?.contextWindow).toBe(131_072)
    expect(warnings).toEqual([])
  })

  test('of removed entries are named in a warning', () => {
    const { warnings } = updated({ 'models.dev': modelsDev(unchanged) }, { corrections: { models: { 'gpt-3': { family: 'gpt' } } } })
    expect(warnings).toEqual(['A correction of "gpt-3" is left out, since the catalog has none of that name.'])
  })
})

test('an update of an updated catalog from the same sources changes nothing', () => {
  const sources = {
    'models.dev': modelsDev({ ...unchanged, openai: [...unchanged.openai, listed('gpt-7', [2, 8])] }),
    openrouter: { data: [routed('openai/gpt-5', ['0.00000125', '0.00001']), routed('tencent/hy4', ['0.0000002', '0.0000008'])] },
  }
  const first = updated(sources)
  expect(first.diff.length).toBeGreaterThan(3)
  expect(updated(sources, { current: first.catalog }).diff).toEqual([])
})

test('the built-in catalog can be updated, and the result is a valid catalog', () => {
  const known = catalog().models.flatMap(({ offers }) => offers.filter(({ provider }) => provider === 'openrouter'))
  const data = known.map(({ model: id, price }) => routed(id, [String((price?.input ?? 0) / 1e12), String((price?.output ?? 0) / 1e12)]))
  expect(data.length).toBeGreaterThan(40)
  const result = update({ openrouter: { data: [...data, routed('tencent/hy4', ['0.00000125', '0.00001'])] } }, { current: catalog() })
  expect(result.ok && result.diff.filter(line => !line.startsWith('~'))).toEqual(['+ openrouter tencent/hy4: 1.25/10'])
  if (result.ok) expect(() => readCatalog(JSON.parse(catalogText(result.catalog)))).not.toThrow()
})
