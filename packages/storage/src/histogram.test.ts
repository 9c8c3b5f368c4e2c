import fc from 'fast-check'
import { expect, test } from 'vitest'
import { binMiddle, binOf, type Histogram, quantileOf } from './histogram.ts'
import type { UsageRow } from './usage.ts'
import { createTotalBuilder, figuresOf } from './usage-totals.ts'

const value = fc.oneof(fc.integer({ min: 1, max: 100_000 }), fc.double({ min: 0.01, max: 1e12, noNaN: true }))

const binsOf = (values: readonly number[]): Histogram => {
  const counts = new Map<number, number>()
  for (const bin of values.map(binOf)) counts.set(bin, (counts.get(bin) ?? 0) + 1)
  return [...counts].sort(([a], [b]) => a - b)
}

test('a quantile is within 2.5 % of the exact one', () => {
  fc.assert(
    fc.property(fc.array(value, { minLength: 1, maxLength: 200 }), fc.double({ min: 0, max: 1, noNaN: true }), (values, q) => {
      const sorted = values.toSorted((a, b) => a - b)
      const exact = sorted[Math.max(1, Math.ceil(q * values.length)) - 1] ?? Number.NaN
      const told = quantileOf(binsOf(values), q) ?? Number.NaN
      expect(Math.abs(told - exact)).toBeLessThanOrEqual(exact * 0.025)
    }),
    { numRuns: 1_000 },
  )
})

test('a larger number is never in a lower bin, and the middle of a bin is in that bin', () => {
  fc.assert(
    fc.property(value, value, (a, b) => {
      expect(binOf(Math.max(a, b))).toBeGreaterThanOrEqual(binOf(Math.min(a, b)))
      expect(binOf(binMiddle(binOf(a)))).toBe(binOf(a))
    }),
  )
})

test('numbers of 0 or less are reported as 0, and an empty histogram has no quantile', () => {
  expect(quantileOf(binsOf([0, -1, Number.NaN]), 0.5)).toBe(0)
  expect(quantileOf([], 0.5)).toBeUndefined()
  expect(quantileOf(binsOf([0, 0, 8]), 0.99)).toBeCloseTo(8, 0)
})

test('added totals of parts equal the total of all', () => {
  const row = fc.record({
    durationMs: fc.nat(90_000),
    firstContentMs: fc.nat(90_000),
    outputTokens: fc.nat(5_000),
    result: fc.constantFrom<UsageRow['result']>('ok', 'incomplete', 'error', 'abandoned'),
  })
  const rest = { inputTokens: 1, cachedTokens: 2, cacheWriteTokens: 3, reasoningTokens: 4, cost: 5, byokCost: 6, attempts: 2 }
  const named = { at: 0, keyId: 'k', model: 'm', provider: 'p', credential: 'workspace' as const }
  fc.assert(
    fc.property(fc.array(fc.array(row, { maxLength: 30 }), { maxLength: 5 }), parts => {
      const [ofAll, ofParts] = [createTotalBuilder(), createTotalBuilder()]
      for (const part of parts) {
        const builder = createTotalBuilder()
        for (const one of part) for (const each of [ofAll, builder]) each.add(figuresOf({ ...named, ...rest, ...one }))
        ofParts.addTotal(builder.stored())
      }
      expect(ofParts.total()).toEqual(ofAll.total())
    }),
  )
})

test('a total stored before a count was introduced adds 0 to it', () => {
  const { interrupted: _, ...older } = createTotalBuilder().stored()
  const builder = createTotalBuilder()
  builder.addTotal({ ...older, requests: 3 } as ReturnType<typeof builder.stored>)
  expect(builder.total()).toMatchObject({ requests: 3, interrupted: 0 })
})
