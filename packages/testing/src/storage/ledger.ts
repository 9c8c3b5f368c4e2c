import { promised } from '@signalbox/storage/awaitable'
import { maxSum } from '@signalbox/storage/faults'
import type { LedgerStore } from '@signalbox/storage/ledger'
import { describe, expect, test } from 'vitest'
import { credit, creditAs, hold } from './ledger-samples.ts'
import { type MakeStorage, ODD_STRINGS, spoil, T0 } from './subject.ts'

/** Conformance suite for balances, settlements and credit. `describeLedger(opener(make))` */
export function describeLedger(open: MakeStorage): void {
  const openLedger = async (): Promise<LedgerStore> => (await open()).storage.ledger

  describe('settling', () => {
    test('settling twice moves money once, also concurrently, whatever the second call contains', async () => {
      const ledger = await openLedger()
      await credit(ledger, 'a', 100)
      await ledger.reserve(hold('h', 60))
      await Promise.all(Array.from({ length: 20 }, () => ledger.settle({ id: 'h', amounts: { a: 25 }, at: T0 })))
      await ledger.settle({ id: 'h', amounts: { a: 99, b: 99 }, at: T0 })
      expect(await ledger.balance('a')).toEqual({ balance: 75, held: 0, credited: 100, spent: 25 })
      expect(await ledger.entries('a', { limit: 10 })).toHaveLength(2)
      expect(await ledger.entries('b', { limit: 10 })).toEqual([])
    })

    test('an account that is not named is released without a charge; naming none releases all', async () => {
      const ledger = await openLedger()
      await credit(ledger, 'a', 100)
      const both = [
        { account: 'a', floor: 0 },
        { account: 'b', floor: -100 },
      ] as const
      await ledger.reserve(hold('h1', 60, ...both))
      await ledger.settle({ id: 'h1', amounts: { b: 10 }, at: T0 })
      expect(await ledger.balance('a')).toEqual({ balance: 100, held: 0, credited: 100, spent: 0 })
      expect(await ledger.balance('b')).toEqual({ balance: -10, held: 0, credited: 0, spent: 10 })
      await ledger.reserve(hold('h2', 60, ...both))
      await ledger.settle({ id: 'h2', amounts: {}, at: T0 })
      expect((await ledger.balance('a')).held).toBe(0)
      expect(await ledger.entries('a', { limit: 10 })).toHaveLength(1)
      await ledger.settle({ id: 'h2', amounts: { a: 5 }, at: T0 })
      expect((await ledger.balance('a')).spent).toBe(0)
    })

    test('the true amount may exceed the hold, and the balance its floor: what was used is owed', async () => {
      const ledger = await openLedger()
      await credit(ledger, 'a', 100)
      await ledger.reserve(hold('h', 60))
      await ledger.settle({ id: 'h', amounts: { a: 130 }, at: T0 })
      expect(await ledger.balance('a')).toEqual({ balance: -30, held: 0, credited: 100, spent: 130 })
    })

    test('an account that was not held may be charged', async () => {
      const ledger = await openLedger()
      await ledger.reserve(hold('h', 10, { account: 'a', floor: -100 }))
      await ledger.settle({ id: 'h', amounts: { other: 7 }, at: T0 })
      expect(await ledger.balance('other')).toEqual({ balance: -7, held: 0, credited: 0, spent: 7 })
    })

    test('an id that was never held is charged once', async () => {
      const ledger = await openLedger()
      for (let n = 0; n < 2; n++) await ledger.settle({ id: 'unknown', amounts: { a: 5 }, at: T0 })
      expect(await ledger.balance('a')).toEqual({ balance: -5, held: 0, credited: 0, spent: 5 })
    })

    test('an amount of 0 makes an entry of 0', async () => {
      const ledger = await openLedger()
      await ledger.settle({ id: 's', amounts: { a: 0 }, at: T0 })
      expect(await ledger.entries('a', { limit: 10 })).toEqual([
        { id: 's', account: 'a', kind: 'usage', amount: 0, balanceAfter: 0, at: T0 },
      ])
    })
  })

  describe('credit', () => {
    test('a repeated credit of one account is one entry; the same id on another account is a separate entry', async () => {
      const ledger = await openLedger()
      await Promise.all([creditAs(ledger, 'c', ['a', 10]), creditAs(ledger, 'c', ['a', 10]), creditAs(ledger, 'c', ['b', 10])])
      await creditAs(ledger, 'c', ['a', 99])
      expect((await ledger.balance('a')).balance).toBe(10)
      expect((await ledger.balance('b')).balance).toBe(10)
    })

    test('a credit and a settlement may carry the same id', async () => {
      const ledger = await openLedger()
      await creditAs(ledger, 'x', ['a', 10])
      await ledger.settle({ id: 'x', amounts: { a: 4 }, at: T0 })
      await creditAs(ledger, 'x', ['', 10])
      expect(await ledger.balance('a')).toEqual({ balance: 6, held: 0, credited: 10, spent: 4 })
      expect((await ledger.balance('')).balance).toBe(10)
    })
  })

  describe('sums at the largest safe integer', () => {
    const most = (ledger: LedgerStore) => creditAs(ledger, 'most', ['a', maxSum])
    const adjust = (ledger: LedgerStore, id: string, amount: number) =>
      ledger.credit({ id, account: 'a', amount, at: T0, kind: 'adjustment' })

    test('are kept, and a credit beyond them is refused and changes nothing', async () => {
      const ledger = await openLedger()
      await most(ledger)
      await most(ledger)
      const full = { balance: maxSum, held: 0, credited: maxSum, spent: 0 }
      expect(await ledger.balance('a')).toEqual(full)
      for (const amount of [1, maxSum])
        await expect(promised(() => creditAs(ledger, `more ${amount}`, ['a', amount]))).rejects.toThrow(RangeError)
      await expect(promised(() => adjust(ledger, 'more', 1))).rejects.toThrow('Credit less')
      expect(await ledger.balance('a')).toEqual(full)
      expect(await ledger.entries('a', { limit: 9 })).toMatchObject([{ id: 'most', balanceAfter: maxSum }])
    })

    test('accept as much again as an adjustment removed, also under an id that was refused before', async () => {
      const ledger = await openLedger()
      await most(ledger)
      await expect(promised(() => creditAs(ledger, 'c', ['a', 5]))).rejects.toThrow(RangeError)
      await adjust(ledger, 'down', -5)
      await creditAs(ledger, 'c', ['a', 5])
      expect(await ledger.balance('a')).toMatchObject({ balance: maxSum, credited: maxSum })
    })

    test('include the total credited: spending makes no room in it', async () => {
      const ledger = await openLedger()
      await most(ledger)
      await ledger.settle({ id: 's', amounts: { a: 1_000 }, at: T0 })
      await expect(promised(() => creditAs(ledger, 'c', ['a', 1]))).rejects.toThrow(RangeError)
      expect(await ledger.balance('a')).toEqual({ balance: maxSum - 1_000, held: 0, credited: maxSum, spent: 1_000 })
    })

    test('also bound an account below 0', async () => {
      const ledger = await openLedger()
      await adjust(ledger, 'down', -maxSum)
      await expect(promised(() => adjust(ledger, 'more', -1))).rejects.toThrow(RangeError)
      await adjust(ledger, 'up', 1)
      expect(await ledger.balance('a')).toMatchObject({ balance: 1 - maxSum, credited: 1 - maxSum })
    })

    test('bound the held amount, even without a floor', async () => {
      const ledger = await openLedger()
      const open = { account: 'a', floor: Number.NEGATIVE_INFINITY }
      expect(await ledger.reserve(hold('h1', maxSum - 5, open))).toBeUndefined()
      expect(await ledger.reserve(hold('h2', 6, open))).toEqual({ account: 'a', available: 5 })
      expect(await ledger.extend({ id: 'h1', accounts: [{ ...open, amount: 6 }] })).toEqual({ account: 'a', available: 5 })
      expect(await ledger.extend({ id: 'h1', accounts: [{ ...open, amount: 5 }] })).toBeUndefined()
      expect((await ledger.balance('a')).held).toBe(maxSum)
    })

    test('stop at the bound when more is spent, and the entry is still recorded', async () => {
      const ledger = await openLedger()
      for (const id of ['s1', 's2']) await ledger.settle({ id, amounts: { a: maxSum - 1 }, at: T0 })
      expect(await ledger.balance('a')).toEqual({ balance: -maxSum, held: 0, credited: 0, spent: maxSum })
      expect(await ledger.entries('a', { limit: 9 })).toMatchObject([
        { id: 's2', amount: 1 - maxSum, balanceAfter: -maxSum },
        { id: 's1', amount: 1 - maxSum, balanceAfter: 1 - maxSum },
      ])
    })
  })

  test('unusual strings are accepted as accounts and ids', async () => {
    const ledger = await openLedger()
    for (const odd of ODD_STRINGS) {
      await creditAs(ledger, odd, [odd, 100])
      expect(await ledger.reserve(hold(odd, 50, { account: odd, floor: 0 }))).toBeUndefined()
      expect((await ledger.balance(odd)).held).toBe(50)
      await ledger.settle({ id: odd, amounts: { [odd]: 30 }, at: T0 })
      await ledger.settle({ id: odd, amounts: { [odd]: 30 }, at: T0 })
      expect(await ledger.balance(odd)).toEqual({ balance: 70, held: 0, credited: 100, spent: 30 })
      expect(await ledger.entries(odd, { limit: 9 })).toHaveLength(2)
    }
  })

  test('mutating an argument or a result changes nothing in the ledger', async () => {
    const ledger = await openLedger()
    await creditAs(ledger, 'c', ['a', 100])
    const asked = hold('h', 60)
    await ledger.reserve(asked)
    for (const value of [asked, await ledger.balance('a'), await ledger.entries('a', { limit: 9 })]) spoil(value)
    expect(await ledger.balance('a')).toEqual({ balance: 100, held: 60, credited: 100, spent: 0 })
    expect(await ledger.entries('a', { limit: 9 })).toEqual([
      { id: 'c', account: 'a', kind: 'credit', amount: 100, balanceAfter: 100, at: T0 },
    ])
    await ledger.settle({ id: 'h', amounts: {}, at: T0 })
    expect((await ledger.balance('a')).held).toBe(0)
  })
}
