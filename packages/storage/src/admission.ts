import { type Awaitable, allSettled, andThen, recover } from './awaitable.ts'
import type { CounterRequest, CounterStore, SlotRequest } from './counters.ts'
import { faultOfHold, faultOfSlot, faultOfTake } from './faults.ts'
import type { HoldRequest, LedgerStore } from './ledger.ts'

/** A limit, and what a request takes of it. */
export interface Limit {
  /**
   * `rate`: a counter of requests, which also counts those that a slot or an account refuses. `tokens`: a counter like it that counts none
   * of them. `slot`: a place for the time of a request, under the id of its admission. `account`: money of the ledger.
   */
  readonly kind: 'rate' | 'tokens' | 'slot' | 'account'
  /** The name of the counter, the slots or the account. */
  readonly key: string
  /** What is counted, or microdollars to set aside. A slot is always 1. */
  readonly amount: number
  /** The most that is counted or taken. Of an account: how far its balance minus its holds may fall below 0; `Infinity` for any sum. */
  readonly limit: number
  /** Milliseconds after which a counter starts again, or a slot frees itself. 0 for an account. */
  readonly windowMs: number
}

/** What a request takes before it is served. */
export interface Admission {
  /** The id of its slots and its hold. */
  readonly id: string
  readonly limits: readonly Limit[]
  /** Unix milliseconds. */
  readonly at: number
  /** The journal of its hold, as in `HoldRequest`. With a journal there is a hold, even without accounts. */
  readonly journal?: (() => string) | undefined
}

/** The limit that refuses an admission. */
export interface LimitRefusal {
  /** Its place among the limits. */
  readonly index: number
  /** Milliseconds until a counter has room, or microdollars that an account could still set aside. 0 for a slot. */
  readonly left: number
}

/** An admission as the stores take it. */
export interface AdmissionParts {
  /** Places of the counters, the slots and the accounts among the limits. */
  readonly places: { readonly counters: readonly number[]; readonly slots: readonly number[]; readonly accounts: readonly number[] }
  readonly takes: readonly CounterRequest[]
  readonly slots: readonly SlotRequest[]
  /** Undefined if no money is set aside and no journal is kept. */
  readonly hold: HoldRequest | undefined
}

/** What an admission takes of each store. `admissionParts({ id, limits, at }).takes` */
export function admissionParts({ id, limits, at, journal }: Admission): AdmissionParts {
  const places = { counters: [] as number[], slots: [] as number[], accounts: [] as number[] }
  const takes: CounterRequest[] = []
  const slots: SlotRequest[] = []
  const accounts: { readonly account: string; readonly amount: number; readonly floor: number }[] = []
  limits.forEach(({ kind, key, amount, limit, windowMs }, index) => {
    if (kind === 'slot') {
      places.slots.push(index)
      slots.push({ key, slot: id, limit, ttlMs: windowMs })
    } else if (kind === 'account') {
      places.accounts.push(index)
      accounts.push({ account: key, amount, floor: 0 - limit })
    } else {
      places.counters.push(index)
      takes.push({ key, amount, limit, windowMs })
    }
  })
  return { places, takes, slots, hold: journal || accounts.length > 0 ? { id, amount: 0, accounts, at, journal } : undefined }
}

/** The error of an invalid admission. `faultOfAdmission({ ...admission, at: NaN })?.message` */
export function faultOfAdmission(admission: Admission): RangeError | undefined {
  const { takes, slots, hold } = admissionParts(admission)
  const fault = faultOfTake(takes, admission.at) ?? (hold && faultOfHold(hold))
  if (fault) return fault
  for (const slot of slots) {
    const fault = faultOfSlot(slot, admission.at)
    if (fault) return fault
  }
  return undefined
}

/** The stores of which an admission takes. */
export interface AdmissionStores {
  readonly counters: Pick<CounterStore, 'take' | 'add' | 'enter' | 'leave'>
  readonly ledger: Pick<LedgerStore, 'reserve'>
}

/** Admits a request by the storage's own method if it has one, else in parts. `await admitTo(storage, { id, limits, at })` */
export const admitTo = (
  storage: AdmissionStores & { admit?(admission: Admission): Awaitable<LimitRefusal | undefined> },
  admission: Admission,
): Awaitable<LimitRefusal | undefined> => (storage.admit ? storage.admit(admission) : admitInParts(storage, admission))

/**
 * `Storage.admit` for stores without a common transaction: takes the counters and the slots together, then places the hold. What was taken
 * is given back if another part refuses or fails.
 *
 * @throws the error of the first part that failed, or rejects with it
 * @example
 * const refusal = await admitInParts({ counters, ledger }, { id, limits, at })
 */
export function admitInParts({ counters, ledger }: AdmissionStores, admission: Admission): Awaitable<LimitRefusal | undefined> {
  const { id, limits, at } = admission
  const { places, takes, slots, hold } = admissionParts(admission)
  const calls: (() => Awaitable<unknown>)[] = [() => (takes.length > 0 ? counters.take(takes, at) : undefined)]
  for (const slot of slots) calls.push(() => counters.enter(slot, at))
  return andThen(allSettled(calls), ([taken, ...entered]) => {
    const giveBack = (): Awaitable<unknown> => {
      const leaving: (() => Awaitable<void>)[] = slots.map(
        ({ key }) =>
          () =>
            counters.leave(key, id),
      )
      const isCounted = taken?.status === 'fulfilled' && taken.value === undefined
      if (isCounted) for (const { kind, key, amount } of limits) if (kind === 'tokens') leaving.push(() => counters.add(key, -amount, at))
      return allSettled(leaving)
    }
    const refuse = (index: number, left: number): Awaitable<LimitRefusal> => andThen(giveBack(), () => ({ index, left }))
    const fail = (error: unknown): never => {
      // The client does not wait for a store that has failed.
      void giveBack()
      throw error
    }
    for (const [index, place] of places.slots.entries()) {
      const end = entered[index]
      if (end?.status === 'rejected') return fail(end.reason)
      if (!end?.value) return refuse(place, 0)
    }
    if (taken?.status === 'rejected') return fail(taken.reason)
    const full = taken?.value as Awaited<ReturnType<CounterStore['take']>>
    if (full) return refuse(placeOf(full.key, limits, places.counters) ?? places.counters[0] ?? 0, full.retryAfterMs)
    if (!hold) return undefined
    return andThen(
      recover(() => ledger.reserve(hold), fail),
      refusal => {
        const place = refusal && placeOf(refusal.account, limits, places.accounts)
        if (refusal && place === undefined)
          return fail(new Error(`The ledger refused an account that was not part of the hold: ${refusal.account}.`))
        return refusal && refuse(place ?? 0, refusal.available)
      },
    )
  })
}

const placeOf = (key: string, limits: readonly Limit[], places: readonly number[]): number | undefined =>
  places.find(place => limits[place]?.key === key)
