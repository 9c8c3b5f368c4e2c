import type { Storage, UsageRow } from '@signalbox/storage'
import { promised } from '@signalbox/storage/awaitable'
import type { RequestSettlement } from '@signalbox/storage/settlement'
import { describe, expect, test } from 'vitest'
import { type MakeStorage, MINUTE, ODD_STRINGS, T0 } from './subject.ts'
import { usageRow } from './usage.ts'

const slotKeys = ['ws_1/slots', 'ws_1/slots:key_1']

const settlementOf = (id: string, fields: Partial<UsageRow> = {}): RequestSettlement => ({
  row: usageRow(id, fields),
  amounts: { a: 60, b: 60 },
  slotKeys,
  at: T0 + 5,
})

/** A running request: it has a hold on two accounts and holds both slots, of which there is one each. */
async function begin({ ledger, counters }: Storage, id: string): Promise<void> {
  const accounts = ['a', 'b'].map(account => ({ account, floor: -1_000 }))
  await ledger.reserve({ id, amount: 100, accounts, at: T0 })
  for (const key of slotKeys) await counters.enter({ key, slot: id, limit: 1, ttlMs: MINUTE }, T0)
}

/** What the stores contain about it. */
async function booksOf({ ledger, usage, counters }: Storage) {
  const [{ held, spent }, other] = [await ledger.balance('a'), await ledger.balance('b')]
  const rows = await usage.list({ workspaceId: 'ws_1', from: 0, to: T0 * 2, limit: 100 })
  const slots = []
  for (const key of slotKeys) {
    slots.push(await counters.enter({ key, slot: 'probe', limit: 1, ttlMs: MINUTE }, T0))
    await counters.leave(key, 'probe')
  }
  return { held, spent, other: other.spent, rows: rows.map(({ id, cost }) => `${id} ${cost}`), freeSlots: slots.filter(Boolean).length }
}

const settled = { held: 0, spent: 60, other: 60, rows: ['req_1 60'], freeSlots: 2 }

/** Conformance suite for settling requests. `describeRequestSettlements(opener(make))` */
export function describeRequestSettlements(open: MakeStorage): void {
  describe('the settlement of a request', () => {
    test('charges it, appends its usage row and frees its hold and slots', async () => {
      const { storage } = await open()
      await begin(storage, 'req_1')
      expect(await booksOf(storage)).toEqual({ held: 100, spent: 0, other: 0, rows: [], freeSlots: 0 })
      await storage.settle(settlementOf('req_1', { cost: 60 }))
      expect(await booksOf(storage)).toEqual(settled)
      expect(await storage.usage.find('ws_1', 'req_1')).toEqual(usageRow('req_1', { cost: 60 }))
      expect(await storage.ledger.entries('b', { limit: 9 })).toMatchObject([{ id: 'req_1', kind: 'usage', amount: -60, at: T0 + 5 }])
      expect(await storage.ledger.holds({ limit: 9 })).toEqual([])
    })

    test('does nothing the second time, concurrently or later, whatever it contains then', async () => {
      const { storage } = await open()
      await begin(storage, 'req_1')
      await Promise.all(Array.from({ length: 20 }, () => storage.settle(settlementOf('req_1', { cost: 60 }))))
      await storage.settle({ ...settlementOf('req_1', { cost: 7, workspaceId: 'ws_2' }), amounts: { a: 7, c: 7 } })
      expect(await booksOf(storage)).toEqual(settled)
      expect([await storage.ledger.balance('c'), await storage.usage.find('ws_2', 'req_1')]).toMatchObject([{ spent: 0 }, undefined])
    })

    const halves: readonly (readonly [part: string, write: (storage: Storage) => unknown])[] = [
      ['charge', ({ ledger }) => ledger.settle({ id: 'req_1', amounts: { a: 60, b: 60 }, at: T0 })],
      ['row', ({ usage }) => usage.append(usageRow('req_1', { cost: 60 }))],
      ['slots', ({ counters }) => Promise.all(slotKeys.map(key => counters.leave(key, 'req_1')))],
    ]
    test.each(halves)('adds the rest if the %s was already written', async (_, write) => {
      const { storage } = await open()
      await begin(storage, 'req_1')
      await write(storage)
      await storage.settle(settlementOf('req_1', { cost: 60 }))
      expect(await booksOf(storage)).toEqual(settled)
    })

    test('without a hold, accounts or slots writes the rest', async () => {
      const { storage } = await open()
      await storage.settle({ row: usageRow('free'), amounts: {}, slotKeys: [], at: T0 })
      await storage.settle({ row: usageRow('paid'), amounts: { a: 5 }, slotKeys: ['ws_1/slots'], at: T0 })
      expect((await storage.usage.list({ workspaceId: 'ws_1', from: 0, to: T0 * 2, limit: 9 })).map(({ id }) => id).sort()).toEqual([
        'free',
        'paid',
      ])
      expect(await storage.ledger.balance('a')).toMatchObject({ held: 0, spent: 5 })
    })

    test('with an invalid row writes the rest, then fails', async () => {
      const { storage } = await open()
      await begin(storage, 'req_1')
      await expect(promised(() => storage.settle(settlementOf('req_1', { inputTokens: 0.5 })))).rejects.toThrow(RangeError)
      expect(await booksOf(storage)).toEqual({ ...settled, rows: [] })
    })

    test('with an invalid amount writes the rest, then fails', async () => {
      const { storage } = await open()
      await begin(storage, 'req_1')
      const wrong = { ...settlementOf('req_1', { cost: 60 }), amounts: { a: -1 } }
      await expect(promised(() => storage.settle(wrong))).rejects.toThrow(RangeError)
      expect(await booksOf(storage)).toEqual({ held: 100, spent: 0, other: 0, rows: ['req_1 60'], freeSlots: 2 })
    })

    test('concurrent with others affects only its own request', async () => {
      const { storage } = await open()
      const ids = Array.from({ length: 60 }, (_, n) => `req_${n}`)
      const accounts = [{ account: 'a', floor: Number.NEGATIVE_INFINITY }]
      await Promise.all(ids.map(id => storage.ledger.reserve({ id, amount: 9, accounts, at: T0 })))
      await Promise.all(ids.map(slot => storage.counters.enter({ key: 'ws_1/slots', slot, limit: 60, ttlMs: MINUTE }, T0)))
      const outcomes = await Promise.allSettled(
        ids.map((id, n) =>
          promised(() =>
            storage.settle({ row: usageRow(id, { cost: n === 7 ? -1 : n }), amounts: { a: n }, slotKeys: ['ws_1/slots'], at: T0 }),
          ),
        ),
      )
      expect(outcomes.flatMap(({ status }, n) => (status === 'rejected' ? [n] : []))).toEqual([7])
      expect(await storage.ledger.balance('a')).toMatchObject({ held: 0, spent: (59 * 60) / 2 })
      expect((await storage.usage.totals({ workspaceId: 'ws_1', from: 0, to: T0 * 2 }))[0]).toMatchObject({
        requests: 59,
        cost: (59 * 60) / 2 - 7,
      })
      expect(await storage.counters.enter({ key: 'ws_1/slots', slot: 'next', limit: 1, ttlMs: MINUTE }, T0)).toBe(true)
    })

    test.each(ODD_STRINGS.map(text => [text.slice(0, 20), text]))('accepts the id and the account %j unchanged', async (_, odd) => {
      const { storage } = await open()
      const row = usageRow(odd)
      for (let n = 0; n < 2; n++) await storage.settle({ row, amounts: { [odd]: 30 }, slotKeys: [odd], at: T0 })
      expect([await storage.ledger.balance(odd), await storage.usage.find('ws_1', odd)]).toMatchObject([{ spent: 30 }, row])
    })

    test('is not affected by mutating its argument afterwards', async () => {
      const { storage } = await open()
      const settlement = { ...settlementOf('req_1', { warnings: ['kept'] }), amounts: { a: 60, b: 60 } as Record<string, number> }
      const settling = storage.settle(settlement)
      settlement.amounts.a = 1
      Object.assign(settlement.row, { cost: 1, warnings: [] })
      await settling
      expect(await storage.ledger.balance('a')).toMatchObject({ spent: 60 })
      expect((await storage.usage.find('ws_1', 'req_1'))?.warnings).toEqual(['kept'])
    })
  })
}
