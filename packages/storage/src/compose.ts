import { type Awaitable, allSettled, andThen, recover } from './awaitable.ts'
import { CircuitBreaker } from './breaker.ts'
import type { ChangeChannel, ChangeListener, RecordChange } from './changes.ts'
import type { CounterStore } from './counters.ts'
import { EphemeralError, type EphemeralStores } from './ephemeral.ts'
import { type FallbackCounters, fallbackCounters, sharedOut } from './fallback-counters.ts'
import { consoleLog, type OutageGuard, type OutageLogger, outagePolicy } from './outage-policy.ts'
import type { Change, RecordStore } from './records.ts'
import type { RoutingStore } from './routing.ts'
import type { RequestSettlement } from './settlement.ts'
import type { Storage } from './storage.ts'

export type { ChangeChannel, RecordChange } from './changes.ts'
export { EphemeralError, type EphemeralFailure, type EphemeralStores, type KnownCounter } from './ephemeral.ts'
export type { OutageLogger } from './outage-policy.ts'
export type { StorageOutage } from './storage.ts'

/** An outage of ephemeral stores, reported to a hook when it begins and when it ends. */
export interface OutageEvent {
  readonly state: 'begun' | 'over'
  /** What failed, without credentials. */
  readonly reason: string
  /** Duration so far in milliseconds; 0 when it begins. */
  readonly lastedMs: number
  /** Calls that were answered by the fallback or deferred. */
  readonly calls: number
}

/** Options of `composeStorage`. */
export interface ComposeOptions {
  /** Stores records, audit, ledger, usage and items. */
  readonly durable: Storage
  /** Stores counters and slots, and if supported routing state and change messages. */
  readonly ephemeral: EphemeralStores
  /**
   * The counters used while the ephemeral stores are unavailable. `durable`: the counters of the durable storage, which all processes
   * share. `local`: counters of this process, which admit its share of each limit: the limit divided by the last known number of processes.
   *
   * @default 'durable'
   */
  readonly fallback?: 'durable' | { readonly local: CounterStore }
  /** Called when an outage of the ephemeral stores begins and ends, for a metric. Errors it throws are logged. */
  readonly onOutage?: (event: OutageEvent) => unknown
  /** @default warnings go to the console */
  readonly logger?: OutageLogger
}

/**
 * Combines a durable storage and ephemeral stores into one storage. An outage of the ephemeral stores fails no request: `outage-policy.ts`
 * says what each method does meanwhile. Only an outage of the durable storage shows in `ping`.
 *
 * @example
 * const storage = composeStorage({ durable: sqliteStorage('signalbox.db'), ephemeral: redisStores({ url: 'redis://localhost' }) })
 */
export function composeStorage(options: ComposeOptions): Storage {
  const { durable, ephemeral, fallback = 'durable', onOutage = () => {}, logger = consoleLog } = options
  const listeners = new Set<ChangeListener>()
  let haveMessagesBeenLost = false
  const publishLost = (): Awaitable<void> => {
    // Reset before the message is sent, because messages of commits during the call may be lost too.
    haveMessagesBeenLost = false
    return recover<void>(
      () => ephemeral.changes?.publish(undefined),
      error => {
        haveMessagesBeenLost = true
        return Promise.reject(error)
      },
    )
  }
  const repair = async (): Promise<void> => {
    await counters.repair()
    if (haveMessagesBeenLost) await publishLost()
    notify(listeners)
  }
  const breaker = new CircuitBreaker({
    probe: () => ephemeral.probe(),
    recover: async () => {
      await ephemeral.probe()
      await repair()
    },
    // A RangeError is that of an invalid argument, such as a fraction: no store would accept it.
    effectOf(error) {
      if (error instanceof RangeError) return 'own'
      return error instanceof EphemeralError && error.failure === 'damaged' ? 'replace' : 'open'
    },
    onChange({ error: { message: reason }, since, calls }, isOver) {
      const lastedMs = isOver ? Math.round(performance.now() - since) : 0
      if (isOver) logger.info({ reason, lasted_ms: lastedMs, calls }, 'The counter store is available again.')
      else logger.warn({ reason }, 'The counter store is unavailable. Limits are counted by the fallback until it is back.')
      void recover(
        async () => onOutage({ state: isOver ? 'over' : 'begun', reason, lastedMs, calls }),
        error => logger.warn({ error: String(error) }, '`onOutage` failed.'),
      )
      // For what was deferred after the first repair.
      if (isOver) void repair().catch(error => void breaker.open(error))
    },
  })
  const guard: OutageGuard = {
    run: (method, call, instead) =>
      breaker.run(call, ({ error }) => (outagePolicy[method] === 'reject' ? Promise.reject(error) : instead())),
  }
  const counters: FallbackCounters = fallbackCounters({
    guard,
    primary: ephemeral.counters,
    known: key => ephemeral.known?.(key),
    fallback: fallback === 'durable' ? durable.counters : sharedOut(fallback.local, () => ephemeral.processes?.() ?? 1),
  })
  const announce = (changes: readonly RecordChange[]): Awaitable<void> => {
    notify(listeners, changes)
    return guard.run<void>(
      'changes.publish',
      () => ephemeral.changes?.publish(changes),
      () => {
        haveMessagesBeenLost = true
      },
    )
  }
  const stopListening = ephemeral.changes?.subscribe(changes => notify(listeners, changes))
  const routing = ephemeral.routing ? guardedRouting(ephemeral.routing, guard) : durable.routing
  return {
    records: ephemeral.changes ? announcingRecords(durable.records, announce) : durable.records,
    audit: durable.audit,
    counters,
    ledger: durable.ledger,
    usage: durable.usage,
    routing,
    ...optionalParts(durable),
    ...(ephemeral.changes ? { changes: feedOf(listeners) } : durable.changes && { changes: durable.changes }),
    settle: settlement => settleApart(settlement, { durable, counters }),
    isShared: true,
    ping: () => durable.ping(),
    close() {
      stopListening?.()
      breaker.close()
      listeners.clear()
      return andThen(allSettled([() => ephemeral.close(), () => durable.close()]), throwFirst)
    },
  }
}

/**
 * Adds a change feed to a storage: commits of records reach the other processes of a channel, which drop cached copies. For processes that
 * share a storage and can reach each other, such as workers of one machine.
 *
 * @example
 * const storage = withChanges(sqliteStorage('signalbox.db'), { publish: changes => void process.send?.({ changes }), subscribe })
 */
export function withChanges(storage: Storage, channel: ChangeChannel): Storage {
  const listeners = new Set<ChangeListener>()
  const stopListening = channel.subscribe(changes => notify(listeners, changes))
  const announce = (changes: readonly RecordChange[]): Awaitable<void> => {
    notify(listeners, changes)
    return channel.publish(changes)
  }
  return {
    ...storage,
    records: announcingRecords(storage.records, announce),
    changes: feedOf(listeners),
    close() {
      stopListening()
      listeners.clear()
      return storage.close()
    },
  }
}

function notify(listeners: ReadonlySet<ChangeListener>, changes?: readonly RecordChange[]): void {
  for (const listener of [...listeners]) listener(changes)
}

const feedOf = (listeners: Set<ChangeListener>): NonNullable<Storage['changes']> => ({
  subscribe(listener) {
    // A new function, so that the same listener can subscribe twice.
    const entry: ChangeListener = changes => listener(changes)
    listeners.add(entry)
    return () => void listeners.delete(entry)
  },
})

/** Wraps records so that commits are announced once they are done, or may be done: if a commit fails, perhaps only its response was lost. */
function announcingRecords(records: RecordStore, announce: (changes: readonly RecordChange[]) => Awaitable<void>): RecordStore {
  const announceAll = (change: Change): Awaitable<void> => {
    const changed = recordChangesOf(change)
    return changed.length === 0 ? undefined : announce(changed)
  }
  const announceFailed = (change: Change, error: unknown): Awaitable<void> =>
    // A commit rejected for its arguments was not sent.
    error instanceof RangeError
      ? undefined
      : recover<void>(
          () => announceAll(change),
          () => undefined,
        )
  return {
    commit: change =>
      andThen(
        recover(
          () => records.commit(change),
          error => andThen(announceFailed(change, error), () => Promise.reject(error)),
        ),
        conflict => conflict ?? andThen(announceAll(change), () => undefined),
      ),
    find: (kind, workspaceId, id) => records.find(kind, workspaceId, id),
    findByName: (kind, name) => records.findByName(kind, name),
    list: query => records.list(query),
    touch: (kind, uses) => records.touch(kind, uses),
    expire: (at, limit) => records.expire(at, limit),
  }
}

/** The optional parts of a durable storage. */
const optionalParts = (durable: Storage): Pick<Storage, 'items' | 'spool' | 'outage'> => ({
  items: durable.items,
  spool: durable.spool,
  outage: durable.outage ? () => durable.outage?.() : undefined,
})

/** Settles in parts, because slots are in another store than the charge and the row. */
const settleApart = (
  settlement: RequestSettlement,
  { durable, counters }: { readonly durable: Pick<Storage, 'settle'>; readonly counters: CounterStore },
): Awaitable<void> =>
  andThen(
    allSettled([
      () => durable.settle({ ...settlement, slotKeys: [] }),
      ...settlement.slotKeys.map(key => () => counters.leave(key, settlement.row.id)),
    ]),
    throwFirst,
  )

const recordChangesOf = ({ puts = [], removals = [] }: Change): readonly RecordChange[] =>
  [...puts, ...removals].map(({ kind, workspaceId, id }) => ({ kind, workspaceId, id }))

function guardedRouting(routing: RoutingStore, guard: OutageGuard): RoutingStore {
  const guarded = <T>(run: () => Awaitable<T>): Awaitable<T> => guard.run('routing', run, run)
  return {
    publish: (rows, at) => guarded(() => routing.publish(rows, at)),
    pause: (pauses, at) => guarded(() => routing.pause(pauses, at)),
    news: (query, at) => guarded(() => routing.news(query, at)),
    remember: (notes, at) => guarded(() => routing.remember(notes, at)),
    readers: (key, at) => guarded(() => routing.readers(key, at)),
  }
}

function throwFirst(ends: readonly PromiseSettledResult<unknown>[]): void {
  for (const end of ends) if (end.status === 'rejected') throw end.reason
}
