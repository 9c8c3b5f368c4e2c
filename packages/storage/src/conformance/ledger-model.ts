import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Balance, CreditEntry, HoldRefusal, HoldRequest, Settlement } from '../ledger.ts'
import { type MakeStorage, T0 } from './subject.ts'

// The whole ledger again, slow and plain: what the stores must agree with, whatever happens in whatever order.

type Step =
  | { readonly verb: 'reserve'; readonly hold: Omit<HoldRequest, 'at'> }
  | { readonly verb: 'settle'; readonly settlement: Omit<Settlement, 'at'> }
  | { readonly verb: 'credit'; readonly entry: Omit<CreditEntry, 'at'> }
  | { readonly verb: 'wait'; readonly ms: number }

const ACCOUNTS = ['a', 'b', 'c']

function makeModel() {
  const entries: { account: string; amount: number; once: string; isCredit: boolean }[] = []
  const holds = new Map<string, HoldRequest>()
  const settled = new Set<string>()
  const sum = (account: string, isCredit: boolean) =>
    entries.reduce((total, entry) => total + (entry.account === account && entry.isCredit === isCredit ? entry.amount : 0), 0)
  const balance = (account: string, at: number): Balance => {
    const live = [...holds.values()].filter(hold => hold.expiresAt > at)
    const amounts = live.flatMap(hold => hold.accounts.flatMap(each => (each.account === account ? (each.amount ?? hold.amount) : [])))
    const held = amounts.reduce((total, each) => total + each, 0)
    const [credited, spent] = [sum(account, true), 0 - sum(account, false)]
    return { balance: credited - spent, held, credited, spent }
  }
  return {
    balance,
    reserve(hold: HoldRequest): HoldRefusal | undefined {
      if ((holds.get(hold.id)?.expiresAt ?? Number.NEGATIVE_INFINITY) > hold.at || settled.has(hold.id)) return undefined
      for (const { account, floor, amount = hold.amount } of hold.accounts) {
        const now = balance(account, hold.at)
        const available = now.balance - now.held - floor
        if (available < amount) return { account, available: Math.max(0, available) }
      }
      holds.set(hold.id, hold)
      return undefined
    },
    settle({ id, amounts }: Settlement): void {
      if (!settled.has(id))
        for (const [account, amount] of Object.entries(amounts)) entries.push({ account, amount: 0 - amount, once: id, isCredit: false })
      settled.add(id)
      holds.delete(id)
    },
    credit({ id, account, amount }: CreditEntry): void {
      if (!entries.some(other => other.account === account && other.isCredit && other.once === id))
        entries.push({ account, amount, once: id, isCredit: true })
    },
  }
}

const account = fc.constantFrom(...ACCOUNTS)
const id = fc.integer({ min: 0, max: 25 }).map(n => `id${n}`)
const amount = fc.integer({ min: 0, max: 60 })
const floor = fc.constantFrom(0, 0, 10, -40, Number.NEGATIVE_INFINITY)
const reserving = fc.record({
  verb: fc.constant('reserve' as const),
  hold: fc.record({
    id,
    amount,
    accounts: fc.uniqueArray(fc.record({ account, floor, amount }, { requiredKeys: ['account', 'floor'] }), {
      selector: held => held.account,
      maxLength: 3,
    }),
    expiresAt: fc.integer({ min: -2, max: 60 }).map(ms => T0 + ms),
  }),
})
const settling = fc.record({
  verb: fc.constant('settle' as const),
  settlement: fc.record({ id, amounts: fc.dictionary(account, amount, { noNullPrototype: true }) }),
})
const crediting = fc.record({
  verb: fc.constant('credit' as const),
  entry: fc.oneof(
    fc.record({ id, account, amount: fc.integer({ min: 1, max: 100 }) }),
    fc.record({ id, account, amount: fc.integer({ min: -90, max: 90 }).filter(n => n !== 0), kind: fc.constant('adjustment' as const) }),
  ),
})
const step: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: reserving, weight: 6 },
  { arbitrary: settling, weight: 3 },
  { arbitrary: crediting, weight: 3 },
  { arbitrary: fc.record({ verb: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 15 }) }), weight: 3 },
)

/** Random sequences, checked against the model after every step. `describeLedgerModel(opener(make))` */
export function describeLedgerModel(open: MakeStorage): void {
  test('whatever happens in whatever order, the ledger agrees with the model', async () => {
    const { ledger } = (await open()).storage
    let run = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 60 }), async steps => {
        // One store for all runs: each has accounts and ids of its own, and begins when the last one's holds are over.
        const mine = (name: string) => `${run}:${name}`
        const shift = ++run * 1_000_000
        const model = makeModel()
        let at = T0 + shift
        for (const next of steps) {
          if (next.verb === 'wait') at += next.ms
          if (next.verb === 'reserve') {
            const accounts = next.hold.accounts.map(held => ({ ...held, account: mine(held.account) }))
            const hold = { ...next.hold, id: mine(next.hold.id), accounts, at, expiresAt: next.hold.expiresAt + shift }
            expect(await ledger.reserve(hold)).toEqual(model.reserve(hold))
          }
          if (next.verb === 'settle') {
            const amounts = Object.fromEntries(Object.entries(next.settlement.amounts).map(([name, owed]) => [mine(name), owed]))
            const settlement = { id: mine(next.settlement.id), amounts, at }
            model.settle(settlement)
            await ledger.settle(settlement)
          }
          if (next.verb === 'credit') {
            const entry = { ...next.entry, id: mine(next.entry.id), account: mine(next.entry.account), at }
            model.credit(entry)
            await ledger.credit(entry)
          }
          for (const name of ACCOUNTS) expect(await ledger.balance(mine(name), at)).toEqual(model.balance(mine(name), at))
        }
        for (const name of ACCOUNTS) {
          const entries = await ledger.entries(mine(name), { limit: 1_000 })
          expect(entries.reduce((sum, entry) => sum + entry.amount, 0)).toBe(model.balance(mine(name), at).balance)
          expect(entries[0]?.balanceAfter ?? 0).toBe(model.balance(mine(name), at).balance)
        }
      }),
      { numRuns: 300 },
    )
  })
}
