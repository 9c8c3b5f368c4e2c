import { promised } from '@signalbox/storage/awaitable'
import type { LedgerStore, LiveHold } from '@signalbox/storage/ledger'
import { describe, expect, test } from 'vitest'
import { credit, hold } from './ledger-samples.ts'
import { DAY, type MakeStorage, ODD_STRINGS, T0 } from './subject.ts'

/** Conformance suite for live holds: renewing, extending, listing. `describeLiveHolds(opener(make))` */
export function describeLiveHolds(open: MakeStorage): void {
  const openLedger = async (): Promise<LedgerStore> => (await open()).storage.ledger
  const heldOn = async (ledger: LedgerStore) => Promise.all(['a', 'b'].map(async account => (await ledger.balance(account)).held))
  const versionOf = async (ledger: LedgerStore, id: string) =>
    (await ledger.holds({ limit: 100 })).find(each => each.id === id)?.version ?? Number.NaN

  describe('a live hold', () => {
    test('is not freed by time: a day later it still holds the same amount', async () => {
      const ledger = await openLedger()
      await credit(ledger, 'a', 100)
      await ledger.reserve(hold('h', 60))
      expect(await ledger.reserve({ ...hold('other', 60), at: T0 + DAY })).toEqual({ account: 'a', available: 40 })
      await ledger.settle({ id: 'h', amounts: { a: 50 }, at: T0 + DAY })
      expect(await ledger.balance('a')).toEqual({ balance: 50, held: 0, credited: 100, spent: 50 })
    })

    test('increments its version when it is renewed or extended, and at no other time', async () => {
      const ledger = await openLedger()
      await Promise.all(['h', 'other'].map(id => ledger.reserve(hold(id, 1, { account: 'b', floor: -100 }))))
      const [first, other] = [await versionOf(ledger, 'h'), await versionOf(ledger, 'other')]
      await ledger.reserve(hold('h', 1, { account: 'b', floor: -100 }))
      expect(await versionOf(ledger, 'h')).toBe(first)
      await ledger.renew([{ id: 'h' }, { id: 'unknown' }])
      const renewed = await versionOf(ledger, 'h')
      expect(renewed).toBeGreaterThan(first)
      await ledger.extend({ id: 'h', accounts: [{ account: 'b', floor: -100, amount: 1 }] })
      expect(await versionOf(ledger, 'h')).toBeGreaterThan(renewed)
      expect(await versionOf(ledger, 'other')).toBe(other)
    })

    test('is not created by renewing an unknown or settled id', async () => {
      const ledger = await openLedger()
      await ledger.settle({ id: 'settled', amounts: {}, at: T0 })
      await ledger.renew([{ id: 'settled', journal: () => 'x' }, { id: 'unknown' }])
      await ledger.renew([])
      expect(await ledger.holds({ limit: 9 })).toEqual([])
    })

    test('may have no accounts: it is listed, and its settlement charges once', async () => {
      const ledger = await openLedger()
      expect(await ledger.reserve({ id: 'h', amount: 0, accounts: [], at: T0 })).toBeUndefined()
      expect((await ledger.holds({ limit: 9 })).map(({ id }) => id)).toEqual(['h'])
      for (let n = 0; n < 2; n++) await ledger.settle({ id: 'h', amounts: { a: 7 }, at: T0 })
      expect(await ledger.balance('a')).toEqual({ balance: -7, held: 0, credited: 0, spent: 7 })
      expect(await ledger.holds({ limit: 9 })).toEqual([])
    })
  })

  describe('extending', () => {
    const both = (amount: number) => [
      { account: 'a', floor: 0, amount },
      { account: 'b', floor: -50, amount },
    ]

    test('adds to all accounts, also one that the hold did not name, and a settlement frees all of it', async () => {
      const ledger = await openLedger()
      await credit(ledger, 'a', 100)
      await ledger.reserve(hold('h', 40))
      expect(await ledger.extend({ id: 'h', accounts: both(30) })).toBeUndefined()
      expect(await heldOn(ledger)).toEqual([70, 30])
      expect(await ledger.extend({ id: 'h', accounts: both(20) })).toBeUndefined()
      expect(await heldOn(ledger)).toEqual([90, 50])
      await ledger.settle({ id: 'h', amounts: { a: 80 }, at: T0 })
      expect(await heldOn(ledger)).toEqual([0, 0])
      expect((await ledger.balance('a')).balance).toBe(20)
    })

    test('adds to no account if one has no room, and names that account and its available amount', async () => {
      const ledger = await openLedger()
      await credit(ledger, 'a', 100)
      await ledger.reserve(hold('h', 40))
      expect(await ledger.extend({ id: 'h', accounts: both(51) })).toEqual({ account: 'b', available: 50 })
      expect(await ledger.extend({ id: 'h', accounts: both(61) })).toEqual({ account: 'a', available: 60 })
      expect(await heldOn(ledger)).toEqual([40, 0])
    })

    test('of an unknown or settled hold is refused and holds nothing', async () => {
      const ledger = await openLedger()
      await credit(ledger, 'a', 100)
      await ledger.reserve(hold('settled', 40))
      await ledger.settle({ id: 'settled', amounts: {}, at: T0 })
      for (const id of ['settled', 'unknown']) {
        expect(await ledger.extend({ id, accounts: both(1) })).toEqual({ account: 'a', available: 0 })
        expect(await ledger.extend({ id, accounts: [] })).toBeUndefined()
      }
      expect(await heldOn(ledger)).toEqual([0, 0])
    })

    test('of many concurrent holds never exceeds the balance of the account', async () => {
      const ledger = await openLedger()
      await credit(ledger, 'a', 100)
      await Promise.all(Array.from({ length: 10 }, (_, n) => ledger.reserve(hold(`h${n}`, 5))))
      const more = (n: number) => ledger.extend({ id: `h${n % 10}`, accounts: [{ account: 'a', floor: 0, amount: 3 }] })
      const answers = await Promise.all(Array.from({ length: 40 }, (_, n) => more(n)))
      expect(answers.filter(refusal => refusal === undefined)).toHaveLength(16)
      expect(await heldOn(ledger)).toEqual([98, 0])
    })

    test('by an invalid amount, or twice on one account, is refused and changes nothing', async () => {
      const ledger = await openLedger()
      await ledger.reserve(hold('h', 1, { account: 'b', floor: -100 }))
      for (const amount of [-1, 0.5, Number.NaN])
        await expect(promised(() => ledger.extend({ id: 'h', accounts: [{ account: 'b', floor: -100, amount }] }))).rejects.toThrow(
          'amount',
        )
      await expect(promised(() => ledger.extend({ id: 'h', accounts: [...both(1), ...both(1)] }))).rejects.toThrow('twice')
      await expect(promised(() => ledger.extend({ id: 'h', accounts: [{ account: 'b', floor: 0.5, amount: 1 }] }))).rejects.toThrow('floor')
      expect(await heldOn(ledger)).toEqual([0, 1])
    })
  })

  describeListing(open)
}

function describeListing(open: MakeStorage): void {
  const openLedger = async (): Promise<LedgerStore> => (await open()).storage.ledger

  describe('listing holds', () => {
    test('pages through all of them, unusual ids included, while holds are settled', async () => {
      const ledger = await openLedger()
      const ids = [...ODD_STRINGS, ...Array.from({ length: 40 }, (_, n) => `h${n}`)]
      for (const id of ids) await ledger.reserve({ id, amount: 0, accounts: [], at: T0 })
      const found: string[] = []
      let page: readonly LiveHold[] = await ledger.holds({ limit: 7 })
      while (page.length > 0) {
        found.push(...page.map(({ id }) => id))
        const after = found.at(-1) ?? ''
        await ledger.settle({ id: after, amounts: {}, at: T0 })
        page = await ledger.holds({ after, limit: 7 })
      }
      expect(new Set(found)).toEqual(new Set(ids))
      expect(found).toHaveLength(ids.length)
      expect(await ledger.holds({ limit: 0 })).toEqual([])
    })

    test('shows the newest journal if the store keeps journals', async () => {
      const { storage, reopen } = await open()
      const { ledger } = storage
      await ledger.reserve({ id: 'h', amount: 0, accounts: [], at: T0, journal: () => 'first' })
      await ledger.reserve({ id: 'without', amount: 0, accounts: [], at: T0 })
      const journals = async () => Object.fromEntries((await ledger.holds({ limit: 9 })).map(({ id, journal }) => [id, journal]))
      const kept = (journal: string) => (reopen ? [journal] : [journal, undefined])
      expect(kept('first')).toContain((await journals()).h)
      await ledger.renew([{ id: 'h' }])
      expect(kept('first')).toContain((await journals()).h)
      await ledger.renew([{ id: 'h', journal: () => 'second' }])
      expect(kept('second')).toContain((await journals()).h)
      expect((await journals()).without).toBeUndefined()
    })
  })
}
