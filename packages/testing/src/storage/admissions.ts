import type { Storage } from '@signalbox/storage'
import { admitInParts, admitTo, type Limit, type LimitRefusal } from '@signalbox/storage/admission'
import { promised } from '@signalbox/storage/awaitable'
import { describe, expect, test } from 'vitest'
import { type MakeStorage, MINUTE, ODD_STRINGS, T0 } from './subject.ts'
import { usageRow } from './usage.ts'

const rate: Limit = { kind: 'rate', key: 'ws_1/rpm', amount: 1, limit: 100, windowMs: MINUTE }
const tokens: Limit = { kind: 'tokens', key: 'ws_1/tpm', amount: 10, limit: 10_000, windowMs: MINUTE }
const slot: Limit = { kind: 'slot', key: 'ws_1/slots', amount: 1, limit: 100, windowMs: MINUTE }
const ownSlot: Limit = { ...slot, key: 'ws_1/slots:key_1' }
const credit: Limit = { kind: 'account', key: 'credit', amount: 10, limit: 0, windowMs: 0 }
const budget: Limit = { kind: 'account', key: 'budget', amount: 10, limit: 1_000, windowMs: 0 }
const all = [slot, ownSlot, rate, tokens, credit, budget]

type Admit = typeof admitTo

const ways: readonly (readonly [string, Admit])[] = [
  ['in one step', admitTo],
  ['in parts', admitInParts],
]

async function usedOf({ counters }: Storage, { key }: Limit): Promise<number> {
  let [least, most] = [0, 1_024]
  while (least < most) {
    const limit = (least + most) >> 1
    if (await counters.take([{ key, amount: 0, limit, windowMs: MINUTE }], T0)) least = limit + 1
    else most = limit
  }
  return least
}

async function takenOf({ counters }: Storage, { key }: Limit): Promise<number> {
  for (let taken = 0; ; taken++) {
    const isFree = await counters.enter({ key, slot: 'probe', limit: taken + 1, ttlMs: MINUTE }, T0)
    await counters.leave(key, 'probe')
    if (isFree) return taken
  }
}

/** What is taken of each limit. */
const booksOf = async (storage: Storage) => ({
  slots: [await takenOf(storage, slot), await takenOf(storage, ownSlot)],
  rate: await usedOf(storage, rate),
  tokens: await usedOf(storage, tokens),
  held: [(await storage.ledger.balance('credit')).held, (await storage.ledger.balance('budget')).held],
  holds: (await storage.ledger.holds({ limit: 100 })).length,
})

const nothing = { slots: [0, 0], rate: 0, tokens: 0, held: [0, 0], holds: 0 }

/** The books once nothing is taken, or after a second: an admission that fails does not wait for what it gives back. */
async function booksGivenBack(storage: Storage): Promise<Awaited<ReturnType<typeof booksOf>>> {
  const until = Date.now() + 1_000
  for (;;) {
    const books = await booksOf(storage)
    if (JSON.stringify(books) === JSON.stringify(nothing) || Date.now() > until) return books
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}

/** Conformance suite for admissions. `describeAdmissions(opener(make))` */
export function describeAdmissions(open: MakeStorage): void {
  for (const [way, admit] of ways) describe(`an admission ${way}`, () => describeWay(open, admit))
}

function describeWay(open: MakeStorage, admit: Admit): void {
  const opened = async (): Promise<Storage> => {
    const { storage } = await open()
    await storage.ledger.credit({ id: 'start', account: 'credit', amount: 1_000, at: T0 })
    return storage
  }
  const to = async (storage: Storage, limits: readonly Limit[], id = 'req_1') => admit(storage, { id, limits, at: T0 })

  test('takes every limit, and a settlement gives back slots and holds', async () => {
    const storage = await opened()
    expect(await admit(storage, { id: 'req_1', limits: all, at: T0, journal: () => 'text' })).toBeUndefined()
    expect(await booksOf(storage)).toEqual({ slots: [1, 1], rate: 1, tokens: 10, held: [10, 10], holds: 1 })
    expect(['text', undefined]).toContain((await storage.ledger.holds({ limit: 1 }))[0]?.journal)
    const slotKeys = [slot.key, ownSlot.key]
    await storage.settle({ row: usageRow('req_1'), amounts: { credit: 7, budget: 7 }, slotKeys, at: T0 })
    expect(await booksOf(storage)).toEqual({ ...nothing, rate: 1, tokens: 10 })
    expect(await storage.ledger.balance('credit')).toMatchObject({ balance: 993, spent: 7 })
  })

  test('has a hold if there is an account or a journal, and else none', async () => {
    const storage = await opened()
    expect([await to(storage, []), await to(storage, [rate, slot], 'req_2')]).toEqual([undefined, undefined])
    expect(await storage.ledger.holds({ limit: 9 })).toEqual([])
    await admit(storage, { id: 'req_3', limits: [], at: T0, journal: () => 'text' })
    expect(await storage.ledger.holds({ limit: 9 })).toMatchObject([{ id: 'req_3', version: 1 }])
  })

  const refusals: readonly (readonly [string, readonly Limit[], LimitRefusal, Partial<typeof nothing>])[] = [
    ['slot', [slot, { ...ownSlot, limit: 0 }, rate, tokens, credit], { index: 1, left: 0 }, { rate: 1 }],
    ['counter', [slot, rate, { ...tokens, limit: 9 }, credit], { index: 2, left: MINUTE }, {}],
    ['counter of requests', [{ ...rate, limit: 0 }, tokens, slot, credit], { index: 0, left: MINUTE }, {}],
    ['account', [...all.slice(0, 5), { ...budget, limit: 9 }], { index: 5, left: 9 }, { rate: 1 }],
    ['account of several', [{ ...credit, amount: 1_001 }, rate, { ...budget, limit: 9 }], { index: 0, left: 1_000 }, { rate: 1 }],
    [
      'slot before a counter and an account',
      [
        { ...budget, limit: 9 },
        { ...rate, limit: 0 },
        { ...slot, limit: 0 },
      ],
      { index: 2, left: 0 },
      {},
    ],
    ['counter before an account', [{ ...budget, limit: 9 }, rate, { ...tokens, limit: 9 }, slot], { index: 2, left: MINUTE }, {}],
  ]
  test.each(refusals)('that a %s refuses takes nothing, but counts a request that has room', async (_, limits, refusal, books) => {
    const storage = await opened()
    expect(await to(storage, limits)).toEqual(refusal)
    expect(await booksOf(storage)).toEqual({ ...nothing, ...books })
    expect(await to(storage, all)).toBeUndefined()
  })

  test('of which a window is open is told when it ends', async () => {
    const storage = await opened()
    await to(storage, [{ ...rate, limit: 1 }])
    expect(await admit(storage, { id: 'req_2', limits: [{ ...rate, limit: 1 }], at: T0 + 20_000 })).toEqual({
      index: 0,
      left: MINUTE - 20_000,
    })
    expect(await admit(storage, { id: 'req_2', limits: [{ ...rate, limit: 1 }], at: T0 + MINUTE })).toBeUndefined()
  })

  test('with the same id has one slot and one hold', async () => {
    const storage = await opened()
    for (let n = 0; n < 3; n++) expect(await to(storage, [{ ...slot, limit: 1 }, tokens, credit])).toBeUndefined()
    expect(await booksOf(storage)).toMatchObject({ slots: [1, 0], held: [10, 0], holds: 1 })
  })

  // Taken in parts, it is never sent twice: each part is, on its own.
  test('with the same id is admitted again in one step, even if it took the last of each limit itself', async () => {
    const storage = await opened()
    if (admit !== admitTo || !storage.admit) return
    const last = [
      { ...slot, limit: 1 },
      { ...rate, limit: 1 },
      { ...tokens, limit: 15 },
      { ...credit, amount: 1_000 },
    ]
    for (let n = 0; n < 3; n++) expect(await to(storage, last)).toBeUndefined()
    expect(await booksOf(storage)).toMatchObject({ slots: [1, 0], rate: 1, tokens: 10, held: [1_000, 0], holds: 1 })
    await storage.settle({ row: usageRow('req_1'), amounts: { credit: 7 }, slotKeys: [], at: T0 })
    expect(await to(storage, last)).toBeUndefined()
    expect(await to(storage, last, 'req_2')).toEqual({ index: 0, left: 0 })
    expect(await storage.ledger.balance('credit')).toMatchObject({ balance: 993, held: 0 })
  })

  test('whose slots have expired takes their place', async () => {
    const storage = await opened()
    for (const id of ['a', 'b']) await to(storage, [{ ...slot, limit: 2 }], id)
    expect(await to(storage, [{ ...slot, limit: 2 }], 'c')).toEqual({ index: 0, left: 0 })
    for (const id of ['c', 'd'])
      expect(await admit(storage, { id, limits: [{ ...slot, limit: 2 }, credit], at: T0 + MINUTE })).toBeUndefined()
    expect(await admit(storage, { id: 'e', limits: [{ ...slot, limit: 2 }], at: T0 + MINUTE })).toEqual({ index: 0, left: 0 })
  })

  test('that is invalid fails, and takes no slot, token or money', async () => {
    const storage = await opened()
    const wrong: readonly Limit[] = [
      { ...rate, amount: 0.5 },
      { ...tokens, windowMs: 0 },
      { ...slot, limit: -1 },
      { ...slot, windowMs: 0.5 },
      { ...credit, amount: -1 },
      { ...credit, limit: 0.5 },
      { ...credit, limit: Number.NaN },
    ]
    for (const limit of wrong)
      await expect(promised(() => admit(storage, { id: 'req_1', limits: [slot, tokens, budget, limit], at: T0 }))).rejects.toThrow(
        RangeError,
      )
    await expect(promised(() => admit(storage, { id: 'req_1', limits: [slot, credit, credit], at: T0 }))).rejects.toThrow(RangeError)
    await expect(promised(() => admit(storage, { id: 'req_1', limits: all, at: 0.5 }))).rejects.toThrow(RangeError)
    expect(await booksGivenBack(storage)).toEqual(nothing)
  })

  test('is not affected by mutating its argument afterwards', async () => {
    const storage = await opened()
    const limits = all.map(limit => ({ ...limit }))
    const admission = { id: 'req_1', limits, at: T0 }
    const admitting = admit(storage, admission)
    for (const limit of limits) Object.assign(limit, { key: 'other', amount: 99 })
    limits.length = 0
    admission.id = 'other'
    expect(await admitting).toBeUndefined()
    expect(await booksOf(storage)).toEqual({ slots: [1, 1], rate: 1, tokens: 10, held: [10, 10], holds: 1 })
    await storage.counters.leave(slot.key, 'req_1')
    expect(await takenOf(storage, slot)).toBe(0)
  })

  test.each(ODD_STRINGS.map(text => [text.slice(0, 20), text]))('accepts the id and the names %j unchanged', async (_, odd) => {
    const storage = await opened()
    await storage.ledger.credit({ id: odd, account: odd, amount: 10, at: T0 })
    const limits = [slot, rate, credit].map(limit => ({ ...limit, key: odd, limit: limit === credit ? 0 : 1 }))
    expect(await to(storage, limits, odd)).toBeUndefined()
    for (const [index, limit] of limits.entries())
      expect(await to(storage, [limit], 'next')).toEqual({ index: 0, left: [0, MINUTE, 0][index] })
    await storage.settle({ row: usageRow(odd), amounts: {}, slotKeys: [odd], at: T0 })
    expect(await to(storage, [limits[0] as Limit, limits[2] as Limit], 'next')).toBeUndefined()
  })

  const races: readonly (readonly [string, readonly Limit[], admitted: number, refusing: readonly number[]])[] = [
    ['last slot', [{ ...slot, limit: 5 }, ownSlot, rate, tokens, credit, budget], 5, [0]],
    ['last cents', [slot, ownSlot, rate, tokens, credit, { ...budget, limit: 79 }], 7, [5]],
    ['last cents of two accounts', [slot, ownSlot, rate, tokens, { ...credit, amount: 140 }, { ...budget, limit: 79 }], 7, [4, 5]],
    ['last tokens', [slot, ownSlot, rate, { ...tokens, limit: 99 }, credit, budget], 9, [3]],
    ['last slot and the last cents', [{ ...slot, limit: 9 }, ownSlot, rate, tokens, credit, { ...budget, limit: 79 }], 7, [0, 5]],
  ]
  test.each(races)('of 60 at the same time for the %s exceeds nothing and leaves nothing', async (_, limits, admitted, refusing) => {
    const storage = await opened()
    const ids = Array.from({ length: 60 }, (_, n) => `req_${n}`)
    const ends = await Promise.all(ids.map(id => to(storage, limits, id)))
    expect(ends.filter(end => end === undefined)).toHaveLength(admitted)
    for (const end of ends) if (end) expect(refusing).toContain(end.index)
    const held = [(limits[4]?.amount ?? 0) * admitted, 10 * admitted]
    expect(await booksOf(storage)).toMatchObject({ slots: [admitted, admitted], tokens: 10 * admitted, held, holds: admitted })
    const slotKeys = [slot.key, ownSlot.key]
    await Promise.all(ids.map(id => storage.settle({ row: usageRow(id), amounts: {}, slotKeys, at: T0 })))
    expect(await booksOf(storage)).toMatchObject({ slots: [0, 0], held: [0, 0], holds: 0 })
  })

  test('beside settlements, holds and other admissions of the same accounts and slots finishes', async () => {
    const storage = await opened()
    const limits = [{ ...slot, limit: 3 }, rate, tokens, { ...credit, amount: 100 }, budget]
    let admitted = 0
    const request = async (id: string): Promise<void> => {
      if (await to(storage, limits, id)) return
      admitted += 1
      await storage.ledger.extend({ id, accounts: [{ account: 'credit', floor: 0, amount: 5 }] })
      await storage.settle({ row: usageRow(id), amounts: { credit: 1, budget: 1 }, slotKeys: [slot.key], at: T0 })
    }
    const client = async (name: number): Promise<void> => {
      for (let n = 0; n < 6; n++) await request(`req_${name}_${n}`)
    }
    await Promise.all(Array.from({ length: 8 }, (_, name) => client(name)))
    expect(await booksOf(storage)).toMatchObject({ slots: [0, 0], tokens: 10 * admitted, held: [0, 0], holds: 0 })
    expect(await storage.ledger.balance('credit')).toMatchObject({ spent: admitted, balance: 1_000 - admitted })
    expect(admitted).toBeGreaterThan(2)
  })
}
