import { promised } from '@signalbox/storage/awaitable'
import type { LedgerStore } from '@signalbox/storage/ledger'
import { describe, expect, test } from 'vitest'
import { credit, creditAs, hold } from './ledger-samples.ts'
import { type MakeStorage, T0 } from './subject.ts'

/** Conformance suite for placing holds. `describeHolds(opener(make))` */
export function describeHolds(open: MakeStorage): void {
  const openLedger = async (): Promise<LedgerStore> => (await open()).storage.ledger

  describe('reserving', () => {
    test('of 1,000 concurrent holds on money for 333, exactly 333 are admitted', async () => {
      const ledger = await openLedger()
      await credit(ledger, 'a', 3_330)
      const answers = await Promise.all(Array.from({ length: 1_000 }, (_, n) => ledger.reserve(hold(`h${n}`, 10))))
      expect(answers.filter(refusal => refusal === undefined)).toHaveLength(333)
      expect(answers.find(refusal => refusal)).toEqual({ account: 'a', available: 0 })
      expect(await ledger.balance('a')).toEqual({ balance: 3_330, held: 3_330, credited: 3_330, spent: 0 })
    })

    test('reserves on all accounts or none; the refusal names the account without room and its available amount', async () => {
      const ledger = await openLedger()
      await credit(ledger, 'a', 100)
      await credit(ledger, 'b', 30)
      const both = [
        { account: 'a', floor: 0 },
        { account: 'b', floor: 0 },
      ] as const
      expect(await ledger.reserve(hold('h1', 31, ...both))).toEqual({ account: 'b', available: 30 })
      expect((await ledger.balance('a')).held).toBe(0)
      expect(await ledger.reserve(hold('h2', 20, ...both))).toBeUndefined()
      expect(await ledger.reserve(hold('h3', 20, ...both))).toEqual({ account: 'b', available: 10 })
      expect((await ledger.balance('a')).held).toBe(20)
      expect((await ledger.balance('b')).held).toBe(20)
    })

    test('of many concurrent holds on two accounts, the poorer account decides, and no more is held on the other', async () => {
      const ledger = await openLedger()
      await credit(ledger, 'a', 1_000)
      await credit(ledger, 'b', 70)
      const both = [
        { account: 'a', floor: 0 },
        { account: 'b', floor: 0 },
      ] as const
      await Promise.all(Array.from({ length: 100 }, (_, n) => ledger.reserve(hold(`h${n}`, 10, ...both))))
      expect((await ledger.balance('a')).held).toBe(70)
    })

    test('a floor below 0 is a budget for an account without credit', async () => {
      const ledger = await openLedger()
      const budget = { account: 'budget', floor: -50 }
      expect(await ledger.reserve(hold('h1', 51, budget))).toEqual({ account: 'budget', available: 50 })
      expect(await ledger.reserve(hold('h2', 50, budget))).toBeUndefined()
      expect(await ledger.reserve(hold('h3', 1, budget))).toEqual({ account: 'budget', available: 0 })
    })

    test('a floor above 0 keeps a reserve; a floor of -Infinity never refuses', async () => {
      const ledger = await openLedger()
      await credit(ledger, 'a', 100)
      expect(await ledger.reserve(hold('h1', 41, { account: 'a', floor: 60 }))).toEqual({ account: 'a', available: 40 })
      expect(await ledger.reserve(hold('h2', 1_000_000, { account: 'a', floor: Number.NEGATIVE_INFINITY }))).toBeUndefined()
      expect(await ledger.reserve(hold('h3', 1_000_000, { account: 'new', floor: Number.NEGATIVE_INFINITY }))).toBeUndefined()
      expect((await ledger.balance('a')).held).toBe(1_000_000)
    })

    test('an account in debt has 0 available, never less', async () => {
      const ledger = await openLedger()
      await ledger.settle({ id: 's', amounts: { a: 70 }, at: T0 })
      expect(await ledger.reserve(hold('h', 1))).toEqual({ account: 'a', available: 0 })
    })

    test('the same id twice is one hold with the result of the first, also concurrently and after it was settled', async () => {
      const ledger = await openLedger()
      await credit(ledger, 'a', 100)
      expect(await Promise.all([ledger.reserve(hold('h', 60)), ledger.reserve(hold('h', 60))])).toEqual([undefined, undefined])
      expect((await ledger.balance('a')).held).toBe(60)
      await ledger.settle({ id: 'h', amounts: { a: 60 }, at: T0 })
      expect(await ledger.reserve(hold('h', 60))).toBeUndefined()
      expect(await ledger.balance('a')).toEqual({ balance: 40, held: 0, credited: 100, spent: 60 })
    })

    test('a refusal holds nothing, and the hold may be tried again', async () => {
      const ledger = await openLedger()
      expect(await ledger.reserve(hold('h', 60))).toEqual({ account: 'a', available: 0 })
      await credit(ledger, 'a', 100)
      expect(await ledger.reserve(hold('h', 60))).toBeUndefined()
      expect((await ledger.balance('a')).held).toBe(60)
    })

    test('invalid amounts and floors are refused and change nothing', async () => {
      const ledger = await openLedger()
      await credit(ledger, 'a', 100)
      for (const amount of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])
        await expect(promised(() => ledger.reserve(hold('h', amount)))).rejects.toThrow('amount')
      for (const floor of [0.5, Number.NaN, Number.POSITIVE_INFINITY])
        await expect(promised(() => ledger.reserve(hold('h', 1, { account: 'a', floor })))).rejects.toThrow('floor')
      await expect(promised(() => ledger.reserve(hold('h', 1, { account: 'a', floor: 0 }, { account: 'a', floor: 0 })))).rejects.toThrow(
        'twice',
      )
      for (const amount of [-1, 0.5, Number.NaN])
        await expect(promised(() => ledger.settle({ id: 's', amounts: { b: 1, a: amount }, at: T0 }))).rejects.toThrow('amount')
      for (const amount of [-1, 0, 0.5, Number.NaN])
        await expect(promised(() => creditAs(ledger, 'other', ['a', amount]))).rejects.toThrow('amount')
      expect(await ledger.balance('a')).toEqual({ balance: 100, held: 0, credited: 100, spent: 0 })
      expect(await ledger.balance('b')).toEqual({ balance: 0, held: 0, credited: 0, spent: 0 })
    })
  })
}
