import type { Awaitable, Storage } from '@signalbox/storage'
import { allSettled, andThen, isPromise, recover } from '@signalbox/storage/awaitable'
import { createLastingTimer } from '../runtime/lasting-timer.ts'
import type { Clock, Logger } from '../runtime/ports.ts'
import { sleep, waitAtMost } from '../runtime/timers.ts'
import {
  type Backlog,
  createBacklog,
  enqueue,
  type Failure,
  notWritten,
  scheduleTry,
  tidySpool,
  tryAgain,
  writeOverdue,
} from './settlement-backlog.ts'
import { type PendingSettlement, type QueuedSettlement, settlementLimits } from './settlement-queue.ts'
import { parseSettlement, type SettlementFacts } from './settlement-text.ts'

/** Writes settlements. Failed writes are queued in memory and in the spool, and retried until `close`. */
export interface Settlements {
  /** Resolves when the settlement is in the store or the spool; if neither can be written, when it is queued in memory. Never rejects. */
  settle(settlement: PendingSettlement): Awaitable<void>
  /** Whether a settlement of this request is pending. */
  has(requestId: string): boolean
  /** Whether the queue is so long that no new work should begin. */
  isLong(): boolean
  /** Resumes pending work, and settles what ended processes have left in their spools. */
  adopt(): Promise<void>
  /** Retries for a limited time, then leaves the rest to the spool and logs it. */
  close(): Promise<void>
}

export interface SettlementPorts {
  readonly storage: Pick<Storage, 'settle' | 'counters' | 'spool' | 'outage'>
  readonly clock: Clock
  readonly logger: Logger
}

/** Creates the queue that writes settlements, and retries those that failed. */
export function createSettlements(ports: SettlementPorts): Settlements {
  const { storage, clock, logger } = ports
  const backlog = createBacklog({
    ...ports,
    write: settlement => writeTo(storage, settlement),
    onWritten: settlement => tellSettled(settlement, logger),
    isSpoolUsed: () => writes.values().some(({ spool }) => spool !== 'out'),
  })
  const { queue, spool } = backlog
  const freeSlots = slotFreer(storage)
  /** First writes that are pending. */
  const writes = settlementWrites({
    clock,
    onSlow: entries => {
      freeSlots(entries)
      void (spool.isThere && spool.add(entries))
    },
    onOverdue: entry => notWritten(backlog, entry, writeOverdue()),
  })
  const failed = (entry: QueuedSettlement, error: unknown): void => {
    freeSlots([entry])
    notWritten(backlog, entry, error)
  }
  /** Tracks the first write of a settlement. */
  const follow = (entry: QueuedSettlement, outcome: Promise<Failure | undefined>): void => {
    writes.add(entry)
    void outcome.then(failure => {
      // It was overdue and is already being retried.
      if (!writes.remove(entry)) return
      if (failure) return failed(entry, failure.error)
      entry.resolve()
      tellSettled(entry.settlement, logger)
      if (entry.spool !== 'out') tidySpool(backlog)
    })
  }

  return {
    settle(settlement) {
      const outcome = recover(
        () => writeTo(storage, settlement),
        error => ({ error }),
      )
      // Most in-process stores finish synchronously: nothing has to be tracked.
      if (outcome === undefined) return tellSettled(settlement, logger)
      return new Promise(resolve => {
        const entry: QueuedSettlement = { settlement, since: clock.monotonic(), resolve, text: '', spool: 'out' }
        if (isPromise(outcome)) follow(entry, outcome)
        else failed(entry, outcome.error)
      })
    },
    has: id => writes.has(id) || queue.has(id),
    isLong: queue.isLong,
    async adopt() {
      // The platform may have dropped the timer of an earlier request.
      writes.watch()
      scheduleTry(backlog)
      await spool.adopt(lines => takeLines(backlog, lines))
    },
    close: () => closeBacklog(backlog, writes),
  }
}

interface SettlementWritePorts {
  readonly clock: Clock
  /** Called with writes that are pending after `spoolAfterMs`, repeatedly while they are. */
  readonly onSlow: (entries: readonly QueuedSettlement[]) => void
  /** Called with a write that is pending after `writeMs`. It is no longer tracked. */
  readonly onOverdue: (entry: QueuedSettlement) => void
}

/** Settlements whose first write is pending, by request id. */
function settlementWrites({ clock, onSlow, onOverdue }: SettlementWritePorts) {
  const entries = new Map<string, QueuedSettlement>()
  const timer = createLastingTimer(clock, () => look())

  const watch = (): void => {
    if (entries.size > 0) timer.set(settlementLimits.spoolAfterMs)
  }
  const look = (): void => {
    const now = clock.monotonic()
    const slow = [...entries.values()].filter(({ since }) => since <= now - settlementLimits.spoolAfterMs)
    onSlow(slow)
    for (const entry of slow) if (entry.since <= now - settlementLimits.writeMs && remove(entry)) onOverdue(entry)
    watch()
  }
  /** Returns false if the entry is no longer tracked. */
  const remove = (entry: QueuedSettlement): boolean =>
    entries.get(entry.settlement.row.id) === entry && entries.delete(entry.settlement.row.id)
  return {
    has: (id: string): boolean => entries.has(id),
    values: (): readonly QueuedSettlement[] => [...entries.values()],
    add(entry: QueuedSettlement): void {
      entries.set(entry.settlement.row.id, entry)
      watch()
    },
    remove,
    /** Re-arms a timer that the platform dropped. */
    watch,
    stop: timer.clear,
  }
}

/** Queues the spooled lines of a process that has ended. */
function takeLines(backlog: Backlog, lines: readonly string[]): void {
  const { clock, logger } = backlog
  for (const line of lines) {
    const settlement = parseSettlement(line)
    if (!settlement) logger.error({ bytes: line.length }, 'A line of the spool is not a settlement; it was skipped.')
    else enqueue(backlog, { settlement, since: clock.monotonic(), resolve: () => {}, text: line, spool: 'in' })
  }
  if (lines.length > 0)
    logger.info({ settlements: lines.length }, 'Settlements from the spool of a process that has ended are being written.')
}

async function closeBacklog(backlog: Backlog, writes: ReturnType<typeof settlementWrites>): Promise<void> {
  const { queue, spool, retry, clock, logger } = backlog
  const until = clock.monotonic() + settlementLimits.closeMs
  const [waitMs] = settlementLimits.retryMs
  // The waits count too, because the clock of Workers may stand still.
  for (let waited = 0; queue.size() > 0 && waited < settlementLimits.closeMs && clock.monotonic() < until; ) {
    await Promise.race([tryAgain(backlog), sleep(clock, until - clock.monotonic())])
    if (backlog.tries === 0 || queue.size() === 0) continue
    await sleep(clock, waitMs)
    waited += waitMs
  }
  backlog.isClosed = true
  retry.clear()
  writes.stop()
  const left = [...queue.first(Number.POSITIVE_INFINITY), ...writes.values()]
  await spool.add(left)
  const lost = left.filter(entry => entry.spool !== 'in').length
  if (left.length > 0)
    logger.error(
      { spooled: left.length - lost, lost },
      'Settlements could not be written. Those in the spool will be written at the next start.',
    )
  backlog.emptied?.resolve()
  await waitAtMost(settlementLimits.spoolMs, spool.settled(), clock)
}

const writeTo = (storage: Pick<Storage, 'settle'>, { row, amounts, slotKeys }: SettlementFacts): Awaitable<undefined> =>
  andThen(storage.settle({ row, amounts, slotKeys, at: row.at + Math.round(row.durationMs) }), () => undefined)

/** Frees slots, once. They do not wait with their settlement: the next request of the same key would be rejected. */
function slotFreer({ counters }: Pick<Storage, 'counters'>) {
  const freed = new WeakSet<QueuedSettlement>()
  return (entries: readonly QueuedSettlement[]): void => {
    for (const entry of entries) {
      if (freed.has(entry)) continue
      freed.add(entry)
      const { row, slotKeys } = entry.settlement
      // Slots that could not be freed here are freed by the settlement.
      void allSettled(slotKeys.map(key => () => counters.leave(key, row.id)))
    }
  }
}

/** An error in `onSettled` does not undo the settlement. */
function tellSettled({ row, onSettled }: PendingSettlement, logger: Logger): void {
  try {
    onSettled?.()
  } catch (error) {
    logger.error({ requestId: row.id, error: String(error) }, 'A step after a settlement failed; the settlement itself is written.')
  }
}
