import { type Awaitable, allSettled, andThen, recover } from './awaitable.ts'
import { CircuitBreaker, type Outage, settledWithin } from './breaker.ts'
import type { CounterStore } from './counters.ts'
import { fallbackCounters, sharedOut } from './fallback-counters.ts'
import { type GraceGuard, graceLedger } from './grace-ledger.ts'
import { type GraceCaps, outageExposure } from './outage-exposure.ts'
import { consoleLog, type OutageLogger, outagePolicy } from './outage-policy.ts'
import type { RecordStore } from './records.ts'
import type { Storage } from './storage.ts'

// An outage is what a probe confirms: a call may fail or hang for reasons of its own. The caps are for each process, which cannot know how
// many others are cut off. Not the last known balance: other processes spend it too. A storage without a spool is refused, because what was
// answered during an outage waits there.

/** Default, range and unit of the numeric options of `withOutageGrace`. */
export const graceFacts = {
  graceMs: { usual: 300_000, least: 1_000, most: 3_600_000, unit: 'milliseconds' },
  maxPerProcess: { usual: 50_000_000, least: 0, most: 1_000_000_000_000, unit: 'microdollars' },
  maxPerAccount: { usual: 5_000_000, least: 0, most: 1_000_000_000_000, unit: 'microdollars' },
  maxPerLimitedAccount: { usual: 0, least: 0, most: 1_000_000_000_000, unit: 'microdollars' },
  maxWaitMs: { usual: 1_000, least: 10, most: 10_000, unit: 'milliseconds' },
} as const

/** Options of `withOutageGrace`. */
export interface OutageGraceOptions extends Partial<GraceCaps> {
  /** Counters for limits and slots during an outage, such as those of a memory storage. */
  readonly counters: CounterStore
  /** Number of processes that share the storage: each admits its share of a limit. Default: 1. */
  readonly processes?: () => number
  /** How long new requests are admitted after an outage begins, in milliseconds. Default: 300,000. */
  readonly graceMs?: number
  /** Microdollars that may be held or owed without the database at any time, over all accounts. Default: 50,000,000. */
  readonly maxPerProcess?: number
  /** Microdollars per account without a floor, such as postpaid credit. Default: 5,000,000. */
  readonly maxPerAccount?: number
  /**
   * Microdollars by which this process may overspend an account with a floor, such as prepaid credit or a budget. 0 admits no request on
   * such an account, unless it is free. Default: 0.
   */
  readonly maxPerLimitedAccount?: number
  /** Milliseconds without a response after which the storage is probed, for half as long. Default: 1,000. */
  readonly maxWaitMs?: number
  /** Called when an outage begins, when its grace is over and when it ends, for a metric. Errors it throws are logged. */
  readonly onOutage?: (event: GraceEvent) => unknown
  /** @default warnings go to the console */
  readonly logger?: OutageLogger
}

/** An outage of the durable storage, as passed to the hook `onOutage`. */
export interface GraceEvent {
  readonly state: 'begun' | 'grace_over' | 'over'
  readonly reason: string
  /** Duration so far in milliseconds; 0 when it begins. */
  readonly lastedMs: number
  /** Requests whose hold or settlement is missing in the database. */
  readonly requests: number
  /** Microdollars that they cost, or may cost. */
  readonly amount: number
}

/**
 * Keeps admitting requests for a while when the storage is unavailable. API keys and policies that were read in the minute before stay in
 * use, this process grants holds up to caps, `counters` counts limits, and settlements wait in the spool, from which each is written once.
 * Everything else fails as without it. An available storage is used unchanged.
 *
 * @throws {RangeError} The storage has no spool, or an option is out of range.
 * @example
 * const durable = postgresStorage(url, { spool: '/var/lib/app/signalbox' })
 * const storage = withOutageGrace(durable, { counters: memoryStorage().counters, maxPerLimitedAccount: usd(1) })
 */
export function withOutageGrace(storage: Storage, options: OutageGraceOptions): Storage {
  if (!storage.spool)
    throw new RangeError(
      'withOutageGrace: the storage has no spool, so settlements could be lost during an outage. Create the storage with `{ spool }`.',
    )
  const { counters, processes = () => 1, onOutage = () => {}, logger = consoleLog } = options
  const numbers = numbersOf(options)
  const { graceMs, maxWaitMs } = numbers
  const exposure = outageExposure(numbers)
  const { ledger } = storage
  const report = (state: GraceEvent['state'], { error, since }: Outage): void => {
    const event = {
      ...{ state, reason: error.message, lastedMs: state === 'begun' ? 0 : lastedMsOf({ since }) },
      ...{ requests: exposure.size(), amount: exposure.amount() },
    }
    const { reason, lastedMs, requests, amount } = event
    logger[state === 'over' ? 'info' : 'warn']({ reason, lasted_ms: lastedMs, requests, amount }, messages[state])
    void recover(
      async () => onOutage(event),
      error => logger.warn({ error: String(error) }, '`onOutage` failed.'),
    )
  }
  // Reads succeed even if the storage is not writable; renewing an empty list of holds does not.
  const probe = () => settledWithin(maxWaitMs / 2, () => ledger.renew([]))
  // Skips what is not possible yet.
  const repair = () => Promise.allSettled([guardedCounters.repair(), guardedLedger.repair()])
  let withoutGrace: Outage | undefined
  const breaker = new CircuitBreaker({
    silenceMs: maxWaitMs,
    probe,
    async recover(outage) {
      if (withoutGrace !== outage && lastedMsOf(outage) >= graceMs) {
        withoutGrace = outage
        report('grace_over', outage)
      }
      await probe()
      await settledWithin(maxRepairMs, repair)
      // The storage may have become unavailable again.
      await probe()
    },
    // A single call may fail for reasons of its own. A RangeError is that of an invalid argument, such as a fraction of a microdollar.
    effectOf: error => (error instanceof RangeError ? 'own' : 'probe'),
    onChange(outage, isOver) {
      report(isOver ? 'over' : 'begun', outage)
      // For calls that were answered without the storage after the first repair.
      if (isOver) void repair()
    },
  })
  const guard: GraceGuard = {
    run: (method, call, instead, late) => {
      const answerHere = (outage: Outage) => {
        const way = outagePolicy[method]
        const isRefused = way === 'reject' || (way === 'grace' && lastedMsOf(outage) >= graceMs)
        return isRefused ? Promise.reject(awayError(outage)) : instead()
      }
      return breaker.run(call, answerHere, late)
    },
    pass: run => (breaker.outage ? Promise.reject(awayError(breaker.outage)) : run()),
  }
  const guardedCounters = fallbackCounters({ guard, primary: storage.counters, fallback: sharedOut(counters, processes) })
  const guardedLedger = graceLedger({ ledger, settleThere: settlement => storage.settle(settlement), guard, exposure })
  return {
    ...passing(storage, guard),
    counters: guardedCounters,
    ledger: guardedLedger,
    settle: settlement =>
      andThen(allSettled(settlement.slotKeys.map(key => () => guardedCounters.leaveFallback(key, settlement.row.id))), () =>
        guardedLedger.settleRequest(settlement),
      ),
    changes: storage.changes,
    spool: storage.spool,
    isShared: storage.isShared,
    outage() {
      if (!breaker.outage) return undefined
      const lastedMs = performance.now() - breaker.outage.since
      return { lastedMs, leftMs: Math.max(0, graceMs - lastedMs) }
    },
    ping: () =>
      guard.run(
        'ping',
        () => storage.ping(),
        () => undefined,
      ),
    close() {
      breaker.close()
      return storage.close()
    },
  }
}

/** Methods that fail at once during an outage. */
const passedVerbs = {
  audit: ['last', 'list', 'chain'],
  usage: ['append', 'find', 'totals', 'list', 'count', 'forget'],
  routing: ['publish', 'pause', 'news', 'remember', 'readers'],
  items: ['put', 'find', 'renew'],
} as const satisfies { readonly [Name in 'audit' | 'usage' | 'routing' | 'items']: readonly (keyof NonNullable<Storage[Name]>)[] }

function passing({ records, audit, usage, routing, items }: Storage, guard: GraceGuard) {
  return {
    records: watchedRecords(records, guard),
    audit: { ...audit, ...passAll(audit, passedVerbs.audit, guard) },
    usage: passAll(usage, passedVerbs.usage, guard),
    routing: routing ? passAll(routing, passedVerbs.routing, guard) : undefined,
    items: items ? passAll(items, passedVerbs.items, guard) : undefined,
  }
}

/** Reads are watched, because on a quiet process they are the first to notice an outage. */
function watchedRecords(records: RecordStore, { run, pass }: GraceGuard): RecordStore {
  const watch = <T>(read: () => Awaitable<T>): Awaitable<T> => run('other', read, read)
  return {
    find: (kind, workspaceId, id) => watch(() => records.find(kind, workspaceId, id)),
    findByName: (kind, name) => watch(() => records.findByName(kind, name)),
    list: query => watch(() => records.list(query)),
    commit: change => pass(() => records.commit(change)),
    touch: (kind, uses) => pass(() => records.touch(kind, uses)),
    expire: (at, limit) => pass(() => records.expire(at, limit)),
  }
}

type StoreMethod = (...given: readonly unknown[]) => Awaitable<unknown>

/** Wraps the named methods of a store so that each fails at once during an outage. */
function passAll<Store extends object, Name extends keyof Store>(store: Store, names: readonly Name[], { pass }: GraceGuard) {
  const methods = names.map(name => [
    name,
    (...given: readonly unknown[]) => pass(() => (store[name] as StoreMethod).apply(store, [...given])),
  ])
  return Object.fromEntries(methods) as Pick<Store, Name>
}

type GraceNumbers = { readonly [Name in keyof typeof graceFacts]: number }

function numbersOf(options: OutageGraceOptions): GraceNumbers {
  const numbers = Object.entries(graceFacts).map(([name, { usual, least, most, unit }]) => {
    const value = options[name as keyof GraceNumbers] ?? usual
    if (!Number.isSafeInteger(value) || value < least || value > most)
      throw new RangeError(`withOutageGrace: \`${name}\` must be whole ${unit} from ${least} to ${most}, got ${value}.`)
    return [name, value]
  })
  return Object.fromEntries(numbers)
}

const messages: Readonly<Record<GraceEvent['state'], string>> = {
  begun: 'The storage is unavailable. Requests with cached keys are still served, within the caps, until the grace period ends.',
  grace_over: 'The storage is still unavailable and the grace period has ended. New requests are refused until the storage is back.',
  over: 'The storage is available again.',
}

/** Maximum milliseconds that a repair may delay the end of an outage. */
const maxRepairMs = 5_000

const lastedMsOf = ({ since }: Pick<Outage, 'since'>): number => Math.round(performance.now() - since)

const awayError = ({ error }: Outage): Error => new Error(`The storage is unavailable. ${error.message}`)
