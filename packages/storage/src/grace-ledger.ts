import { type Awaitable, andThen, promised } from './awaitable.ts'
import type { BookEntry, GraceBook } from './grace-book.ts'
import type { GraceGuard } from './grace-guard.ts'
import type { HoldRefusal, HoldRequest, LedgerStore, Settlement } from './ledger.ts'
import { graceRows } from './outage-policy.ts'
import { chargeOf } from './settlement.ts'
import type { Storage } from './storage.ts'

/** What a ledger with grace is made of. */
export interface GraceLedgerOptions {
  readonly ledger: LedgerStore
  /** Settles a request in the database. */
  readonly settleThere: Storage['settle']
  readonly guard: GraceGuard
  readonly book: GraceBook
}

/** A ledger that holds within caps while its database is away. */
export interface GraceLedger extends LedgerStore {
  /** `settle` of the storage. */
  readonly settleRequest: Storage['settle']
  /** Places the holds of running requests in the database. Those that it does not take now stay in the book. */
  repair(): Promise<void>
}

/**
 * Holds in the database, and during an outage in the book. A settlement always goes to the database: one that fails waits in the queue
 * and the spool of the gateway, which writes it once, and is in the book until then.
 */
export function graceLedger({ ledger, settleThere, guard, book }: GraceLedgerOptions): GraceLedger {
  const heard = (hold: HoldRequest, mark: number, refusal: HoldRefusal | undefined): HoldRefusal | undefined => {
    if (refusal) book.uncover(refusal.account)
    else book.cover(hold, mark)
    return refusal
  }
  const settleBooked = (settlement: Settlement, settle: () => Awaitable<void>): Awaitable<void> => {
    const { id } = settlement
    const entry = book.entry(id)
    if (!entry) return guard.run({ row: graceRows.other, run: settle, instead: settle })
    book.spend(entry, settlement)
    // A hold that is being placed must not come after its settlement.
    const run = () => andThen(andThen(entry.placing, settle), () => book.written(id, entry))
    return guard.run({ row: graceRows.other, run, instead: run })
  }
  return {
    reserve(hold) {
      const mark = book.mark()
      const admitHere = () => (book.admit(hold) ? undefined : Promise.reject(capError(hold.id)))
      return guard.run<HoldRefusal | undefined>({
        row: graceRows['ledger.reserve'],
        run: () => andThen(ledger.reserve(hold), refusal => heard(hold, mark, refusal)),
        instead: admitHere,
        late(refusal, isAnswered) {
          if (refusal) return
          const entry = book.entry(hold.id)
          if (entry) entry.isPlaced = true
          // Should this fail, the hold stands still and is collected like that of a process that has ended.
          if (!isAnswered) promised(() => ledger.settle({ id: hold.id, amounts: {}, at: hold.at })).catch(() => {})
        },
      })
    },
    extend(extension) {
      const extendHere = () => (book.extend(extension) ? undefined : Promise.reject(capError(extension.id)))
      const entry = book.entry(extension.id)
      if (entry?.request && !entry.isPlaced) return extendHere()
      return guard.run<HoldRefusal | undefined>({
        row: graceRows['ledger.extend'],
        run: () => ledger.extend(extension),
        instead: extendHere,
      })
    },
    settle: settlement => settleBooked(settlement, () => ledger.settle(settlement)),
    settleRequest: settlement => settleBooked(chargeOf(settlement), () => settleThere(settlement)),
    async repair() {
      await Promise.all(book.unplaced().map(([id, entry]) => placeHold(ledger, id, entry)))
    },
    renew: holds => guard.pass(() => ledger.renew(holds)),
    holds: query => guard.pass(() => ledger.holds(query)),
    credit: entry => guard.pass(() => ledger.credit(entry)),
    balance: account => guard.pass(() => ledger.balance(account)),
    entries: (account, query) => guard.pass(() => ledger.entries(account, query)),
    accounts: query => guard.pass(() => ledger.accounts(query)),
    forget: accounts => guard.pass(() => ledger.forget(accounts)),
  }
}

/** Places a hold that was decided here, without floors: its request runs. */
async function placeHold(ledger: LedgerStore, id: string, entry: BookEntry): Promise<void> {
  const { request, amounts } = entry
  if (!request) return
  const accounts = [...amounts].map(([account, amount]) => ({ account, amount, floor: Number.NEGATIVE_INFINITY }))
  entry.placing = promised(() => ledger.reserve({ ...request, id, accounts })).then(
    refusal => {
      entry.isPlaced = refusal === undefined
    },
    () => {},
  )
  await entry.placing
}

const capError = (id: string): Error =>
  new Error(`The storage cannot be used now, and the request ${id} is beyond what is let through without it. Try again once it is back.`)
