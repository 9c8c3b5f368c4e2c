import { type Awaitable, andThen, promised } from './awaitable.ts'
import type { HoldRefusal, HoldRequest, LedgerStore, Settlement } from './ledger.ts'
import type { ExposureEntry, OutageExposure } from './outage-exposure.ts'
import type { OutageGuard } from './outage-policy.ts'
import { chargeOf } from './settlement.ts'
import type { Storage } from './storage.ts'

/** Applies the policy to a durable storage. */
export interface GraceGuard extends OutageGuard {
  /** `late` is called with a response that arrives after the call was answered without the storage. `isAnswered`: whether that succeeded. */
  run<T>(
    method: Parameters<OutageGuard['run']>[0],
    call: () => Awaitable<T>,
    instead: () => Awaitable<T>,
    late?: (value: T, isAnswered: boolean) => void,
  ): Awaitable<T>
  /** Runs a call whose timeouts and errors say nothing about the storage. During an outage it fails at once. */
  pass<T>(run: () => Awaitable<T>): Awaitable<T>
}

/** Options of `graceLedger`. */
export interface GraceLedgerOptions {
  readonly ledger: LedgerStore
  /** Settles a request in the database. */
  readonly settleThere: Storage['settle']
  readonly guard: GraceGuard
  readonly exposure: OutageExposure
}

/** A ledger that places holds within caps while its database is unavailable. */
export interface GraceLedger extends LedgerStore {
  /** The `settle` method of the storage. */
  readonly settleRequest: Storage['settle']
  /** Places the holds of running requests in the database. Holds that it does not accept now stay in the exposure. */
  repair(): Promise<void>
}

/**
 * Creates a ledger that places holds in the database, or in the exposure of this process during an outage. Settlements always go to the
 * database: one that fails waits in the gateway's queue and spool, is written once later, and counts as exposure until then.
 */
export function graceLedger({ ledger, settleThere, guard, exposure }: GraceLedgerOptions): GraceLedger {
  const recordAnswer = (hold: HoldRequest, mark: number, refusal: HoldRefusal | undefined): HoldRefusal | undefined => {
    if (refusal) exposure.uncover(refusal.account)
    else exposure.cover(hold, mark)
    return refusal
  }
  const settleExposed = (settlement: Settlement, settle: () => Awaitable<void>): Awaitable<void> => {
    const { id } = settlement
    const entry = exposure.entry(id)
    if (!entry) return guard.run('other', settle, settle)
    exposure.spend(entry, settlement)
    // A hold that is being placed must not arrive after its settlement.
    const run = () => andThen(andThen(entry.placing, settle), () => exposure.written(id, entry))
    return guard.run('other', run, run)
  }
  return {
    reserve(hold) {
      const mark = exposure.mark()
      const admitHere = () => (exposure.admit(hold) ? undefined : Promise.reject(capError(hold.id)))
      return guard.run<HoldRefusal | undefined>(
        'ledger.reserve',
        () => andThen(ledger.reserve(hold), refusal => recordAnswer(hold, mark, refusal)),
        admitHere,
        (refusal, isAnswered) => {
          if (refusal) return
          const entry = exposure.entry(hold.id)
          if (entry) entry.isPlaced = true
          // If this fails, the hold is no longer renewed and is collected like that of an ended process.
          if (!isAnswered) promised(() => ledger.settle({ id: hold.id, amounts: {}, at: hold.at })).catch(() => {})
        },
      )
    },
    extend(extension) {
      const extendHere = () => (exposure.extend(extension) ? undefined : Promise.reject(capError(extension.id)))
      const entry = exposure.entry(extension.id)
      if (entry?.request && !entry.isPlaced) return extendHere()
      return guard.run<HoldRefusal | undefined>('ledger.extend', () => ledger.extend(extension), extendHere)
    },
    settle: settlement => settleExposed(settlement, () => ledger.settle(settlement)),
    settleRequest: settlement => settleExposed(chargeOf(settlement), () => settleThere(settlement)),
    async repair() {
      await Promise.all(exposure.unplaced().map(([id, entry]) => placeHold(ledger, id, entry)))
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

/** Places a hold that was already granted here, without floors, because its request is running. */
async function placeHold(ledger: LedgerStore, id: string, entry: ExposureEntry): Promise<void> {
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
  new Error(`The storage is unavailable, and request ${id} exceeds the caps for outages. Try again when the storage is back.`)
