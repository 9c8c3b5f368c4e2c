import type { OfferStatistics } from '@signalbox/storage/routing'
import { expect, test } from 'vitest'
import { makeOutcomeCounts, outcomeNames } from './outcome-counts.ts'
import { validNews, validReaders } from './validate.ts'

const now = 1_750_000_000_000
const row = (given: Partial<OfferStatistics>): OfferStatistics => ({
  writer: 'w',
  offer: 'alder',
  epoch: 0,
  version: 0,
  at: 0,
  ...makeOutcomeCounts(),
  ...given,
})
const kept = (given: Partial<OfferStatistics>) =>
  validNews({ cursor: 'c', statistics: [row(given)], pauses: [] }, now).statistics.length === 1

test('a row is accepted if each of its numbers is from zero to a quadrillion, and refused otherwise', () => {
  for (const field of ['epoch', 'version', 'at', ...outcomeNames] as const)
    expect([0, 1e15, 1e15 + 1, -1, Number.NaN].map(value => kept({ [field]: value }))).toEqual([true, true, false, false, false])
})

test('a pause is shortened to ten minutes, and an invalid one is dropped', () => {
  const pauses = [5, now + 600_000, now + 600_001, 1e15, Number.NaN, -1].map(until => ({ offer: 'alder', until }))
  const { cursor, pauses: sound } = validNews({ cursor: 'c', statistics: [], pauses }, now)
  expect(cursor).toBe('c')
  expect(sound).toEqual([5, now + 600_000, now + 600_000, now + 600_000].map(until => ({ offer: 'alder', until })))
})

test('a reader is accepted with at most a billion tokens and a valid time', () => {
  const taken = (tokens: number, at: number) => validReaders([{ offer: 'alder', tokens, at }]).length === 1
  expect([taken(0, 0), taken(1e9, 1e15), taken(1e9 + 1, 0), taken(-1, 0), taken(1, 1e15 + 1), taken(1, Number.NaN)]).toEqual([
    true,
    true,
    false,
    false,
    false,
    false,
  ])
})
