import type { Storage } from '@signalbox/storage'
import { memoryStorage } from '@signalbox/storage-memory'
import fc from 'fast-check'
import { expect, inject, onTestFinished, test } from 'vitest'
import { describeWith } from '../../testing/test/services.ts'
import { useSchema } from './postgres-schema.ts'

// Calls of one moment are one batch. Its answers must be those that the memory store gives if the calls come one by one.

const AT = 1_750_000_000_000
const describePostgres = describeWith('postgres')

const account = fc.constantFrom('a', 'b', 'c', 'd')
const amount = fc.integer({ min: 0, max: 40 })
const floor = fc.constantFrom(0, 0, 0, 10, -60, Number.NEGATIVE_INFINITY)
const accounts = fc.uniqueArray(fc.record({ account, floor, amount }), { selector: each => each.account, maxLength: 3 })
const id = fc.integer({ min: 0, max: 60 }).map(n => `id${n}`)
/** A batch has each id once; a call with a repeated id waits for the next. */
const unique = <T extends { readonly id: string }>(call: fc.Arbitrary<T>) =>
  fc.uniqueArray(call, { selector: each => each.id, minLength: 1, maxLength: 40 })
const key = fc.constantFrom('k1', 'k2', 'k3')
/** Milliseconds after the time of the batch. Batches are 25 s apart, so that no window ends near one. */
const later = fc.constantFrom(0, 0, 0, 10, 5)
const window = fc.constantFrom(60_000, 60_000, 60_000, 30_000)
const taken = fc.record({ key, amount: fc.integer({ min: 0, max: 9 }), limit: fc.integer({ min: 0, max: 60 }), windowMs: window })
const many = <T>(call: fc.Arbitrary<T>) => fc.array(call, { minLength: 1, maxLength: 40 })

type Batch = (storage: Storage, name: (id: string) => string, now: number) => readonly (() => unknown)[]

const batches: fc.Arbitrary<Batch> = fc.oneof(
  unique(fc.record({ id, accounts })).map<Batch>(
    holds =>
      ({ ledger }, name) =>
        holds.map(
          ({ id, accounts }) =>
            () =>
              ledger.reserve({
                id: name(id),
                amount: 0,
                accounts: accounts.map(each => ({ ...each, account: name(each.account) })),
                at: AT,
              }),
        ),
  ),
  unique(fc.record({ id, accounts })).map<Batch>(
    extensions =>
      ({ ledger }, name) =>
        extensions.map(
          ({ id, accounts }) =>
            () =>
              ledger.extend({ id: name(id), accounts: accounts.map(each => ({ ...each, account: name(each.account) })) }),
        ),
  ),
  unique(fc.record({ id, amounts: fc.dictionary(account, amount, { noNullPrototype: true }) })).map<Batch>(
    settlements =>
      ({ ledger }, name) =>
        settlements.map(
          ({ id, amounts }) =>
            () =>
              ledger.settle({
                id: name(id),
                amounts: Object.fromEntries(Object.entries(amounts).map(([each, owed]) => [name(each), owed])),
                at: AT,
              }),
        ),
  ),
  many(fc.record({ id, account, amount: fc.integer({ min: 1, max: 90 }) })).map<Batch>(
    credits =>
      ({ ledger }, name) =>
        credits.map(entry => () => ledger.credit({ ...entry, id: name(entry.id), account: name(entry.account), at: AT })),
  ),
  many(fc.record({ requests: fc.array(taken, { minLength: 1, maxLength: 3 }), later })).map<Batch>(
    takes =>
      ({ counters }, name, now) =>
        takes.map(
          ({ requests, later }) =>
            () =>
              counters.take(
                requests.map(each => ({ ...each, key: name(each.key) })),
                now + later,
              ),
        ),
  ),
  many(fc.record({ key, amount: fc.integer({ min: -30, max: 20 }), later })).map<Batch>(
    corrections =>
      ({ counters }, name, now) =>
        corrections.map(
          ({ key, amount, later }) =>
            () =>
              counters.add(name(key), amount, now + later),
        ),
  ),
  fc
    .uniqueArray(
      fc.record({ key, slot: fc.integer({ min: 0, max: 30 }).map(String), limit: fc.integer({ min: 0, max: 12 }), later, ttlMs: window }),
      { selector: each => `${each.key} ${each.slot}`, minLength: 1, maxLength: 30 },
    )
    .map<Batch>(
      entries =>
        ({ counters }, name, now) =>
          entries.map(
            ({ key, later, ...slot }) =>
              () =>
                counters.enter({ ...slot, key: name(key) }, now + later),
          ),
    ),
  many(fc.record({ key, slot: fc.integer({ min: 0, max: 30 }).map(String) })).map<Batch>(
    slots =>
      ({ counters }, name) =>
        slots.map(
          ({ key, slot }) =>
            () =>
              counters.leave(name(key), slot),
        ),
  ),
)

const sumsOf = ({ ledger }: Storage, name: (id: string) => string) =>
  Promise.all(['a', 'b', 'c', 'd'].map(each => ledger.balance(name(each))))
const entriesOf = async ({ ledger }: Storage, name: (id: string) => string) =>
  Promise.all(['a', 'b', 'c', 'd'].map(each => ledger.entries(name(each), { limit: 1_000 })))

describePostgres('PostgreSQL, batches', () => {
  const { open } = useSchema()

  test('a batch gives each call the same result as if the calls had run one after the other, even if a limit is reached in it', async () => {
    const [real, model] = [open(), memoryStorage()]
    onTestFinished(() => real.close())
    let run = 0
    let refused = 0
    await fc.assert(
      fc.asyncProperty(fc.array(batches, { minLength: 1, maxLength: 14 }), async given => {
        const prefix = `${++run}:`
        const name = (id: string): string => prefix + id
        for (const [index, batch] of given.entries()) {
          const now = AT + index * 25_000
          const expected = batch(model, name, now).map(call => call())
          const answers = await Promise.all(batch(real, name, now).map(call => call()))
          expect(answers).toEqual(expected)
          refused += expected.filter(answer => answer !== undefined && answer !== true).length
          expect(await sumsOf(real, name)).toEqual(await sumsOf(model, name))
        }
        expect(await entriesOf(real, name)).toEqual(await entriesOf(model, name))
      }),
      { numRuns: inject('isLongRun') ? 1_000 : 30 },
    )
    expect(refused).toBeGreaterThan(100)
  })

  test('one call that PostgreSQL cannot process fails alone, with the reason', async () => {
    const storage = open()
    onTestFinished(() => storage.close())
    const ids = Array.from({ length: 40 }, (_, n) => (n === 17 ? 'bad\0id' : `good ${n}`))
    const outcomes = await Promise.allSettled(ids.map(id => storage.ledger.credit({ id, account: 'whole', amount: 1, at: AT })))
    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(1)
    expect(outcomes[17]).toMatchObject({ reason: { message: expect.stringContaining('ledger.credit') } })
    expect((await storage.ledger.balance('whole')).balance).toBe(39)
  })

  test('amounts up to the largest safe integer are added, held and listed exactly, in one batch and in several', async () => {
    const { ledger, close } = open()
    onTestFinished(() => close())
    const max = Number.MAX_SAFE_INTEGER
    const outcomes = await Promise.allSettled(
      [max - 2, 1, 1, 1].map((amount, n) => ledger.credit({ id: `c${n}`, account: 'rich', amount, at: AT })),
    )
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected'])
    expect(outcomes[3]).toMatchObject({ reason: expect.any(RangeError) })
    const holds = Array.from({ length: 9 }, (_, n) =>
      ledger.reserve({ id: `h${n}`, amount: max / 3 - (max % 3) / 3, accounts: [{ account: 'rich', floor: 0 }], at: AT }),
    )
    expect((await Promise.all(holds)).filter(refusal => refusal === undefined)).toHaveLength(3)
    await Promise.all(Array.from({ length: 9 }, (_, n) => ledger.settle({ id: `h${n}`, amounts: { rich: max }, at: AT })))
    expect(await ledger.balance('rich')).toEqual({ balance: -max, held: 0, credited: max, spent: max })
    expect((await ledger.entries('rich', { limit: 9 })).map(({ balanceAfter }) => balanceAfter)).toEqual([...Array(7).fill(-max), -max, 0])
  })
})
