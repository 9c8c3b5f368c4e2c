import type { Awaitable, Storage } from '@signalbox/storage'
import { allSettled, andThen, isPromise, promised, recover } from '@signalbox/storage/awaitable'
import pTimeout from 'p-timeout'
import { handOver } from '../runtime/hand-over.ts'
import { createLastingTimer } from '../runtime/lasting-timer.ts'
import type { Clock, Logger } from '../runtime/ports.ts'
import { createSingleRun } from '../runtime/single-run.ts'
import { sleep, timersOf, waitAtMost } from '../runtime/timers.ts'
import { type PendingSettlement, type QueuedSettlement, settlementLimits, settlementQueue } from './settlement-queue.ts'
import { settlementSpool } from './settlement-spool.ts'
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
  /** Tries for a bounded time, then leaves the rest to the spool and says so. */
  close(): Promise<void>
}

export interface SettlementPorts {
  readonly storage: Pick<Storage, 'ledger' | 'usage' | 'counters' | 'spool' | 'outage'>
  readonly clock: Clock
  readonly logger: Logger
}

export function createSettlements({ storage, clock, logger }: SettlementPorts): Settlements {
  const spool = settlementSpool(storage.spool, { clock, logger })
  const queue = settlementQueue(() => (storage.outage?.()?.leftMs ?? 0) > 0)
  const retry = createLastingTimer(clock, () => void tryAgain())
  const rounds = createSingleRun(clock, settlementLimits.maxRoundMs)
  let tries = 0
  let isClosed = false
  /** The spool has settlements that memory has not: it is not cleared any more. */
  let isOverfull = false
  let emptied: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined

  /** Under way for the first time. */
  const writes = settlementWrites({
    clock,
    onSlow: entries => void (spool.isThere && spool.add(entries)),
    onOverdue: entry => notWritten(entry, noAnswer()),
  })
  const tidy = (): void => {
    if (queue.size() > 0 || isOverfull || writes.values().some(({ spool }) => spool !== 'out')) return
    emptied?.resolve()
    emptied = undefined
    void spool.clear()
  }
  const wait = (entry: QueuedSettlement): void => {
    const { row } = entry.settlement
    if (!queue.add(entry)) {
      isOverfull = true
      logger.error(
        { requestId: row.id, cost: row.cost },
        'Too many settlements wait. This one is left to the spool; without one it is lost.',
      )
    }
    void spool.add([entry])
    if (!emptied) {
      let resolve = (): void => {}
      emptied = { promise: new Promise(done => (resolve = done)), resolve: () => resolve() }
    }
    schedule()
    handOver(entry.settlement.waitUntil, emptied.promise, { requestId: row.id, logger })
  }
  /** The first try of a settlement whose store takes its time. */
  const follow = (entry: QueuedSettlement, outcome: Promise<undefined | { readonly error: unknown }>): void => {
    writes.add(entry)
    void outcome.then(failure => {
      // It was overdue, and is tried again.
      if (!writes.remove(entry)) return
      if (failure) return notWritten(entry, failure.error)
      entry.resolve()
      tellSettled(entry.settlement, logger)
      if (entry.spool !== 'out') tidy()
    })
  }
  const notWritten = (entry: QueuedSettlement, error: unknown): void => {
    if (isWrong(error)) {
      refuse(entry, error)
      entry.resolve()
      return
    }
    const requestId = entry.settlement.row.id
    if (queue.size() === 0) logger.warn({ requestId, error: String(error) }, 'A settlement cannot be written now; it waits.')
    tries = Math.max(tries, 1)
    wait(entry)
  }
  const refuse = ({ settlement: { row } }: QueuedSettlement, error: unknown): void =>
    logger.error(
      { requestId: row.id, cost: row.cost, error: String(error) },
      'The store refuses the settlement as wrong; it is not tried again.',
    )
  const schedule = (): void => {
    if (rounds.isUnderWay() || isClosed || queue.size() === 0) return
    const waits = settlementLimits.retryMs
    retry.set(tries === 0 ? 0 : (waits[Math.min(tries, waits.length) - 1] ?? 0))
  }
  const tryAgain = (): Promise<void> | undefined => {
    retry.clear()
    const round = rounds.begin(tryRound)
    void round?.then(schedule, schedule)
    return round ?? rounds.ended()
  }
  const tryRound = async (): Promise<void> => {
    const some = queue.first(settlementLimits.maxAtOnce)
    const failures = await Promise.all(
      some.map(entry =>
        withinWriteMs(
          promised(() => writeTo(storage, entry.settlement)),
          clock,
        ).then(
          () => undefined,
          (error: unknown) => ({ error }),
        ),
      ),
    )
    let notYet: { readonly error: unknown } | undefined
    for (const [index, entry] of some.entries()) {
      const failure = failures[index]
      if (failure && !isWrong(failure.error)) {
        notYet = failure
        continue
      }
      queue.remove(entry)
      if (failure) refuse(entry, failure.error)
      else {
        entry.resolve()
        tellSettled(entry.settlement, logger)
      }
    }
    if (notYet === undefined) tries = 0
    else {
      tries += 1
      logger.warn({ waiting: queue.size(), error: String(notYet.error) }, 'Settlements cannot be written; they are tried again.')
      await spool.add(some.filter(entry => queue.has(entry.settlement.row.id)))
    }
    tidy()
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
        else notWritten(entry, outcome.error)
      })
    },
    has: id => writes.has(id) || queue.has(id),
    isLong: queue.isLong,
    async adopt() {
      // The timer of an earlier request may have been dropped with it.
      writes.watch()
      schedule()
      await spool.adopt(lines => {
        for (const line of lines) {
          const settlement = parseSettlement(line)
          if (!settlement) logger.error({ bytes: line.length }, 'A line of the spool is no settlement; it is left out.')
          else wait({ settlement, since: clock.monotonic(), resolve: () => {}, text: line, spool: 'in' })
        }
        if (lines.length > 0) logger.info({ settlements: lines.length }, 'Settlements that another process had to leave are written now.')
      })
    },
    async close() {
      const until = clock.monotonic() + settlementLimits.closeMs
      while (queue.size() > 0 && clock.monotonic() < until) {
        await Promise.race([tryAgain(), sleep(clock, until - clock.monotonic())])
        if (tries > 0 && queue.size() > 0) await sleep(clock, settlementLimits.retryMs[0])
      }
      isClosed = true
      retry.clear()
      writes.stop()
      const left = [...queue.first(Number.POSITIVE_INFINITY), ...writes.values()]
      await spool.add(left)
      const lost = left.filter(entry => entry.spool !== 'in').length
      if (left.length > 0)
        logger.error(
          { spooled: left.length - lost, lost },
          'Settlements could not be written. Those in the spool are written at the next start.',
        )
      emptied?.resolve()
      await waitAtMost(settlementLimits.spoolMs, spool.settled(), clock)
    },
  }
}

/** Each of the writes does nothing the second time, so what did succeed is not done twice. */
function writeTo(
  { ledger, usage, counters }: Pick<Storage, 'ledger' | 'usage' | 'counters'>,
  { row, amounts, slotKeys }: SettlementFacts,
): Awaitable<undefined> {
  const writing = allSettled([
    () => ledger.settle({ id: row.id, amounts, at: row.at + Math.round(row.durationMs) }),
    () => usage.append(row),
    ...slotKeys.map(key => () => counters.leave(key, row.id)),
  ])
  return andThen(writing, done => {
    const failed = done.find(result => result.status === 'rejected')
    if (failed) throw failed.reason
    return undefined
  })
}

const noAnswer = (): Error => new Error(`The storage did not answer within ${settlementLimits.writeMs / 1_000} s.`)

function withinWriteMs(writing: Promise<undefined>, clock: Clock): Promise<undefined> {
  return pTimeout(writing, { milliseconds: settlementLimits.writeMs, message: noAnswer(), customTimers: timersOf(clock) })
}

/** What follows a settlement cannot undo it. */
function tellSettled({ row, onSettled }: PendingSettlement, logger: Logger): void {
  try {
    onSettled?.()
  } catch (error) {
    logger.error({ requestId: row.id, error: String(error) }, 'What follows a settlement failed; the settlement stands.')
  }
}

/** No further try helps. */
const isWrong = (error: unknown): boolean => error instanceof RangeError || error instanceof TypeError
