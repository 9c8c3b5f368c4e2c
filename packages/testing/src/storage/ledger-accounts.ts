import type { LedgerStore } from '@signalbox/storage/ledger'
import { describe, expect, test } from 'vitest'
import { credit, hold } from './ledger-samples.ts'
import { type MakeStorage, T0 } from './subject.ts'

/** Conformance suite for listing and removing accounts. `describeAccounts(opener(make))` */
export function describeAccounts(open: MakeStorage): void {
  const openLedger = async (): Promise<LedgerStore> => (await open()).storage.ledger
  const charge = (ledger: LedgerStore, id: string, amounts: Readonly<Record<string, number>>) => ledger.settle({ id, amounts, at: T0 })
  const nothing = { balance: 0, held: 0, credited: 0, spent: 0 }

  describe('accounts', () => {
    test('are listed by name prefix, in pages', async () => {
      const ledger = await openLedger()
      const names = Array.from({ length: 25 }, (_, n) => `budget:${String(n).padStart(2, '0')}`)
      await charge(
        ledger,
        'r',
        Object.fromEntries([...names, 'budge', 'budget;', 'budges:1', 'credit:1', 'Budget:1'].map(name => [name, 1])),
      )
      const seen: string[] = []
      for (let after: string | undefined; ; ) {
        const page = await ledger.accounts({ prefix: 'budget:', limit: 10, ...(after !== undefined && { after }) })
        seen.push(...page)
        after = page.at(-1)
        if (page.length < 10) break
      }
      expect(seen).toEqual(names)
      expect(await ledger.accounts({ prefix: 'none', limit: 10 })).toEqual([])
      expect(await ledger.accounts({ prefix: 'budget:', limit: 0 })).toEqual([])
      // The last account of a page may be gone when the next page is read.
      await ledger.forget(['budget:04'])
      expect(await ledger.accounts({ prefix: 'budget:', after: 'budget:04', limit: 2 })).toEqual(['budget:05', 'budget:06'])
    })

    test('are forgotten with their entries, others are not, and the number removed is returned', async () => {
      const ledger = await openLedger()
      await credit(ledger, 'old', 100)
      for (let n = 0; n < 30; n++) await charge(ledger, `r${n}`, { old: 1, new: 1 })
      expect(await ledger.forget(['old', 'unknown'])).toBe(1)
      expect(await ledger.balance('old')).toEqual(nothing)
      expect(await ledger.entries('old', { limit: 100 })).toEqual([])
      expect(await ledger.entries('old', { limit: 100, from: 0, to: T0 + 1 })).toEqual([])
      expect(await ledger.entries('new', { limit: 100 })).toHaveLength(30)
      expect((await ledger.balance('new')).spent).toBe(30)
      expect(await ledger.accounts({ prefix: 'o', limit: 10 })).toEqual([])
      expect(await ledger.forget(['old'])).toBe(0)
      expect(await ledger.forget([])).toBe(0)
    })

    test('with a hold are not forgotten until it is settled', async () => {
      const ledger = await openLedger()
      await charge(ledger, 'r', { a: 5 })
      await ledger.reserve(hold('h', 10, { account: 'a', floor: -100 }))
      expect(await ledger.forget(['a'])).toBe(0)
      expect(await ledger.balance('a')).toEqual({ balance: -5, held: 10, credited: 0, spent: 5 })
      expect(await ledger.entries('a', { limit: 10 })).toHaveLength(1)
      await charge(ledger, 'h', { a: 7 })
      expect(await ledger.forget(['a'])).toBe(1)
    })

    test('that are charged after they were forgotten start at 0, and no request charges them twice', async () => {
      const ledger = await openLedger()
      await charge(ledger, 'r', { a: 5 })
      await ledger.forget(['a'])
      await charge(ledger, 'r', { a: 5 })
      expect(await ledger.balance('a')).toEqual(nothing)
      await charge(ledger, 'late', { a: 3 })
      expect(await ledger.balance('a')).toEqual({ balance: -3, held: 0, credited: 0, spent: 3 })
      expect((await ledger.entries('a', { limit: 10 })).map(({ id, balanceAfter }) => [id, balanceAfter])).toEqual([['late', -3]])
      // A hold of 0 does not keep an account, and is settled like any other.
      await ledger.reserve(hold('h', 0, { account: 'a', floor: -100 }))
      expect(await ledger.forget(['a'])).toBe(1)
      await charge(ledger, 'h', { a: 2 })
      expect(await ledger.balance('a')).toEqual({ balance: -2, held: 0, credited: 0, spent: 2 })
    })

    test('that are forgotten during concurrent holds and charges keep sums and entries consistent', async () => {
      const ledger = await openLedger()
      const names = ['a', 'b', 'c']
      const request = async (n: number): Promise<void> => {
        const [first = '', second = ''] = [names[n % 3], names[(n + 1) % 3]]
        await ledger.reserve(hold(`h${n}`, 5, { account: first, floor: -1_000 }, { account: second, floor: -1_000 }))
        await charge(ledger, `h${n}`, { [first]: 3, [second]: 2 })
      }
      const forgetting = Array.from({ length: 12 }, async () => ledger.forget(names))
      await Promise.all([...Array.from({ length: 90 }, (_, n) => request(n)), ...forgetting])
      for (const name of names) {
        const { balance, held, spent } = await ledger.balance(name)
        const entries = await ledger.entries(name, { limit: 1_000 })
        expect([held, balance]).toEqual([0, 0 - spent])
        expect(entries.reduce((sum, { amount }) => sum - amount, 0)).toBe(spent)
        expect(entries[0]?.balanceAfter ?? 0).toBe(0 - spent)
      }
      expect(await ledger.holds({ limit: 10 })).toEqual([])
    })
  })
}
