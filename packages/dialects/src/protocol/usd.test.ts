import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { toUsd, usd } from './usd.ts'

test.each([
  [2.5, 2_500_000],
  [0, 0],
  [-0, 0],
  [-1.05, -1_050_000],
  [0.000_001, 1],
  [0.29, 290_000],
  [1.1, 1_100_000],
  [9_007_199_254, 9_007_199_254_000_000],
])('usd(%d) is %i microdollars', (amount, microdollars) => {
  expect(usd(amount)).toBe(microdollars)
})

test.each([0.000_000_1, 2.500_000_5, 0.1 + 0.2, Number.NaN, Number.POSITIVE_INFINITY, 1e10, 1e300])('usd(%d) is refused', amount => {
  expect(() => usd(amount)).toThrow(RangeError)
})

test('every whole number of microdollars is unchanged after conversion to dollars and back', () => {
  void fc.assert(
    fc.property(fc.integer({ min: -1e15, max: 1e15 }), microdollars => {
      expect(usd(toUsd(microdollars))).toBe(microdollars)
    }),
  )
})
