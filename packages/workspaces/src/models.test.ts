import { chatProvider } from '@signalbox/dialects'
import type { Model, Offer, Provider, ProviderFacts } from '@signalbox/dialects/protocol'
import { describe, expect, test } from 'vitest'
import { type DirectoryOptions, directoryOf } from './models.ts'

/** A directory at the first millisecond of 1970 by default. */
const directoryFor = (models: readonly Model[], providers: readonly Provider[], options: Partial<DirectoryOptions> = {}) =>
  directoryOf(models, providers, { clock: { now: () => 0 }, ...options })

const provider = (id: string, more: Partial<Provider> = {}): Provider => ({
  id,
  dialects: [chatProvider],
  endpoint: () => '',
  authorize: () => {},
  ...more,
})
const facts = (id: string, more: Partial<ProviderFacts> = {}): ProviderFacts => ({
  id,
  displayName: `Facts of ${id}`,
  dataPolicy: 'no_training',
  ...more,
})
const offer = (more: Partial<Offer> = {}): Offer => ({ provider: 'here', model: 'theirs', api: 'chat', ...more })
const model = (id: string, more: Partial<Model> = {}): Model => ({ id, offers: [offer()], ...more })

describe('the facts about a provider', () => {
  const known = (given: Partial<Provider>, list: readonly ProviderFacts[] = [facts('here', { env: ['HERE_KEY'], retentionDays: 30 })]) =>
    directoryFor([], [provider('here', given)], { facts: list }).providers()[0]

  test('are its own, then those of the catalog, then nothing', () => {
    expect(known({})).toEqual({
      id: 'here',
      displayName: 'Facts of here',
      dataPolicy: 'no_training',
      env: ['HERE_KEY'],
      retentionDays: 30,
      dialects: ['chat'],
    })
    expect(known({ displayName: 'Here', dataPolicy: 'zdr' })).toMatchObject({
      displayName: 'Here',
      dataPolicy: 'zdr',
      retentionDays: 30,
    })
    expect(known({}, [])).toEqual({ id: 'here', displayName: 'here', dataPolicy: 'unknown', dialects: ['chat'] })
  })

  test('are the later of two, and absent for unknown providers', () => {
    expect(known({}, [facts('here'), facts('here', { dataPolicy: 'may_train' }), facts('elsewhere')])).toMatchObject({
      dataPolicy: 'may_train',
    })
    expect(
      directoryFor([], [provider('b'), provider('a')], { facts: [facts('c')] })
        .providers()
        .map(({ id }) => id),
    ).toEqual(['b', 'a'])
  })

  test('apply to its offers, unless these have their own', () => {
    const policy = (given: Partial<Provider>, own: Partial<Offer>, list: readonly ProviderFacts[]): unknown =>
      directoryFor([model('m', { offers: [offer(own)] })], [provider('here', given)], { facts: list }).find('m')?.offers[0]?.dataPolicy
    expect(policy({ dataPolicy: 'zdr' }, { dataPolicy: 'may_train' }, [facts('here')])).toBe('may_train')
    expect(policy({ dataPolicy: 'zdr' }, {}, [facts('here')])).toBe('zdr')
    expect(policy({}, {}, [facts('here')])).toBe('no_training')
    expect(policy({}, {}, [])).toBe('unknown')
  })
})

describe('replacing all models', () => {
  const before = [model('one', { aliases: ['first'] }), model('two')]

  test('makes the new ones available at once, and the old ones unavailable', () => {
    const directory = directoryFor(before, [provider('here')])
    expect([directory.version(), directory.find('first')?.id]).toEqual([1, 'one'])
    directory.replace([model('three', { aliases: ['first'] }), model('one-b')])
    expect([directory.version(), directory.find('first')?.id, directory.find('one')]).toEqual([2, 'three', undefined])
    expect(directory.list().map(({ id }) => id)).toEqual(['one-b', 'three'])
    expect(directory.similarNames('thre')).toEqual(['three'])
    expect(directory.find('three')?.offers[0]?.dataPolicy).toBe('unknown')
  })

  test('needs at least one: a list that failed to load must not remove all models', () => {
    const directory = directoryFor(before, [provider('here')])
    expect(() => directory.replace([])).toThrow(/^models\.replace: the list of models is empty/)
    expect([directory.version(), directory.find('first')?.id]).toEqual([1, 'one'])
    expect(directoryFor([], [provider('here')]).list()).toEqual([])
  })

  const priced = (price: unknown): Model => model('new', { offers: [offer({ price: price as NonNullable<Offer['price']> })] })
  const surcharged = (percent: number): Model => priced({ input: 1, output: 1, surcharges: [{ field: 'speed', value: 'fast', percent }] })
  const regional = { region: 'eu', model: 'x', price: { input: 1.5, output: 1 } }
  test.each<readonly [fault: string, message: RegExp, models: readonly Model[]]>([
    ['an alias that is another’s id', /"one" is used by two models, "one" and "new"/, [model('one'), model('new', { aliases: ['one'] })]],
    ['no id', /a model has "" as its `id`/, [model('')]],
    ['an alias that nobody can ask for', /"new" has "" among its `aliases`/, [model('new', { aliases: [''] })]],
    ['one id twice', /"new" is used by two models/, [model('new'), model('new')]],
    [
      'an API that the provider does not have',
      /API "messages", which "here" does not have; it has chat/,
      [model('new', { offers: [offer({ api: 'messages' })] })],
    ],
    ['a price in dollars', /"new" at "here" has 0\.5 as its `price\.input`/, [priced({ input: 0.5, output: 1 })]],
    ['a price below zero', /`price\.cached`/, [priced({ input: 1, output: 1, cached: -1 })]],
    ['half a price', /undefined as its `price\.output`/, [priced({ input: 1 })]],
    [
      'a price of long prompts in dollars',
      /`price\.tiers\.0\.output`/,
      [priced({ input: 1, output: 1, tiers: [{ over: 1, input: 1, output: 0.5 }] })],
    ],
    [
      'half a price of later',
      /`price\.changes\.0\.price\.output`/,
      [priced({ input: 1, output: 1, changes: [{ from: '2027-01-01', price: { input: 1 } }] })],
    ],
    ['a price of a tool in dollars', /`price\.tools\.web_search`/, [priced({ input: 1, output: 1, tools: { web_search: 0.01 } })]],
    [
      'a price of an unknown tool',
      /`price\.tools\.image`; the tools .* are web_search/,
      [priced({ input: 1, output: 1, tools: { image: 5 } })],
    ],
    ['a surcharge that lowers the price', /has 90 as its `price\.surcharges\.0\.percent`; .* from 100 to 10000/, [surcharged(90)]],
    ['a surcharge of half a percent', /`price\.surcharges\.0\.percent`/, [surcharged(110.5)]],
    ['a surcharge below zero', /`price\.surcharges\.0\.percent`/, [surcharged(-110)]],
    ['a surcharge that is a rate', /`price\.surcharges\.0\.percent`/, [surcharged(2_000_000)]],
    ['a last day that there is not', /"new" has "2026-02-30" as a `retiresAt`/, [model('new', { retiresAt: '2026-02-30' })]],
    ['a last day that is a time', /`retiresAt`/, [model('new', { offers: [offer({ retiresAt: '2026-12-11T00:00:00Z' })] })]],
    ['half a price of the priority tier', /`price\.priority\.input`/, [priced({ input: 1, output: 1, priority: { output: 1 } })]],
    [
      'long prompts after longer ones',
      /`price\.tiers` out of order/,
      [priced({ input: 1, output: 1, tiers: [2, 2].map(over => ({ over, input: 1, output: 1 })) })],
    ],
    ['a price of a region in dollars', /`regions\.0\.price\.input`/, [model('new', { offers: [offer({ regions: [regional] })] })]],
  ])('with %s is refused, and nothing changes', (_, message, models) => {
    const directory = directoryFor(before, [provider('here')])
    const [version, list] = [directory.version(), directory.list()]
    expect(() => directory.replace([model('good'), ...models])).toThrow(message)
    expect(() => directory.replace([model('good'), ...models])).toThrow(/^models\.replace: /)
    expect([directory.version(), directory.find('good'), directory.find('first')?.id]).toEqual([version, undefined, 'one'])
    expect(directory.list()).toBe(list)
    expect(() => directoryFor(models, [provider('here')])).toThrow(/^createGateway: /)
  })

  test.each([-110, 0, 90, 110.5, 2_000_000, Number.NaN])('is refused if a host’s surcharge is %d percent', percent => {
    const withSurcharge = { ...provider('here'), hostSurcharges: [{ host: 'eu.example', percent }] }
    expect(() => directoryFor(before, [withSurcharge])).toThrow(
      /^createGateway: "here" has a surcharge of .* at "eu\.example"; it takes whole percent/,
    )
  })

  test('is not affected by later changes of the given list', () => {
    const given = [model('one')]
    const directory = directoryFor(before, [provider('here')])
    directory.replace(given)
    given.push(model('two'))
    expect([directory.list().length, directory.find('two')]).toEqual([1, undefined])
  })
})

describe('names that cannot be requested', () => {
  const loggedFor = (models: readonly Model[], providers: readonly Provider[]) => {
    const lines: object[] = []
    const logger = { info: () => {}, error: () => {}, warn: (facts: object) => void lines.push(facts) }
    const directory = directoryFor([model('good')], providers, { logger })
    lines.length = 0
    directory.replace([model('good'), ...models])
    return lines
  }

  test('are logged once, with the model, the provider and the nearest known name', () => {
    const strays = ['hree', 'elsewhere', 'far'].map(id => model(id, { offers: [offer(), offer({ provider: id })] }))
    expect(loggedFor(strays, [provider('here')])).toEqual([{ model: 'hree', provider: 'hree', nearest: 'here', offers: 3 }])
    expect(loggedFor([model('m', { offers: [offer({ provider: 'far' })] })], [provider('here')])).toEqual([
      { model: 'm', provider: 'far', offers: 1 },
    ])
  })

  test('include models without offers', () => {
    expect(loggedFor([model('a', { offers: [] }), model('b', { offers: [] })], [provider('here')])).toEqual([{ model: 'a', models: 2 }])
  })

  test('are not logged if all providers exist', () => {
    expect(loggedFor([model('one')], [provider('here')])).toEqual([])
  })
})
