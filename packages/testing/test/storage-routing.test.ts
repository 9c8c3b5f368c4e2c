import { maxReaders, mergeReaders, mergeStatistics } from '@signalbox/storage/routing'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readers, statisticsRow, statisticsRows } from '../src/storage/routing.ts'

test('snapshots merge to the same outcome in any order, however often', () => {
  fc.assert(
    fc.property(statisticsRows, statisticsRows, statisticsRows, (a, b, c) => {
      expect(mergeStatistics(a, b)).toEqual(mergeStatistics(b, a))
      expect(mergeStatistics(mergeStatistics(a, b), c)).toEqual(mergeStatistics(a, mergeStatistics(b, c)))
      const merged = mergeStatistics(a, b)
      expect(mergeStatistics(merged, a)).toEqual(merged)
      expect(mergeStatistics(merged, merged)).toEqual(merged)
    }),
  )
})

test('the newest version of a writer and offer wins within an epoch, and a later epoch wins over all', () => {
  const row = (epoch: number, version: number) => statisticsRow({ epoch, version })
  expect(mergeStatistics([row(1, 3), row(1, 2)], [row(1, 7)])).toEqual([row(1, 7)])
  expect(mergeStatistics([row(1, 7)], [row(2, 1)])).toEqual([row(2, 1)])
  expect(mergeStatistics([row(1, 7)], [statisticsRow({ offer: 'other' })])).toHaveLength(2)
})

test('readers of a conversation merge to the same outcome in any order, however often', () => {
  fc.assert(
    fc.property(readers, readers, readers, (a, b, c) => {
      expect(mergeReaders(a, b)).toEqual(mergeReaders(b, a))
      expect(mergeReaders(mergeReaders(a, b), c)).toEqual(mergeReaders(a, mergeReaders(b, c)))
      const merged = mergeReaders(a, b)
      expect(mergeReaders(merged, b)).toEqual(merged)
      expect(merged.length).toBeLessThanOrEqual(maxReaders)
      expect(new Set(merged.map(({ offer }) => offer)).size).toBe(merged.length)
    }),
  )
})
