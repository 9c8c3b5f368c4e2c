import { promised } from '@signalbox/storage/awaitable'
import type { LedgerStore } from '@signalbox/storage/ledger'
import { describe, expect, test } from 'vitest'
import { credit, creditAs, hold } from './ledger-samples.ts'
import { type MakeStorage, spoil, T0 } from './subject.ts'

/** Conformance suite for holds with different amounts per account. `describeSettlements(opener(make))` */
export function describeSettlements(open: MakeStorage): void {
  const openLedger = async (): Promise<LedgerStore> => (await open()).storage.ledger
  const heldOn = async (ledger: LedgerStore) => Promise.all(['a', 'b', 'c'].map(async account => (await ledger.balance(account)).held))

  describe('a hold with an amount for each account', () => {
    const wide = hold(
      'h',
      40,
      { account: 'a', floor: 0 },
      { account: 'b', floor: -200, amount: 70 },
      { account: 'c', floor: Number.NEGATIVE_INFINITY, amount: 0 },
    )

    test('holds the amount of each account, and the amount of the hold where an account has none', async () => {
      const ledger = await openLedger()
      await credit(ledger, 'a', 100)
      expect(await ledger.reserve(wide)).toBeUndefined()
      expect(await heldOn(ledger)).toEqual([40, 70, 0])
    })

    test('is checked on each account against its own amount', async () => {
      const ledger = await openLedger()
      await credit(ledger, 'a', 100)
      const asking = (b: number) => ledger.reserve(hold(`h${b}`, 100, { account: 'a', floor: 0 }, { account: 'b', floor: -50, amount: b }))
      expect(await asking(51)).toEqual({ account: 'b', available: 50 })
      expect(await heldOn(ledger)).toEqual([0, 0, 0])
      expect(await asking(50)).toBeUndefined()
      expect(
        await ledger.reserve(hold('more', 100, { account: 'a', floor: 0, amount: 0 }, { account: 'b', floor: -50, amount: 1 })),
      ).toEqual({
        account: 'b',
        available: 0,
      })
      expect(await heldOn(ledger)).toEqual([100, 50, 0])
    })

    test('frees each account’s own amount when it is settled, charged or not', async () => {
      const ledger = await openLedger()
      await credit(ledger, 'a', 100)
      await ledger.reserve(wide)
      await ledger.reserve({ ...wide, id: 'other' })
      await ledger.settle({ id: 'h', amounts: { b: 5, c: 6 }, at: T0 })
      expect(await heldOn(ledger)).toEqual([40, 70, 0])
      expect((await ledger.balance('b')).balance).toBe(-5)
      await ledger.settle({ id: 'other', amounts: {}, at: T0 })
      expect(await heldOn(ledger)).toEqual([0, 0, 0])
      expect(await ledger.balance('c')).toEqual({ balance: -6, held: 0, credited: 0, spent: 6 })
    })

    test('is one hold when it is repeated, and does not change afterwards', async () => {
      const ledger = await openLedger()
      await credit(ledger, 'a', 100)
      const asked = structuredClone(wide)
      await ledger.reserve(asked)
      spoil(asked)
      await ledger.reserve({ ...wide, amount: 1 })
      expect(await heldOn(ledger)).toEqual([40, 70, 0])
      await ledger.settle({ id: 'h', amounts: {}, at: T0 })
      expect(await heldOn(ledger)).toEqual([0, 0, 0])
    })

    test('of many concurrent holds, as many are admitted as the tightest account has room for', async () => {
      const ledger = await openLedger()
      await credit(ledger, 'a', 1_000)
      const asking = (n: number) => hold(`h${n}`, 10, { account: 'a', floor: 0 }, { account: 'b', floor: -100, amount: 3 })
      const answers = await Promise.all(Array.from({ length: 200 }, (_, n) => ledger.reserve(asking(n))))
      expect(answers.filter(refusal => refusal === undefined)).toHaveLength(33)
      expect(await heldOn(ledger)).toEqual([330, 99, 0])
    })

    test('with an invalid amount is refused and changes nothing', async () => {
      const ledger = await openLedger()
      for (const amount of [-1, 0.5, Number.NaN, 2 ** 53])
        await expect(promised(() => ledger.reserve(hold('h', 1, { account: 'b', floor: -9, amount })))).rejects.toThrow('amount')
      expect(await heldOn(ledger)).toEqual([0, 0, 0])
    })
  })

  describe('adjustments', () => {
    const adjust = (ledger: LedgerStore, id: string, amount: number) =>
      ledger.credit({ id, account: 'a', amount, at: T0, kind: 'adjustment', note: `Because of ${id}` })

    test('count as credit, whatever their sign, and may take an account below 0', async () => {
      const ledger = await openLedger()
      await credit(ledger, 'a', 100)
      await adjust(ledger, 'up', 20)
      await adjust(ledger, 'down', -150)
      expect(await ledger.balance('a')).toEqual({ balance: -30, held: 0, credited: -30, spent: 0 })
      expect(await ledger.reserve(hold('h', 1))).toEqual({ account: 'a', available: 0 })
      expect(await ledger.entries('a', { limit: 2 })).toStrictEqual([
        { id: 'down', account: 'a', kind: 'adjustment', amount: -150, balanceAfter: -30, at: T0, note: 'Because of down' },
        { id: 'up', account: 'a', kind: 'adjustment', amount: 20, balanceAfter: 120, at: T0, note: 'Because of up' },
      ])
    })

    test('do not change what is held', async () => {
      const ledger = await openLedger()
      await credit(ledger, 'a', 100)
      await ledger.reserve(hold('h', 80))
      await adjust(ledger, 'down', -50)
      expect(await ledger.balance('a')).toEqual({ balance: 50, held: 80, credited: 50, spent: 0 })
      await ledger.settle({ id: 'h', amounts: { a: 70 }, at: T0 })
      expect(await ledger.balance('a')).toEqual({ balance: -20, held: 0, credited: 50, spent: 70 })
    })

    test('are booked once, and share their ids with the credits of the account', async () => {
      const ledger = await openLedger()
      await Promise.all(Array.from({ length: 10 }, () => adjust(ledger, 'x', -5)))
      await creditAs(ledger, 'x', ['a', 99])
      await creditAs(ledger, 'y', ['a', 10])
      await adjust(ledger, 'y', -10)
      expect((await ledger.balance('a')).balance).toBe(5)
      await ledger.settle({ id: 'x', amounts: { a: 1 }, at: T0 })
      expect((await ledger.balance('a')).balance).toBe(4)
    })

    test('of 0 or of a fraction are refused, and so is a credit below 0', async () => {
      const ledger = await openLedger()
      for (const amount of [0, 0.5, Number.NaN, Number.NEGATIVE_INFINITY])
        await expect(promised(() => adjust(ledger, 'x', amount))).rejects.toThrow('amount')
      await expect(promised(() => ledger.credit({ id: 'x', account: 'a', amount: -1, at: T0, kind: 'credit' }))).rejects.toThrow('amount')
      expect(await ledger.entries('a', { limit: 9 })).toEqual([])
    })
  })
}
