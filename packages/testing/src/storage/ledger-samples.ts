import type { HoldRequest, LedgerStore } from '@signalbox/storage/ledger'
import { T0 } from './subject.ts'

/** A hold on account `a`, or on the given ones. `hold('h1', 10, { account: 'b', floor: -50 })` */
export const hold = (id: string, amount: number, ...accounts: HoldRequest['accounts']): HoldRequest => ({
  id,
  amount,
  accounts: accounts.length > 0 ? accounts : [{ account: 'a', floor: 0 }],
  at: T0,
})

/** Credits an account once. `await credit(ledger, 'a', 100)` */
export const credit = (ledger: LedgerStore, account: string, amount: number) =>
  ledger.credit({ id: `credit-${account}`, account, amount, at: T0 })

/** The same with an explicit id. `await creditAs(ledger, 'gift', ['a', 100])` */
export const creditAs = (ledger: LedgerStore, id: string, [account, amount]: readonly [string, number]) =>
  ledger.credit({ id, account, amount, at: T0 })
