import type { Awaitable, Storage } from '@signalbox/storage'
import { allSettled, andThen, isPromise, recover } from '@signalbox/storage/awaitable'
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
import { settlementWrites } from './settlement-writes.ts'

/** Writes settlements; those that the store cannot take now wait in memory and in its spool, and are tried until `close`. */
export interface Settlements {
  /** Answers once the settlement is in the store or in its spool; where neither can be written, once it waits in memory. Never fails. */
  settle(settlement: PendingSettlement): Awaitable<void>
  /** Whether a settlement of this request waits. */
  has(requestId: string): boolean
  /** So many settlements wait that no new work should begin. */
  isLong(): boolean
  /** Goes on with what waits, and settles what processes that are gone have left in their spools. */
  adopt(): Promise<void>
  /** Tries for a bounded time, then leaves the rest to the spool and logs that. */
  close(): Promise<void>
}

export interface SettlementPorts {
  readonly storage: Pick<Storage, 'settle' | 'counters' | 'spool' | 'outage'>
  readonly clock: Clock
  readonly logger: Logger
}

export function createSettlements(ports: SettlementPorts): Settlements {
  const { storage, clock, logger } = ports
  const backlog = createBacklog({
    ...ports,
    write: settlement => writeTo(storage, settlement),
    onWritten: settlement => tellSettled(settlement, logger),
    isSpoolUsed: () => writes.values().some(({ spool }) => spool !== 'out'),
  })
  const { queue, spool } = backlog
  const freeSlots = slotsOf(storage)
  /** Under way for the first time. */
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
  /** The first try of a settlement whose store takes its time. */
  const follow = (entry: QueuedSettlement, outcome: Promise<Failure | undefined>): void => {
    writes.add(entry)
    void outcome.then(failure => {
      // It was overdue, and is tried again.
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
      // Most settlements in this process are over at once: nothing has to be kept of them.
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
      // The timer of an earlier request may have been dropped with it.
      writes.watch()
      scheduleTry(backlog)
      await spool.adopt(lines => takeLines(backlog, lines))
    },
    close: () => closeBacklog(backlog, writes),
  }
}

/** Lines of a spool that another process had to leave. */
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
  while (queue.size() > 0 && clock.monotonic() < until) {
    await Promise.race([tryAgain(backlog), sleep(clock, until - clock.monotonic())])
    if (backlog.tries > 0 && queue.size() > 0) await sleep(clock, settlementLimits.retryMs[0])
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

/** Frees slots, once: they do not wait with their settlement, because the next request of their caller would be refused. */
function slotsOf({ counters }: Pick<Storage, 'counters'>) {
  const freed = new WeakSet<QueuedSettlement>()
  return (entries: readonly QueuedSettlement[]): void => {
    for (const entry of entries) {
      if (freed.has(entry)) continue
      freed.add(entry)
      const { row, slotKeys } = entry.settlement
      // Those that stay are freed by the settlement.
      void allSettled(slotKeys.map(key => () => counters.leave(key, row.id)))
    }
  }
}

/** What follows a settlement cannot undo it. */
function tellSettled({ row, onSettled }: PendingSettlement, logger: Logger): void {
  try {
    onSettled?.()
  } catch (error) {
    logger.error({ requestId: row.id, error: String(error) }, 'A step after a settlement failed; the settlement itself is written.')
  }
}
