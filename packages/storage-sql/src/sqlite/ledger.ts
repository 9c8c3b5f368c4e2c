import type { Balance, LedgerStore } from '@signalbox/storage'
import { faultOfCredit, faultOfExtension, faultOfHold, faultOfSettlement } from '@signalbox/storage/faults'
import type {
  AccountHold,
  HoldExtension,
  HoldQuery,
  HoldRefusal,
  HoldRenewal,
  HoldRequest,
  LiveHold,
  Settlement,
} from '@signalbox/storage/ledger'
import type { Connection } from './connection.ts'
import { creditVerb } from './credits.ts'
import { accountsVerb, sqliteForget } from './ledger-accounts.ts'
import { entriesVerb } from './ledger-entries.ts'
import * as sql from './ledger-sql.ts'
import { command, inParts, query, type Row, type Statement, statement, type Verb } from './verb.ts'

/** Balances, holds and entries in SQLite. `await sqliteLedger(connection).balance('credit:me')` */
export function sqliteLedger({ read, write }: Pick<Connection, 'read' | 'write'>): LedgerStore {
  return {
    reserve(hold) {
      const fault = faultOfHold(hold)
      return fault ? Promise.reject(fault) : write(reserveVerb(hold))
    },
    renew: holds => write(renewVerb(holds)),
    extend(extension) {
      const fault = faultOfExtension(extension)
      return fault ? Promise.reject(fault) : write(extendVerb(extension))
    },
    holds: filter => read(holdsVerb(filter)),
    settle(settlement) {
      const fault = faultOfSettlement(settlement)
      return fault ? Promise.reject(fault) : write(settleVerb(settlement))
    },
    credit(entry) {
      const fault = faultOfCredit(entry)
      return fault ? Promise.reject(fault) : write(creditVerb(entry))
    },
    balance: account => read(query(statement(BALANCE, account), toBalance)),
    entries: (account, filter) => read(entriesVerb(account, filter)),
    accounts: filter => read(accountsVerb(filter)),
    forget: sqliteForget({ write }),
  }
}

/** Account, amount and floor; the floor is null for one of -Infinity. */
export type Wanted = readonly [account: string, amount: number, floor: number | null]

export const toWanted = ({ account, amount, floor }: Required<AccountHold>): Wanted => [
  account,
  amount,
  Number.isFinite(floor) ? floor : null,
]

/** The stored accounts of a hold: a JSON list of pairs. `heldText([['credit:me', 5, 0]])` */
export const heldText = (wanted: readonly Wanted[]): string => JSON.stringify(wanted.map(([account, amount]) => [account, amount]))

function reserveVerb({ id, amount: usual, accounts, journal }: HoldRequest): Verb<HoldRefusal | undefined> {
  const wanted = accounts.map(({ account, floor, amount = usual }) => toWanted({ account, floor, amount }))
  const hold = statement(sql.HOLD, id, heldText(wanted), journal?.() ?? null)
  return {
    refusals: [statement(sql.REFUSE_KNOWN, id), sql.refuseReserve([], wanted)],
    statements: wanted.length > 0 ? [sql.setAside([], wanted), hold] : [hold],
    answer: toRefusal,
  }
}

function extendVerb({ id, accounts }: HoldExtension): Verb<HoldRefusal | undefined> {
  const wanted = accounts.map(toWanted)
  return {
    refusals: [sql.refuseExtend([id, accounts[0]?.account ?? null], wanted)],
    statements: [sql.setAside([], wanted), statement(sql.GROW_HOLD, id, heldText(wanted))],
    answer: toRefusal,
  }
}

function toRefusal(_: unknown, verdict: string | undefined): HoldRefusal | undefined {
  const [account, available] = (JSON.parse(verdict ?? 'null') ?? []) as readonly (string | number | null)[]
  return typeof account === 'string' ? { account, available: Number(available) } : undefined
}

/** Holds renewed by one statement: their journals are one parameter. */
const HOLDS_PER_RENEWAL = 256

function renewVerb(holds: readonly HoldRenewal[]): Verb<void> {
  const pairs = holds.map(({ id, journal }) => [id, journal?.() ?? null] as const)
  return command(...inParts(pairs, HOLDS_PER_RENEWAL).map(part => statement(sql.RENEW, JSON.stringify(part))))
}

/** Charges a request once, and ends its hold. */
export function settleVerb({ id, amounts, at }: Settlement): Verb<void> {
  const charged = Object.entries(amounts)
  const ending = [statement(sql.FREE_HELD, id), statement(sql.UNHOLD, id), statement(sql.BEGIN_SETTLEMENT, id)]
  const charges = (): readonly Statement[] => [
    sql.charge([], charged),
    sql.enterUsage([id, at], charged),
    sql.noteHours([id, Math.trunc(at / sql.HOUR_MS)], charged),
  ]
  return {
    refusals: [statement(sql.REFUSE_SETTLE, id)],
    statements: charged.length > 0 ? [...ending, ...charges()] : ending,
    answer: () => undefined,
  }
}

const HOLDS = 'SELECT id, version, journal FROM holds'

const holdsVerb = ({ after, limit }: HoldQuery): Verb<readonly LiveHold[]> =>
  query(
    after === undefined
      ? statement(`${HOLDS} ORDER BY id LIMIT ?1`, Math.max(0, limit))
      : statement(`${HOLDS} WHERE id > ?1 ORDER BY id LIMIT ?2`, after, Math.max(0, limit)),
    rows =>
      rows.map(({ id, version, journal }) => ({
        id: String(id),
        version: Number(version),
        ...(typeof journal === 'string' && { journal }),
      })),
  )

const BALANCE = `SELECT ${['balance', 'held', 'credited', 'spent'].map(column => `${sql.clamped(column)} AS ${column}`).join(', ')}
  FROM accounts WHERE account = ?1`

const toBalance = ([row]: readonly Row[]): Balance => ({
  balance: Number(row?.balance ?? 0),
  held: Number(row?.held ?? 0),
  credited: Number(row?.credited ?? 0),
  spent: Number(row?.spent ?? 0),
})
