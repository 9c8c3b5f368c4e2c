import type { Balance, CreditEntry, HoldExtension, HoldRefusal, HoldRequest, LiveHold, Settlement } from '@signalbox/storage/ledger'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type MakeStorage, type RunCount, T0 } from './subject.ts'

// A simple and slow model of the ledger, which stores must agree with for any sequence of calls.

type Step =
  | { readonly verb: 'reserve'; readonly hold: Omit<HoldRequest, 'at'> }
  | { readonly verb: 'settle'; readonly settlement: Omit<Settlement, 'at'> }
  | { readonly verb: 'credit'; readonly entry: Omit<CreditEntry, 'at'> }
  | { readonly verb: 'renew'; readonly id: string }
  | { readonly verb: 'extend'; readonly extension: HoldExtension }

const ACCOUNTS = ['a', 'b', 'c']

function makeModel() {
  const entries: { account: string; amount: number; once: string; isCredit: boolean }[] = []
  const holds = new Map<string, { readonly id: string; version: number; readonly accounts: { account: string; amount: number }[] }>()
  const settled = new Set<string>()
  const sum = (account: string, isCredit: boolean) =>
    entries.reduce((total, entry) => total + (entry.account === account && entry.isCredit === isCredit ? entry.amount : 0), 0)
  const balance = (account: string): Balance => {
    const amounts = [...holds.values()].flatMap(hold => hold.accounts.flatMap(each => (each.account === account ? each.amount : [])))
    const held = amounts.reduce((total, each) => total + each, 0)
    const [credited, spent] = [sum(account, true), 0 - sum(account, false)]
    return { balance: credited - spent, held, credited, spent }
  }
  const refusalOf = (wanted: readonly { account: string; floor: number; amount: number }[]): HoldRefusal | undefined => {
    for (const { account, floor, amount } of wanted) {
      const now = balance(account)
      const available = now.balance - now.held - floor
      if (available < amount) return { account, available: Math.max(0, available) }
    }
    return undefined
  }
  return {
    balance,
    reserve({ id, amount: usual, accounts }: HoldRequest): HoldRefusal | undefined {
      if (holds.has(id) || settled.has(id)) return undefined
      const wanted = accounts.map(({ account, floor, amount = usual }) => ({ account, floor, amount }))
      const refusal = refusalOf(wanted)
      if (!refusal) holds.set(id, { id, version: 1, accounts: wanted.map(({ account, amount }) => ({ account, amount })) })
      return refusal
    },
    renew(id: string): void {
      const hold = holds.get(id)
      if (hold) hold.version++
    },
    extend({ id, accounts }: HoldExtension): HoldRefusal | undefined {
      const hold = holds.get(id)
      if (!hold) return accounts[0] && { account: accounts[0].account, available: 0 }
      const refusal = refusalOf(accounts)
      if (refusal) return refusal
      for (const { account, amount } of accounts) hold.accounts.push({ account, amount })
      hold.version++
      return undefined
    },
    holds: (): readonly Pick<LiveHold, 'id' | 'version'>[] => [...holds.values()].map(({ id, version }) => ({ id, version })),
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
const wanted = fc.record({ account, floor, amount })
const differing = { selector: (each: { readonly account: string }) => each.account, maxLength: 3 }
const reserving = fc.record({
  verb: fc.constant('reserve' as const),
  hold: fc.record({
    id,
    amount,
    accounts: fc.uniqueArray(fc.record({ account, floor, amount }, { requiredKeys: ['account', 'floor'] }), differing),
  }),
})
const renewing = fc.record({ verb: fc.constant('renew' as const), id })
const extending = fc.record({
  verb: fc.constant('extend' as const),
  extension: fc.record({ id, accounts: fc.uniqueArray(wanted, differing) }),
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
  { arbitrary: renewing, weight: 1 },
  { arbitrary: extending, weight: 3 },
)

const byId = (one: Pick<LiveHold, 'id'>, other: Pick<LiveHold, 'id'>): number => (one.id < other.id ? -1 : 1)

/** Random sequences, compared with the model after every step. `describeLedgerModel(opener(make), runs => runs)` */
export function describeLedgerModel(open: MakeStorage, runs: RunCount): void {
  test('the ledger agrees with the model for any sequence of calls', async () => {
    const { ledger } = (await open()).storage
    let run = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 60 }), async steps => {
        // One store for all runs: each run has its own accounts and ids.
        const mine = (name: string) => `${run}:${name}`
        run++
        const model = makeModel()
        const at = T0
        for (const next of steps) {
          if (next.verb === 'reserve') {
            const accounts = next.hold.accounts.map(held => ({ ...held, account: mine(held.account) }))
            const hold = { ...next.hold, id: mine(next.hold.id), accounts, at }
            expect(await ledger.reserve(hold)).toEqual(model.reserve(hold))
          }
          if (next.verb === 'renew') {
            model.renew(mine(next.id))
            await ledger.renew([{ id: mine(next.id) }])
          }
          if (next.verb === 'extend') {
            const accounts = next.extension.accounts.map(each => ({ ...each, account: mine(each.account) }))
            const extension = { id: mine(next.extension.id), accounts }
            expect(await ledger.extend(extension)).toEqual(model.extend(extension))
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
          for (const name of ACCOUNTS) expect(await ledger.balance(mine(name))).toEqual(model.balance(mine(name)))
        }
        const live = (await ledger.holds({ limit: 100_000 })).filter(({ id }) => id.startsWith(mine('')))
        expect(live.map(({ id, version }) => ({ id, version })).sort(byId)).toEqual([...model.holds()].sort(byId))
        for (const name of ACCOUNTS) {
          const entries = await ledger.entries(mine(name), { limit: 1_000 })
          expect(entries.reduce((sum, entry) => sum + entry.amount, 0)).toBe(model.balance(mine(name)).balance)
          expect(entries[0]?.balanceAfter ?? 0).toBe(model.balance(mine(name)).balance)
        }
      }),
      { numRuns: runs(300) },
    )
  })
}
