import type { Awaitable, Storage } from '@signalbox/storage'
import { promised } from '@signalbox/storage/awaitable'
import pTimeout from 'p-timeout'
import { createLastingTimer, type LastingTimer } from '../runtime/lasting-timer.ts'
import type { Clock, Logger } from '../runtime/ports.ts'
import { createSingleRun, type SingleRun } from '../runtime/single-run.ts'
import { timersOf } from '../runtime/timers.ts'
import { handOver } from '../runtime/wait-until.ts'
import { type PendingSettlement, type QueuedSettlement, settlementLimits, settlementQueue } from './settlement-queue.ts'
import { settlementSpool } from './settlement-spool.ts'
import type { SettlementFacts } from './settlement-text.ts'

export interface BacklogPorts {
  readonly storage: Pick<Storage, 'spool' | 'outage'>
  readonly clock: Clock
  readonly logger: Logger
  /** Fails if any of the writes fails, even if others succeed; rows that are already written are not written twice. */
  readonly write: (settlement: SettlementFacts) => Awaitable<undefined>
  /** Called when a settlement has been written. */
  readonly onWritten: (settlement: PendingSettlement) => void
  /** Whether the spool holds first writes that are still pending. */
  readonly isSpoolUsed: () => boolean
}

/** Settlements that could not be written and are retried. */
export interface Backlog extends BacklogPorts {
  readonly queue: ReturnType<typeof settlementQueue>
  readonly spool: ReturnType<typeof settlementSpool>
  readonly retry: LastingTimer
  readonly rounds: SingleRun
  /** Consecutive failed rounds. */
  tries: number
  isClosed: boolean
  /** The spool has settlements that are no longer in memory: it must not be cleared. */
  isOverfull: boolean
  /** Resolves when the queue is empty. */
  emptied: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined
}

export function createBacklog(ports: BacklogPorts): Backlog {
  const { storage, clock, logger } = ports
  const backlog: Backlog = {
    ...ports,
    queue: settlementQueue(() => (storage.outage?.()?.leftMs ?? 0) > 0),
    spool: settlementSpool(storage.spool, { clock, logger }),
    retry: createLastingTimer(clock, () => void tryAgain(backlog)),
    rounds: createSingleRun(clock, settlementLimits.maxRoundMs),
    tries: 0,
    isClosed: false,
    isOverfull: false,
    emptied: undefined,
  }
  void backlog.spool.check()
  return backlog
}

/** Clears the spool when nothing is left that may need it. */
export function tidySpool(backlog: Backlog): void {
  const { queue, spool, isOverfull, isSpoolUsed, emptied } = backlog
  if (queue.size() > 0 || isOverfull || isSpoolUsed()) return
  emptied?.resolve()
  backlog.emptied = undefined
  void spool.clear()
}

/** Queues a settlement for its next attempt, in memory and in the spool. */
export function enqueue(backlog: Backlog, entry: QueuedSettlement): void {
  const { queue, spool, logger } = backlog
  const { row, waitUntil } = entry.settlement
  if (!queue.add(entry)) {
    backlog.isOverfull = true
    logger.error(
      { requestId: row.id, cost: row.cost },
      'The settlement queue is full. This settlement is kept in the spool only, or lost if there is no spool.',
    )
  }
  void spool.add([entry])
  if (!backlog.emptied) {
    let resolve = (): void => {}
    backlog.emptied = { promise: new Promise(done => (resolve = done)), resolve: () => resolve() }
  }
  scheduleTry(backlog)
  handOver(waitUntil, backlog.emptied.promise, { requestId: row.id, logger })
}

/** Queues a settlement whose first write failed, unless it is invalid. */
export function notWritten(backlog: Backlog, entry: QueuedSettlement, error: unknown): void {
  const { queue, logger } = backlog
  if (isWrong(error)) {
    tellRefused(entry, error, logger)
    entry.resolve()
    return
  }
  const requestId = entry.settlement.row.id
  if (queue.size() === 0) logger.warn({ requestId, error: String(error) }, 'A settlement could not be written; it is queued.')
  backlog.tries = Math.max(backlog.tries, 1)
  enqueue(backlog, entry)
}

export function scheduleTry({ rounds, isClosed, queue, retry, tries }: Backlog): void {
  if (rounds.isUnderWay() || isClosed || queue.size() === 0) return
  const waits = settlementLimits.retryMs
  retry.set(tries === 0 ? 0 : (waits[Math.min(tries, waits.length) - 1] ?? 0))
}

/** Retries the queued settlements now. Undefined if there are none. */
export function tryAgain(backlog: Backlog): Promise<void> | undefined {
  const { retry, rounds } = backlog
  retry.clear()
  const round = rounds.begin(() => tryRound(backlog))
  const goOn = (): void => scheduleTry(backlog)
  void round?.then(goOn, goOn)
  return round ?? rounds.ended()
}

async function tryRound(backlog: Backlog): Promise<void> {
  const { write, onWritten, clock, logger, queue, spool } = backlog
  const some = queue.first(settlementLimits.maxAtOnce)
  const failures = await Promise.all(
    some.map(entry =>
      failureOf(
        withinWriteMs(
          promised(() => write(entry.settlement)),
          clock,
        ),
      ),
    ),
  )
  let notYet: Failure | undefined
  for (const [index, entry] of some.entries()) {
    const failure = failures[index]
    if (failure && !isWrong(failure.error)) {
      notYet = failure
      continue
    }
    queue.remove(entry)
    if (failure) tellRefused(entry, failure.error, logger)
    else {
      entry.resolve()
      onWritten(entry.settlement)
    }
  }
  if (notYet === undefined) backlog.tries = 0
  else {
    backlog.tries += 1
    logger.warn({ waiting: queue.size(), error: String(notYet.error) }, 'Settlements could not be written; will retry.')
    await spool.add(some.filter(entry => queue.has(entry.settlement.row.id)))
  }
  tidySpool(backlog)
}

/** The error of a failed write. */
export interface Failure {
  readonly error: unknown
}

const failureOf = (writing: Promise<undefined>): Promise<Failure | undefined> => writing.catch((error: unknown) => ({ error }))

export const writeOverdue = (): Error => new Error(`The storage did not answer within ${settlementLimits.writeMs / 1_000} s.`)

function withinWriteMs(writing: Promise<undefined>, clock: Clock): Promise<undefined> {
  return pTimeout(writing, { milliseconds: settlementLimits.writeMs, message: writeOverdue(), customTimers: timersOf(clock) })
}

function tellRefused({ settlement: { row } }: QueuedSettlement, error: unknown, logger: Logger): void {
  logger.error(
    { requestId: row.id, cost: row.cost, error: String(error) },
    'The storage rejected a settlement as invalid; it will not be retried.',
  )
}

/** Retrying does not help. */
const isWrong = (error: unknown): boolean => error instanceof RangeError || error instanceof TypeError
