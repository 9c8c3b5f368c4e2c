import type { EntryQuery, LedgerStore } from '@signalbox/storage/ledger'
import { describe, expect, test } from 'vitest'
import { creditAs, hold } from './ledger-samples.ts'
import { HOUR, type MakeStorage, ODD_STRINGS, T0 } from './subject.ts'

/** Conformance suite for ledger entries. `describeEntries(opener(make))` */
export function describeEntries(open: MakeStorage): void {
  const openLedger = async (): Promise<LedgerStore> => (await open()).storage.ledger
  const idsOf = async (ledger: LedgerStore, query: Partial<EntryQuery>) =>
    (await ledger.entries('a', { limit: 100, ...query })).map(({ id }) => id)

  describe('entries', () => {
    test('the sum of all entries is the balance, and each entry carries the balance after it', async () => {
      const ledger = await openLedger()
      await creditAs(ledger, 'some', ['a', 1_000])
      await Promise.all(Array.from({ length: 50 }, (_, n) => ledger.reserve(hold(`h${n}`, 10))))
      await Promise.all(Array.from({ length: 50 }, (_, n) => ledger.settle({ id: `h${n}`, amounts: { a: n, b: 1 }, at: T0 + n })))
      await creditAs(ledger, 'more', ['a', 77])
      const oldestFirst = [...(await ledger.entries('a', { limit: 1_000 }))].reverse()
      let running = 0
      for (const { amount, balanceAfter } of oldestFirst) {
        running += amount
        expect(balanceAfter).toBe(running)
      }
      expect(oldestFirst).toHaveLength(52)
      expect(await ledger.balance('a')).toEqual({ balance: running, held: 0, credited: 1_077, spent: 1_225 })
      expect(await ledger.entries('b', { limit: 1_000 })).toHaveLength(50)
    })

    test('are listed newest first, in pages that neither skip nor repeat', async () => {
      const ledger = await openLedger()
      for (let n = 0; n < 25; n++)
        await (n % 2 ? ledger.settle({ id: `e${n}`, amounts: { a: 1, z: 2 }, at: T0 }) : creditAs(ledger, `e${n}`, ['a', 5]))
      const seen: string[] = []
      for (let before: string | undefined; ; before = seen.at(-1)) {
        const page = await idsOf(ledger, { limit: 4, ...(before !== undefined && { before }) })
        if (page.length === 0) break
        seen.push(...page)
      }
      expect(seen).toEqual(Array.from({ length: 25 }, (_, n) => `e${24 - n}`))
      expect(await ledger.entries('a', { limit: 5, before: 'unknown' })).toEqual([])
      expect(await ledger.entries('z', { limit: 5, before: 'e2' })).toEqual([])
      expect(await ledger.entries('unknown', { limit: 5 })).toEqual([])
      for (const limit of [0, -1]) expect(await ledger.entries('a', { limit })).toEqual([])
    })

    test('have all their fields, and no note if none was given', async () => {
      const ledger = await openLedger()
      await creditAs(ledger, 'c', ['a', 10])
      await ledger.credit({ id: 'n', account: 'a', amount: 1, at: T0, note: '' })
      await ledger.settle({ id: 's', amounts: { a: 4 }, at: T0 + 1 })
      expect(await ledger.entries('a', { limit: 9 })).toStrictEqual([
        { id: 's', account: 'a', kind: 'usage', amount: -4, balanceAfter: 7, at: T0 + 1 },
        { id: 'n', account: 'a', kind: 'credit', amount: 1, balanceAfter: 11, at: T0, note: '' },
        { id: 'c', account: 'a', kind: 'credit', amount: 10, balanceAfter: 10, at: T0 },
      ])
    })

    test('are filtered by time from start to end (exclusive), in booking order even if times are out of order', async () => {
      const ledger = await openLedger()
      const times = [5 * HOUR, 0, 2 * HOUR, 2 * HOUR - 1, 9 * HOUR, -HOUR, 2 * HOUR + 1, -T0, 5 * HOUR]
      for (const [n, shift] of times.entries()) await ledger.settle({ id: `e${n}`, amounts: { a: 1, b: 1 }, at: T0 + shift })
      const between = (from: number, to: number) => idsOf(ledger, { from: T0 + from, to: T0 + to })
      expect(await idsOf(ledger, {})).toEqual(['e8', 'e7', 'e6', 'e5', 'e4', 'e3', 'e2', 'e1', 'e0'])
      expect(await between(2 * HOUR, 5 * HOUR)).toEqual(['e6', 'e2'])
      expect(await between(2 * HOUR - 1, 2 * HOUR)).toEqual(['e3'])
      expect(await between(0, 10 * HOUR)).toEqual(['e8', 'e6', 'e4', 'e3', 'e2', 'e1', 'e0'])
      expect(await between(2 * HOUR, 2 * HOUR)).toEqual([])
      expect(await between(6 * HOUR, 9 * HOUR)).toEqual([])
      expect(await idsOf(ledger, { from: T0 + 5 * HOUR })).toEqual(['e8', 'e4', 'e0'])
      expect(await idsOf(ledger, { to: T0 })).toEqual(['e7', 'e5'])
      expect(await idsOf(ledger, { from: T0, limit: 2 })).toEqual(['e8', 'e6'])
      expect(await idsOf(ledger, { from: T0, before: 'e4', limit: 2 })).toEqual(['e3', 'e2'])
      expect(await ledger.entries('c', { from: 0, to: T0 * 2, limit: 9 })).toEqual([])
    })

    test('are filtered by id: credits and charges, of this account only', async () => {
      const ledger = await openLedger()
      await creditAs(ledger, 'x', ['a', 10])
      await creditAs(ledger, 'x', ['b', 10])
      await creditAs(ledger, 'y', ['a', 10])
      await ledger.settle({ id: 'x', amounts: { a: 3, b: 4 }, at: T0 + 5 })
      const ofX = { limit: 9, id: 'x' }
      expect((await ledger.entries('a', ofX)).map(({ kind, amount }) => [kind, amount])).toEqual([
        ['usage', -3],
        ['credit', 10],
      ])
      expect(await ledger.entries('a', { ...ofX, limit: 1 })).toHaveLength(1)
      expect((await ledger.entries('a', { ...ofX, to: T0 + 5 })).map(({ kind }) => kind)).toEqual(['credit'])
      expect((await ledger.entries('a', { ...ofX, from: T0 + 5 })).map(({ kind }) => kind)).toEqual(['usage'])
      expect((await ledger.entries('a', { ...ofX, before: 'y' })).map(({ kind }) => kind)).toEqual(['credit'])
      expect(await ledger.entries('a', { limit: 9, id: 'unknown' })).toEqual([])
      expect(await ledger.entries('c', ofX)).toEqual([])
    })

    test('keep unusual ids and notes unchanged', async () => {
      const ledger = await openLedger()
      for (const odd of ODD_STRINGS) await ledger.credit({ id: odd, account: odd, amount: 1, at: T0, kind: 'adjustment', note: odd })
      for (const odd of ODD_STRINGS)
        expect(await ledger.entries(odd, { limit: 9, id: odd })).toEqual([
          { id: odd, account: odd, kind: 'adjustment', amount: 1, balanceAfter: 1, at: T0, note: odd },
        ])
    })
  })
}
