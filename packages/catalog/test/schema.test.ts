import { abilities } from '@signalbox/dialects/protocol'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Catalog, CatalogError, catalog, type Overrides } from '../src/index.ts'
import { catalogText, readCatalog, readOverrides } from '../src/schema/index.ts'

const offer = { provider: 'p', provider_model_id: 'x', dialect: 'chat' }
const own = { as_of: '2026-09-30', models: [{ id: 'm', offers: [offer] }], providers: [] }

function problemsOf(act: () => unknown): readonly string[] {
  try {
    act()
  } catch (error) {
    if (error instanceof CatalogError) return error.problems
    throw error
  }
  return []
}

const withOffer = (changes: object): object => ({ ...own, models: [{ id: 'm', offers: [{ ...offer, ...changes }] }] })
const withModel = (changes: object): object => ({ ...own, models: [{ ...own.models[0], ...changes }] })

/** The fault, the catalog, and the error message. */
const faults: readonly (readonly [trouble: string, json: unknown, problem: string])[] = [
  ['no object', 'x', 'It is "x"; it takes an object of as_of, models, providers.'],
  ['no day', { ...own, as_of: 'today' }, '`as_of` is "today"; it takes a day as in 2026-09-30.'],
  ['a day that no month has', { ...own, as_of: '2026-02-30' }, '`as_of` is "2026-02-30"; it takes a day as in 2026-09-30.'],
  ['no models', { ...own, models: undefined }, '`models` is missing; it takes a list.'],
  [
    'a misspelt field',
    withOffer({ contextWindow: 1 }),
    '`models[0].offers[0].contextWindow` is not a known field; `models[0].offers[0]` takes provider, provider_model_id, dialect, context_window, max_output_tokens, max_input_tokens, status, retires_at, source, as_of, regions, delivery, abilities, data_policy, price, quirks.',
  ],
  [
    'a price in dollars',
    withOffer({ price: { input: 2.5, output: 10 } }),
    '`models[0].offers[0].price.input` is 2.5; it takes whole microdollars per million tokens (2.50 USD is 2500000), 0 or more.',
  ],
  [
    'a price of input alone',
    withOffer({ price: { input: 2 } }),
    '`models[0].offers[0].price.output` is missing; it takes whole microdollars per million tokens (2.50 USD is 2500000), 0 or more.',
  ],
  [
    'tiers out of order',
    withOffer({ price: { input: 1, output: 1, tiers: [200, 100].map(over => ({ over, input: 1, output: 1 })) } }),
    '`models[0].offers[0].price.tiers` is a list; it takes a list in the order of `over`, each once.',
  ],
  [
    'a capability that is none',
    withModel({ capabilities: ['mind_reading'] }),
    '`models[0].capabilities[0]` is "mind_reading"; it takes one of tools, vision, json_mode, reasoning, streaming, web_search, computer_use, prompt_caching, code_interpreter, structured_output.',
  ],
  [
    'an ability that is none',
    withOffer({ abilities: ['tool'] }),
    `\`models[0].offers[0].abilities[0]\` is "tool"; it takes one of ${abilities.join(', ')}.`,
  ],
  [
    'a quirk that nobody reads',
    withOffer({ quirks: { efort: ['low'] } }),
    expect.stringContaining(
      '`models[0].offers[0].quirks.efort` is not a known field; `models[0].offers[0].quirks` takes max_tokens_field,',
    ),
  ],
  [
    'a window of nothing',
    withOffer({ context_window: 0 }),
    '`models[0].offers[0].context_window` is 0; it takes a whole number, 1 or more.',
  ],
  ['a retirement that is no day', withModel({ retires_at: 'soon' }), '`models[0].retires_at` is "soon"; it takes a day as in 2026-09-30.'],
  [
    'a policy that nobody knows',
    { ...own, providers: [{ id: 'p', display_name: 'P', data_policy: 'none' }] },
    '`providers[0].data_policy` is "none"; it takes one of zdr, no_training, may_train, unknown.',
  ],
  [
    'one name for two models',
    { ...own, models: [...own.models, { id: 'n', aliases: ['o', 'm'], offers: [] }] },
    '`models[1].aliases[1]` is "m", which is a name of "m" already; it takes a name that no other model has.',
  ],
  [
    'one model twice',
    { ...own, models: [...own.models, ...own.models] },
    '`models[1].id` is "m", which is a name of "m" already; it takes a name that no other model has.',
  ],
  ['one offer twice', withModel({ offers: [offer, offer] }), '`models[0].offers` holds "p x chat" twice; it takes each offer once.'],
  [
    'one provider twice',
    { ...own, providers: [1, 2].map(() => ({ id: 'p', display_name: 'P', data_policy: 'zdr' })) },
    '`providers` holds "p" twice; it takes the facts of each provider once.',
  ],
]

describe('a custom catalog', () => {
  test.each(faults)('with %s is refused with the reason', (_trouble, json, problem) => {
    expect(problemsOf(() => readCatalog(json))).toEqual([problem])
  })

  test('with several faults is refused with all of them', () => {
    const json = { ...own, as_of: '', providers: {} }
    expect(problemsOf(() => readCatalog(json))).toEqual([
      '`as_of` is ""; it takes a day as in 2026-09-30.',
      '`providers` is an object; it takes a list.',
    ])
    expect(() => readCatalog(json)).toThrow('`as_of` is ""; it takes a day as in 2026-09-30. (And 1 more.)')
  })

  test('has the content of its file under the names of code, and is frozen', () => {
    const price = {
      input: 2,
      output: 4,
      cache_write: 3,
      cache_write_1h: 5,
      tools: { web_search: 9 },
      priority: { input: 3, output: 6, up_to: 7 },
    }
    const quirks = { max_tokens_field: 'max_tokens', fixed_fields: { safety_mode: { some_key: 1 } } }
    const regions = [{ region: 'eu', provider_model_id: 'eu.x' }]
    const text = { ...own, models: [{ id: 'm', display_name: 'M', offers: [{ ...offer, context_window: 9, price, quirks, regions }] }] }
    const read = readCatalog(text)
    expect(read).toEqual({
      asOf: '2026-09-30',
      models: [
        {
          id: 'm',
          displayName: 'M',
          offers: [
            {
              provider: 'p',
              model: 'x',
              api: 'chat',
              contextWindow: 9,
              price: {
                input: 2,
                output: 4,
                cacheWrite: 3,
                cacheWrite1h: 5,
                tools: { web_search: 9 },
                priority: { input: 3, output: 6, upTo: 7 },
              },
              quirks: { maxTokensField: 'max_tokens', fixedFields: { safety_mode: { some_key: 1 } } },
              regions: [{ region: 'eu', model: 'eu.x' }],
            },
          ],
        },
      ],
      providers: [],
    } satisfies Catalog)
    expect(JSON.parse(catalogText(read))).toEqual(text)
    expect(Object.isFrozen(read.models[0]?.offers[0])).toBe(true)
  })

  test('may repeat a name within one model', () => {
    expect(problemsOf(() => readCatalog(withModel({ aliases: ['m', 'n', 'n'] })))).toEqual([])
  })

  test('of any JSON is either read or refused with an error', () => {
    const places = ['as_of', 'models', 'providers'] as const
    fc.assert(
      fc.property(fc.constantFrom(...places), fc.jsonValue(), (place, value) => {
        const problems = problemsOf(() => readCatalog({ ...own, [place]: value }))
        expect(problems.every(problem => problem.startsWith('`'))).toBe(true)
      }),
    )
  })

  test('may be any part of the built-in one', () => {
    const { models } = catalog()
    fc.assert(
      fc.property(fc.subarray([...models], { maxLength: 5 }), some => {
        const part = { asOf: '2026-09-30', models: some, providers: [] }
        expect(readCatalog(JSON.parse(catalogText(part)))).toEqual(part)
      }),
      { numRuns: 30 },
    )
  })
})

describe('overrides in a file', () => {
  test('have the names of code once they are read', () => {
    const overrides = {
      models: { 'gpt-4o': null, m: { retires_at: '2027-01-01', knowledge_cutoff: null } },
      offers: { p: { x: { price: { input: 1, output: 2 }, status: null }, y: null } },
      providers: { p: { retention_days: null, data_policy: 'zdr' } },
      add: { models: own.models, offers: { m: [offer] } },
    }
    const sold = { provider: 'p', model: 'x', api: 'chat' }
    expect(readOverrides(overrides)).toEqual({
      models: { 'gpt-4o': null, m: { retiresAt: '2027-01-01', knowledgeCutoff: null } },
      offers: { p: { x: { price: { input: 1, output: 2 }, status: null }, y: null } },
      providers: { p: { retentionDays: null, dataPolicy: 'zdr' } },
      add: { models: [{ id: 'm', offers: [sold] }], offers: { m: [sold] } },
    } satisfies Overrides)
  })

  test.each([
    ['an id', { models: { m: { id: 'n' } } }, '`models.m.id` is not a known field;'],
    ['the offers of a model at once', { models: { m: { offers: [] } } }, '`models.m.offers` is not a known field;'],
    ['no dialect', { offers: { p: { 'x-1.5': { dialect: null } } } }, '`offers.p["x-1.5"].dialect` is null; it takes 1 to 200'],
    ['no data policy', { providers: { p: { data_policy: null } } }, '`providers.p.data_policy` is null; it takes one of zdr,'],
    [
      'a price in dollars',
      { offers: { p: { x: { price: { input: 0.5, output: 1 } } } } },
      '`offers.p.x.price.input` is 0.5; it takes whole',
    ],
    ['what is no change', { models: { m: true } }, '`models.m` is true; it takes an object of aliases,'],
  ])('cannot have %s', (_trouble, json, problem) => {
    expect(problemsOf(() => readOverrides(json))).toEqual([expect.stringContaining(problem)])
  })
})
