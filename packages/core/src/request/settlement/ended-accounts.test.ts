import { dayMs } from '@signalbox/dialects/protocol'
import { memoryStorage } from '@signalbox/storage-memory'
import { expect, test } from 'vitest'
import { budgetAccount, periodOf } from '../../access/accounts.ts'
import { forgetEnded, hasEnded } from './ended-accounts.ts'

const at = Date.UTC(2026, 2, 10, 12)
const periods = ['day', 'week', 'month'] as const

test.each(periods)('an account of a %s ends a week after its period, and not before, whatever the user’s name is', period => {
  const { end = 0 } = periodOf(period, at)
  for (const user of ['u', 'day', 'session', 'x%3Aday%3A2020-01-01', '2020-01-01', 'month:'])
    for (const suffix of ['', '+byok']) {
      const account = budgetAccount(`app:user:${encodeURIComponent(user)}:${period}${suffix}`, periodOf(period, at))
      expect([account, hasEnded(account, end + 7 * dayMs)]).toEqual([account, false])
      expect([account, hasEnded(account, end + 8 * dayMs)]).toEqual([account, true])
    }
})

test('a session’s account ends a week after the date on which it expires', () => {
  const account = 'budget:app:session:01a1fd6c-4db3-76f2-bb09-734d779bb6f4:2026-03-10'
  expect([7, 8].map(days => hasEnded(account, Date.UTC(2026, 2, 11) + days * dayMs))).toEqual([false, true])
})

test('a total account never ends, and one of an unknown period ends as a monthly one would', () => {
  const never = [
    'budget:app:user:2020-01-01:total',
    'budget:app:group:day:total+byok',
    'budget:01a1',
    'budget:app:user:day%3A2020-01-01:total',
    'credit:app:2020-01-01',
  ]
  expect(never.filter(account => hasEnded(account, at + 10_000 * dayMs))).toEqual([])
  for (const period of periods) {
    const account = budgetAccount('01a1fd6c-4db3-76f2-bb09-734d779bb6f4', periodOf(period, at))
    const { end = 0 } = periodOf(period, at)
    expect([hasEnded(account, end + 7 * dayMs), hasEnded(account, end + 39 * dayMs)]).toEqual([false, true])
  }
})

test('a pass examines a bounded number of accounts, and the next one continues after them', async () => {
  const { ledger } = memoryStorage()
  const amounts = Object.fromEntries(Array.from({ length: 7_000 }, (_, n) => [`budget:app:user:${n}:day:2026-0${1 + (n % 3)}-05`, 1]))
  await ledger.settle({ id: 'r', amounts, at })
  const place = await forgetEnded(ledger, { now: at, after: undefined })
  expect(place).toBeDefined()
  expect(await forgetEnded(ledger, { now: at, after: place })).toBeUndefined()
  const left = await ledger.accounts({ prefix: 'budget:', limit: 10_000 })
  expect(left).toHaveLength(7_000 / 3 - (7_000 % 3) / 3)
  expect(left.every(name => name.endsWith('2026-03-05'))).toBe(true)
})
