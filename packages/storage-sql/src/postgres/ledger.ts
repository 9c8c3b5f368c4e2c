import type { Balance, CreditEntry, LedgerStore } from '@signalbox/storage'
import { faultOfCredit, faultOfExtension, faultOfHold, faultOfSettlement, faultOfSums } from '@signalbox/storage/faults'
import type { HoldExtension, HoldRefusal, HoldRenewal, HoldRequest, Settlement } from '@signalbox/storage/ledger'
import type { PostgresConnection } from './connection.ts'
import { ledgerReads } from './ledger-reads.ts'
import { keptText, numberArray, textArray, toInteger } from './parameters.ts'

const noSums: Balance = { balance: 0, held: 0, credited: 0, spent: 0 }

/** Balances, holds and entries in PostgreSQL. `await postgresLedger(connection).balance('credit:me')` */
export function postgresLedger(connection: PostgresConnection): LedgerStore {
  const reserve = connection.batched(reserveVerb)
  const extend = connection.batched(extendVerb)
  const renew = connection.batched(renewVerb)
  const settle = connection.batched(settleVerb)
  const credit = connection.batched(creditVerb)
  const balance = connection.batched(balanceVerb)
  return {
    reserve(hold) {
      const fault = faultOfHold(hold)
      return fault ? Promise.reject(fault) : reserve(copyHold(hold))
    },
    renew: renewals => renew(renewals.map(renewal => ({ ...renewal }))),
    extend(extension) {
      const fault = faultOfExtension(extension)
      if (fault) return Promise.reject(fault)
      return extend({ id: extension.id, accounts: extension.accounts.map(each => ({ ...each })) })
    },
    ...ledgerReads(connection),
    settle(settlement) {
      const fault = faultOfSettlement(settlement)
      return fault ? Promise.reject(fault) : settle({ ...settlement, amounts: { ...settlement.amounts } })
    },
    credit(entry) {
      const fault = faultOfCredit(entry)
      return fault ? Promise.reject(fault) : credit({ ...entry })
    },
    balance,
    forget: forgetAccounts(connection),
  }
}

/** Accounts removed by one transaction, which blocks the rest of the ledger. */
const MAX_FORGOTTEN = 250
/** Entries removed by one transaction, which blocks nothing. */
const MAX_ENTRIES = 5_000

/** Removes accounts, after most of their entries. */
function forgetAccounts(connection: PostgresConnection): LedgerStore['forget'] {
  const entries = connection.caller('ledger.forget', 'forget_entries', ['text[]', 'int'])
  const forget = connection.caller('ledger.forget', 'forget_accounts', ['text[]'])
  return async accounts => {
    let gone = 0
    for (let at = 0; at < accounts.length; at += MAX_FORGOTTEN) {
      const part = textArray(accounts.slice(at, at + MAX_FORGOTTEN))
      while (toInteger(await entries([part, MAX_ENTRIES])) === MAX_ENTRIES);
      gone += toInteger(await forget([part]))
    }
    return gone
  }
}

/** Copied, because the caller may change the object before the batch is sent. */
const copyHold = ({ id, amount, accounts, at, journal }: HoldRequest): HoldRequest => ({
  id,
  amount,
  accounts: accounts.map(({ account, floor, amount: own = amount }) => ({ account, floor, amount: own })),
  at,
  ...(journal && { journal }),
})

/** One row per account of each call; a call without accounts has one row without an account. */
function accountRows(calls: readonly Pick<HoldRequest, 'accounts'>[]) {
  const numbers: number[] = []
  const accounts: (string | undefined)[] = []
  const floors: (number | undefined)[] = []
  const amounts: number[] = []
  for (const [index, { accounts: wanted }] of calls.entries()) {
    for (const { account, floor, amount = 0 } of wanted) {
      numbers.push(index + 1)
      accounts.push(account)
      floors.push(floor === Number.NEGATIVE_INFINITY ? undefined : floor)
      amounts.push(amount)
    }
    if (wanted.length > 0) continue
    numbers.push(index + 1)
    accounts.push(undefined)
    floors.push(undefined)
    amounts.push(0)
  }
  return [numberArray(numbers), textArray(accounts), numberArray(floors), numberArray(amounts)]
}

const accountRowTypes = ['int[]', 'text[]', 'bigint[]', 'bigint[]'] as const

/** A refusal in a batch: index of the call, the account without room, and what it could still hold. */
type RefusedHold = readonly [number: number, account: string | null, available: number]

function toRefusals(answer: unknown, calls: readonly Pick<HoldRequest, 'accounts'>[]): readonly (HoldRefusal | undefined)[] {
  const refusals: (HoldRefusal | undefined)[] = calls.map(() => undefined)
  if (typeof answer !== 'string') return refusals
  for (const [number, account, available] of JSON.parse(answer) as readonly RefusedHold[]) {
    const first = calls[number - 1]?.accounts[0]
    const name = account ?? first?.account
    if (name !== undefined) refusals[number - 1] = { account: name, available }
  }
  return refusals
}

const reserveVerb = {
  verb: 'ledger.reserve' as const,
  name: 'reserve',
  types: ['text[]', 'text[]', ...accountRowTypes],
  keyOf: ({ id }: HoldRequest) => id,
  toValues: (holds: readonly HoldRequest[]) => [
    textArray(holds.map(({ id }) => id)),
    textArray(holds.map(({ journal }) => keptText(journal?.()))),
    ...accountRows(holds),
  ],
  toAnswers: toRefusals,
}

const extendVerb = {
  verb: 'ledger.extend' as const,
  name: 'extend',
  types: ['text[]', ...accountRowTypes],
  keyOf: ({ id }: HoldExtension) => id,
  toValues: (extensions: readonly HoldExtension[]) => [textArray(extensions.map(({ id }) => id)), ...accountRows(extensions)],
  toAnswers: toRefusals,
}

const renewVerb = {
  verb: 'ledger.renew' as const,
  name: 'renew',
  types: ['text[]', 'text[]'],
  toValues: (calls: readonly (readonly HoldRenewal[])[]) => {
    const renewals = calls.flat()
    return [textArray(renewals.map(({ id }) => id)), textArray(renewals.map(({ journal }) => keptText(journal?.())))]
  },
  toAnswers: noAnswers,
}

/** The types of `chargeParameters`. */
export const chargeTypes: readonly string[] = ['bigint[]', 'int[]', 'text[]', 'bigint[]']

/** The times of settlements, and one row per account of each. `chargeParameters([{ amounts, at }])` */
export function chargeParameters(settlements: readonly Pick<Settlement, 'amounts' | 'at'>[]): readonly string[] {
  const numbers: number[] = []
  const accounts: string[] = []
  const amounts: number[] = []
  for (const [index, settlement] of settlements.entries())
    for (const [account, amount] of Object.entries(settlement.amounts)) {
      numbers.push(index + 1)
      accounts.push(account)
      amounts.push(amount)
    }
  return [numberArray(settlements.map(({ at }) => at)), numberArray(numbers), textArray(accounts), numberArray(amounts)]
}

const settleVerb = {
  verb: 'ledger.settle' as const,
  name: 'settle',
  types: ['text[]', ...chargeTypes],
  keyOf: ({ id }: Settlement) => id,
  toValues: (settlements: readonly Settlement[]) => [textArray(settlements.map(({ id }) => id)), ...chargeParameters(settlements)],
  toAnswers: noAnswers,
}

const creditVerb = {
  verb: 'ledger.credit' as const,
  name: 'credit',
  types: ['text[]', 'text[]', 'bigint[]', 'bigint[]', 'text[]', 'text[]'],
  toValues: (entries: readonly CreditEntry[]) => [
    textArray(entries.map(({ id }) => id)),
    textArray(entries.map(({ account }) => account)),
    numberArray(entries.map(({ amount }) => amount)),
    numberArray(entries.map(({ at }) => at)),
    textArray(entries.map(({ kind = 'credit' }) => kind)),
    textArray(entries.map(({ note }) => note)),
  ],
  toAnswers: (answer: unknown, entries: readonly CreditEntry[]): readonly (undefined | Error)[] => {
    const answers: (undefined | Error)[] = entries.map(() => undefined)
    const refused = typeof answer === 'string' ? (JSON.parse(answer) as readonly (readonly [number, number, number])[]) : []
    for (const [number, balance, credited] of refused) {
      const entry = entries[number - 1]
      if (entry) answers[number - 1] = faultOfSums({ balance, credited }, entry)
    }
    return answers
  },
}

const balanceVerb = {
  verb: 'read' as const,
  name: 'balances',
  types: ['text[]'],
  toValues: (accounts: readonly string[]) => [textArray([...new Set(accounts)])],
  toAnswers: (answer: unknown, accounts: readonly string[]): readonly Balance[] => {
    const rows = typeof answer === 'string' ? (JSON.parse(answer) as readonly (readonly [string, ...(readonly number[])])[]) : []
    const found = new Map(rows.map(([account, ...sums]) => [account, sums.map(toInteger)]))
    return accounts.map(account => {
      const [balance = 0, held = 0, credited = 0, spent = 0] = found.get(account) ?? []
      return found.has(account) ? { balance, held, credited, spent } : { ...noSums }
    })
  },
}

/** The results of a method that returns nothing. */
function noAnswers(_: unknown, calls: readonly unknown[]): readonly undefined[] {
  return calls.map(() => undefined)
}
