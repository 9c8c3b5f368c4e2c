import { dayMs } from '@signalbox/dialects/protocol'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { budgetAccount, byokAccount, periodOf } from './accounts.ts'

const lengths = { day: [1, 1], week: [7, 7], month: [28, 31] } as const
const repeating = ['day', 'week', 'month'] as const

const moment = fc.integer({ min: Date.UTC(1970, 0), max: Date.UTC(2400, 0) })
const bounds = (period: (typeof repeating)[number], at: number): readonly [number, number] => {
  const { start = Number.NaN, end = Number.NaN } = periodOf(period, at)
  return [start, end]
}

test.each(repeating)('every time lies within its %s, which consists of whole days and has the expected length', period => {
  void fc.assert(
    fc.property(moment, at => {
      const [start, end] = bounds(period, at)
      const [least, most] = lengths[period]
      const days = (end - start) / dayMs
      expect(start <= at && at < end).toBe(true)
      expect(Number.isInteger(start / dayMs) && days >= least && days <= most).toBe(true)
    }),
  )
})

test.each(repeating)('all times within a %s give the same period, and the next one begins where it ends', period => {
  void fc.assert(
    fc.property(moment, fc.double({ min: 0, max: 1, noNaN: true }), (at, share) => {
      const [start, end] = bounds(period, at)
      const within = Math.min(end - 1, start + Math.floor(share * (end - start)))
      expect(bounds(period, within)).toEqual([start, end])
      expect(bounds(period, end)[0]).toBe(end)
      expect(bounds(period, start - 1)[1]).toBe(start)
    }),
  )
})

test('weeks begin on Monday, months on the 1st, and each period has its own account', () => {
  void fc.assert(
    fc.property(moment, moment, (at, other) => {
      expect(new Date(bounds('week', at)[0]).getUTCDay()).toBe(1)
      expect(new Date(bounds('month', at)[0]).getUTCDate()).toBe(1)
      for (const period of repeating) {
        const same = bounds(period, at)[0] === bounds(period, other)[0]
        expect(budgetAccount('b', periodOf(period, at)) === budgetAccount('b', periodOf(period, other))).toBe(same)
      }
      expect(byokAccount('w', at) === byokAccount('w', other)).toBe(bounds('month', at)[0] === bounds('month', other)[0])
    }),
  )
})

test.each([
  [2024, 29],
  [2023, 28],
  [2000, 29],
  [2100, 28],
])('February of %i has %i days', (year, days) => {
  const [start, end] = bounds('month', Date.UTC(year, 1, 15))
  expect((end - start) / dayMs).toBe(days)
})

test('a week may span two years, and the period of a total never ends', () => {
  expect(bounds('week', Date.UTC(2026, 0, 1))).toEqual([Date.UTC(2025, 11, 29), Date.UTC(2026, 0, 5)])
  expect(bounds('month', Date.UTC(2026, 11, 31, 23, 59, 59, 999))).toEqual([Date.UTC(2026, 11), Date.UTC(2027, 0)])
  expect(periodOf('total', 0)).toEqual({})
  expect(budgetAccount('b', periodOf('total', 0))).toBe('budget:b')
})
