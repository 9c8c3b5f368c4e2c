import type { Model, Offer, Price } from '@signalbox/dialects/protocol'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { modelsAt } from './scheduled-changes.ts'

const offer = (more: Partial<Offer> = {}): Offer => ({ provider: 'p', model: 'm', api: 'chat', ...more })
const model = (more: Partial<Model> = {}): Model => ({ id: 'm', offers: [offer()], ...more })
const at = (time: string): number => Date.parse(time)
const priceAt = (price: Price, time: string): Price | undefined =>
  modelsAt([model({ offers: [offer({ price })] })], at(time)).models[0]?.offers[0]?.price
const one = (given: Model, time: string): Model => modelsAt([given], at(time)).models[0] as Model

describe('an announced price', () => {
  const price: Price = {
    input: 750_000,
    output: 3_750_000,
    changes: [
      { from: '2027-01-01', price: { input: 1_500_000, output: 7_500_000, cached: 150_000 } },
      { from: '2027-02-01T08:00:00Z', price: { input: 1, output: 2 } },
    ],
  }

  test('applies from its first minute in UTC, as a whole', () => {
    expect(priceAt(price, '2026-12-31T23:59:59.999Z')).toBe(price)
    expect(priceAt(price, '2027-01-01T00:00:00Z')).toMatchObject({ input: 1_500_000, output: 7_500_000, cached: 150_000 })
    expect(priceAt(price, '2027-02-01T07:59:59Z')).toMatchObject({ input: 1_500_000 })
    expect(priceAt(price, '2027-02-01T08:00:00Z')).toEqual({ input: 1, output: 2 })
  })

  test('names the time at which the next one begins', () => {
    expect(modelsAt([model({ offers: [offer({ price })] })], at('2026-12-01T00:00Z')).until).toBe(at('2027-01-01T00:00Z'))
    expect(modelsAt([model({ offers: [offer({ price })] })], at('2027-03-01T00:00Z')).until).toBe(Number.POSITIVE_INFINITY)
  })

  test('changes for a region too', () => {
    const regions = [{ region: 'us', model: 'us.m', price }]
    expect(one(model({ offers: [offer({ regions })] }), '2027-01-01T00:00Z').offers[0]?.regions?.[0]?.price?.input).toBe(1_500_000)
  })
})

describe('a price by the hour', () => {
  const peak = { input: 1_320_000, output: 3_960_000 }
  const days = [1, 2, 3, 4, 5]
  const price: Price = {
    input: 660_000,
    output: 1_980_000,
    windows: [
      { days, from: '01:00', to: '04:00', ...peak },
      { days, from: '06:00', to: '10:00', ...peak },
    ],
  }

  test.each([
    ['2026-11-23T00:59:59Z', 660_000],
    ['2026-11-23T01:00:00Z', 1_320_000],
    ['2026-11-23T03:59:59Z', 1_320_000],
    ['2026-11-23T04:00:00Z', 660_000],
    ['2026-11-23T06:30:00Z', 1_320_000],
    // A Saturday and a Sunday.
    ['2026-11-21T02:00:00Z', 660_000],
    ['2026-11-22T07:00:00Z', 660_000],
  ])('at %s is %i', (time, input) => {
    expect(priceAt(price, time)?.input).toBe(input)
  })

  test('that spans midnight belongs to the day on which it begins', () => {
    const night: Price = { input: 2, output: 2, windows: [{ days: [5], from: '22:00', to: '06:00', input: 1, output: 1 }] }
    expect(priceAt(night, '2026-11-20T21:59:00Z')?.input).toBe(2)
    expect(priceAt(night, '2026-11-20T22:00:00Z')?.input).toBe(1)
    expect(priceAt(night, '2026-11-21T05:59:00Z')?.input).toBe(1)
    expect(priceAt(night, '2026-11-21T06:00:00Z')?.input).toBe(2)
    expect(priceAt(night, '2026-11-21T23:00:00Z')?.input).toBe(2)
  })

  test('is the first of those that overlap', () => {
    const first = { from: '02:00', to: '04:00', input: 3, output: 3 }
    const second = { from: '01:00', to: '05:00', input: 5, output: 5 }
    const at = (windows: Price['windows'] = []) =>
      ['00:59', '01:00', '02:00', '03:59', '04:00', '05:00'].map(
        time => priceAt({ input: 1, output: 1, windows }, `2026-11-23T${time}:00Z`)?.input,
      )
    expect(at([first, second])).toEqual([1, 5, 3, 3, 5, 1])
    expect(at([second, first])).toEqual([1, 5, 5, 5, 5, 1])
  })

  test('of the next price applies from the minute in which that price begins', () => {
    const next = { input: 4, output: 4, windows: [{ from: '00:00', to: '01:00', input: 9, output: 9 }] }
    const price: Price = {
      input: 1,
      output: 1,
      windows: [{ from: '23:00', to: '02:00', input: 2, output: 2 }],
      changes: [{ from: '2027-01-01', price: next }],
    }
    const times = ['2026-12-31T22:59:59Z', '2026-12-31T23:59:59Z', '2027-01-01T00:00:00Z', '2027-01-01T01:00:00Z']
    expect(times.map(time => priceAt(price, time)?.input)).toEqual([1, 2, 9, 4])
  })

  test('and its end are never missed: between two announced times nothing changes', () => {
    const time = fc.integer({ min: 0, max: 24 * 60 - 1 }).map(minute => new Date(minute * 60_000).toISOString().slice(11, 16))
    const window = fc.record({
      days: fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 7 }),
      from: time,
      to: time,
      input: fc.integer({ min: 0, max: 9 }),
      output: fc.constant(1),
    })
    fc.assert(
      fc.property(
        fc.array(window, { maxLength: 3 }),
        fc.integer({ min: 0, max: 2e12 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (windows, now, share) => {
          const models = [model({ offers: [offer({ price: { input: 10, output: 1, windows } })] })]
          const { models: before, until } = modelsAt(models, now)
          if (until === Number.POSITIVE_INFINITY) return
          expect(until).toBeGreaterThan(now)
          const later = Math.min(until - 1, Math.floor(now + share * (until - now)))
          expect(modelsAt(models, later).models[0]?.offers[0]?.price?.input).toBe(before[0]?.offers[0]?.price?.input)
        },
      ),
    )
  })
})

describe('an offer that ends', () => {
  const ends = model({
    retiresAt: '2027-01-14',
    successor: 'n',
    offers: [offer({ provider: 'a' }), offer({ provider: 'b', retiresAt: '2027-06-30' })],
  })

  test('ranks below others for its last 30 days, and is gone the day after', () => {
    expect(one(ends, '2026-12-15T23:59Z')).toBe(ends)
    expect(one(ends, '2026-12-16T00:00Z').offers.map(({ provider, status }) => [provider, status])).toEqual([
      ['a', 'deprecated'],
      ['b', undefined],
    ])
    expect(one(ends, '2027-01-14T23:59Z').offers.map(({ provider }) => provider)).toEqual(['a', 'b'])
    expect(one(ends, '2027-01-15T00:00Z').offers.map(({ provider }) => provider)).toEqual(['b'])
    expect(one(ends, '2027-01-15T00:00Z').status).toBeUndefined()
  })

  test('leaves a retired model if it was the last one', () => {
    expect(one(ends, '2027-07-01T00:00Z')).toMatchObject({ id: 'm', offers: [], status: 'retired', successor: 'n' })
  })

  test('may already be gone when the model is listed only for its name', () => {
    expect(one(model({ offers: [], retiresAt: '2026-10-23' }), '2026-11-22T00:00Z').status).toBe('retired')
    expect(one(model({ offers: [] }), '2026-11-22T00:00Z').status).toBeUndefined()
  })
})

test('models that announce nothing stay the same objects', () => {
  const given = [model(), model({ id: 'n', offers: [offer({ price: { input: 1, output: 1 } })] })]
  const { models, until } = modelsAt(given, 0)
  expect(models.every((each, index) => each === given[index])).toBe(true)
  expect(until).toBe(Number.POSITIVE_INFINITY)
})
