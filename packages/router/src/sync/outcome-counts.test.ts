import fc from 'fast-check'
import { expect, test } from 'vitest'
import { countSpeed, countsSince, countWait, makeOutcomeCounts, type OutcomeCounts, outcomeNames, totalObserved } from './outcome-counts.ts'

const counts = fc.record(
  Object.fromEntries(outcomeNames.map(name => [name, fc.nat(1_000)])) as Record<keyof OutcomeCounts, fc.Arbitrary<number>>,
)

test('new counts are all zero', () => {
  expect(Object.values(makeOutcomeCounts())).toEqual(outcomeNames.map(() => 0))
})

test('each kind of observation increases the total, and sums of logarithms do not', () => {
  const seen = Object.fromEntries(outcomeNames.map(name => [name, totalObserved({ ...makeOutcomeCounts(), [name]: 3 })]))
  expect(seen).toEqual({ answered: 3, failed: 3, finished: 3, broken: 3, waits: 3, speeds: 3, lnWaits: 0, lnWaitsSquared: 0, lnSpeeds: 0 })
})

test('the difference of two counts added to the first gives the second', () => {
  fc.assert(
    fc.property(counts, counts, (before, more) => {
      const after = Object.fromEntries(outcomeNames.map(name => [name, before[name] + more[name]])) as unknown as OutcomeCounts
      expect(countsSince(after, before)).toEqual({ ...makeOutcomeCounts(), ...more })
      expect(countsSince(after, undefined)).toEqual({ ...after })
    }),
  )
})

test('counts that shrank have not grown: growth is never negative', () => {
  fc.assert(fc.property(counts, counts, (one, other) => Object.values(countsSince(one, other)).every(value => value >= 0)))
})

test('a wait adds its logarithm and its square; one below a millisecond counts as a millisecond', () => {
  const its = makeOutcomeCounts()
  countWait(its, Math.E ** 2)
  countWait(its, 0.2)
  expect(its).toEqual({ ...makeOutcomeCounts(), waits: 2, lnWaits: 2, lnWaitsSquared: 4 })
  countWait(its, 1.5)
  expect(its.lnWaits).toBeCloseTo(2 + Math.log(1.5), 12)
})

test('a speed adds its logarithm; one below a token a second counts as a token a second', () => {
  const its = makeOutcomeCounts()
  countSpeed(its, 4)
  countSpeed(its, -3)
  expect(its).toEqual({ ...makeOutcomeCounts(), speeds: 2, lnSpeeds: 4 })
})
