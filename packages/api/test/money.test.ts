import { budgetHeaders } from '@signalbox/dialects/errors'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { centsOf, dollarsOf } from '../src/management/replies/balance.ts'

const amount = fc.integer({ min: -1e15, max: 1e15 })

test('cents are rounded down by less than a cent', () => {
  void fc.assert(
    fc.property(amount, microdollars => {
      const rest = microdollars - centsOf(microdollars) * 10_000
      expect(Number.isSafeInteger(centsOf(microdollars)) && rest >= 0 && rest < 10_000).toBe(true)
    }),
  )
})

test('dollars equal cents, with two decimal places', () => {
  void fc.assert(
    fc.property(amount, microdollars => {
      const dollars = dollarsOf(microdollars)
      expect(dollars).toMatch(/^-?(0|[1-9]\d*)\.\d\d$/)
      expect(BigInt(dollars.replace('.', ''))).toBe(BigInt(centsOf(microdollars)))
    }),
  )
})

test.each([
  [0, 0, '0.00'],
  [9_999, 0, '0.00'],
  [10_000, 1, '0.01'],
  [12_345_678, 1_234, '12.34'],
  [-1, -1, '-0.01'],
  [-10_000, -1, '-0.01'],
  [-1_050_000, -105, '-1.05'],
  [-12_345_678, -1_235, '-12.35'],
])('%i microdollars are %i cents and %s dollars', (microdollars, cents, dollars) => {
  expect([centsOf(microdollars), dollarsOf(microdollars)]).toEqual([cents, dollars])
})

test('a budget is in USD without exponents, to the microdollar', () => {
  const whole = fc.integer({ min: 0, max: 1e15 })
  void fc.assert(
    fc.property(whole, whole, whole, (limit, used, remaining) => {
      const headers = budgetHeaders({ limit, used, remaining, resetsAt: Date.UTC(2026, 1) })
      const { 'x-budget-reset': reset, ...amounts } = headers
      expect(reset).toBe('2026-02-01T00:00:00.000Z')
      expect(Object.values(amounts).map(usd => [/^\d+(\.\d+)?$/.test(usd), Math.round(Number(usd) * 1_000_000)])).toEqual([
        [true, limit],
        [true, used],
        [true, remaining],
      ])
    }),
  )
  expect(budgetHeaders({ limit: 5, used: 0, remaining: 5 })['x-budget-reset']).toBe('never')
  expect(budgetHeaders(undefined)).toEqual({})
})
