import { isObject } from '@signalbox/dialects/protocol'
import type { Awaitable, Storage } from '@signalbox/storage'
import { allSettled, andThen, isPromise, promised, recover } from '@signalbox/storage/awaitable'
import type { RequestSettlement } from '@signalbox/storage/settlement'
import pTimeout from 'p-timeout'
import { createLastingTimer, type LastingTimer } from '../runtime/lasting-timer.ts'
import type { Clock, Logger } from '../runtime/ports.ts'
import { createSingleRun, type SingleRun } from '../runtime/single-run.ts'
import { sleep, timersOf, waitAtMost } from '../runtime/timers.ts'
import { passToWaitUntil, type WaitUntil } from '../runtime/wait-until.ts'

/** The data that one settlement writes. */
type SettlementFacts = Omit<RequestSettlement, 'at'>

/** A settlement, with what to do once it is written. */
interface PendingSettlement extends SettlementFacts {
  /** Called when the settlement is written. */
  readonly onSettled?: () => void
  /** If the settlement has to be queued, gets a promise that resolves when the queue is empty. */
  readonly waitUntil?: WaitUntil | undefined
}

/** Limits of the queue and its timeouts. */
export const settlementLimits = {
  /** Beyond either limit, settlements are kept in the spool only, or lost if there is no spool. */
  maxWaiting: 50_000,
  maxWaitingBytes: 128 * 1024 * 1024,
  /** From this length on, new requests get 503. */
  longWaiting: 1_000,
  longWaitingBytes: 16 * 1024 * 1024,
  /** Used instead of the two limits above if the storage serves during an outage, because its own spending limits apply first. */
  longOutageWaiting: 25_000,
  longOutageWaitingBytes: 64 * 1024 * 1024,
  /** A write that takes longer is spooled, and its response no longer waits for it. */
  spoolAfterMs: 250,
  /** A write that takes longer counts as failed: its response no longer waits for it, and it is retried. */
  writeMs: 10_000,
  /** A spool call that takes longer counts as failed. The next call starts only after it has finished. */
  spoolMs: 3_000,
  /** Delays before each retry; the last one repeats. */
  retryMs: [200, 500, 1_000, 2_000, 3_000],
  /** A round of retries that takes longer counts as lost: some runtimes drop the timers and calls of a request that has ended. */
  maxRoundMs: 20_000,
  /** Settlements written at once. */
  maxAtOnce: 200,
  /** How long a closing gateway keeps retrying. */
  closeMs: 10_000,
} as const

/** A settlement that is not written. */
interface Entry {
  readonly settlement: PendingSettlement
  /** Monotonic milliseconds. */
  readonly since: number
  /** Ends the wait of its response. */
  readonly resolve: () => void
  /** The line of the spool. Formatted on first use: most settlements need none. */
  text: string
  spool: 'out' | 'asked' | 'in'
  areSlotsFree: boolean
}

interface Failure {
  readonly error: unknown
}

interface SettlementQueueParts {
  readonly storage: Pick<Storage, 'settle' | 'counters' | 'spool' | 'outage'>
  readonly clock: Clock
  readonly logger: Logger
}

/** Writes settlements. Failed writes are queued in memory and in the spool, and retried until `close`. */
export class SettlementQueue {
  readonly #storage: SettlementQueueParts['storage']
  readonly #clock: Clock
  readonly #logger: Logger
  /** Settlements whose first write is pending, by request id. */
  readonly #writing = new Map<string, Entry>()
  /** Settlements to retry, by request id. */
  readonly #waiting = new Map<string, Entry>()
  #waitingBytes = 0
  /** Resolves when nothing waits. */
  #emptied: PromiseWithResolvers<void> | undefined
  /** The spool has settlements that are no longer in memory: it must not be cleared. */
  #isOverfull = false
  #isClosed = false
  readonly #slowTimer: LastingTimer
  readonly #retryTimer: LastingTimer
  readonly #rounds: SingleRun
  /** Consecutive failed rounds. */
  #failedRounds = 0
  /** The last call of the spool. Calls run one after another: nothing is added while it is being cleared. */
  #spoolCall: Promise<void> = Promise.resolve()
  #isSpoolFailing = false
  /** A call of the spool is overdue. A concurrent second call could be undone by it. */
  #isSpoolStuck = false

  constructor({ storage, clock, logger }: SettlementQueueParts) {
    this.#storage = storage
    this.#clock = clock
    this.#logger = logger
    this.#slowTimer = createLastingTimer(clock, () => this.#lookForSlow())
    this.#retryTimer = createLastingTimer(clock, () => void this.#retry())
    this.#rounds = createSingleRun(clock, settlementLimits.maxRoundMs)
    const { spool } = storage
    // Logged before anything has to be written.
    if (spool?.check)
      void this.#callSpool(
        () => spool.check?.(),
        'The spool cannot be written: while the database is away, settlements are in memory only, and lost if the process ends.',
      )
  }

  /** Resolves when the settlement is in the store or the spool; if neither can be written, when it is queued in memory. Never rejects. */
  settle(settlement: PendingSettlement): Awaitable<void> {
    const written = recover<undefined, Failure>(
      () => this.#write(settlement),
      error => ({ error }),
    )
    // Most in-process stores finish synchronously: nothing has to be tracked.
    if (written === undefined) return this.#onWritten(settlement)
    return new Promise(resolve => {
      const entry: Entry = { settlement, since: this.#clock.monotonic(), resolve, text: '', spool: 'out', areSlotsFree: false }
      if (isPromise(written)) void this.#track(entry, written)
      else this.#onFailed(entry, written.error)
    })
  }

  /** Whether a settlement of this request is pending. */
  has(requestId: string): boolean {
    return this.#writing.has(requestId) || this.#waiting.has(requestId)
  }

  /** Whether the queue is so long that no new work should begin. */
  isLong(): boolean {
    const [count, bytes] = [this.#waiting.size, this.#waitingBytes]
    if (count < settlementLimits.longWaiting && bytes < settlementLimits.longWaitingBytes) return false
    if ((this.#storage.outage?.()?.leftMs ?? 0) === 0) return true
    return count >= settlementLimits.longOutageWaiting || bytes >= settlementLimits.longOutageWaitingBytes
  }

  /** Resumes pending work, and settles what ended processes have left in their spools. */
  async adopt(): Promise<void> {
    // The platform may have dropped the timers of an earlier request.
    this.#watchWrites()
    this.#scheduleRetry()
    const { spool } = this.#storage
    if (!spool) return this.#spoolCall
    await this.#callSpool(async () => this.#takeLines(await spool.adopt()), 'The spool of a process that has ended cannot be read.')
  }

  /** Retries for a limited time, then leaves the rest to the spool and logs it. */
  async close(): Promise<void> {
    const until = this.#clock.monotonic() + settlementLimits.closeMs
    const [waitMs] = settlementLimits.retryMs
    // The waits count too, because the clock of Workers may stand still.
    for (let waited = 0; this.#waiting.size > 0 && waited < settlementLimits.closeMs && this.#clock.monotonic() < until; ) {
      await Promise.race([this.#retry(), sleep(this.#clock, until - this.#clock.monotonic())])
      if (this.#failedRounds === 0 || this.#waiting.size === 0) continue
      await sleep(this.#clock, waitMs)
      waited += waitMs
    }
    this.#isClosed = true
    this.#retryTimer.clear()
    this.#slowTimer.clear()
    const left = [...this.#waiting.values(), ...this.#writing.values()]
    await this.#addToSpool(left)
    const lost = left.filter(entry => entry.spool !== 'in').length
    if (left.length > 0)
      this.#logger.error(
        { spooled: left.length - lost, lost },
        'Settlements could not be written. Those in the spool will be written at the next start.',
      )
    this.#emptied?.resolve()
    await waitAtMost(settlementLimits.spoolMs, this.#spoolCall, this.#clock)
  }

  /** Fails if any part of the write fails, even if others succeed; parts that are already written are not written twice. */
  #write({ row, amounts, slotKeys }: SettlementFacts): Awaitable<undefined> {
    return andThen(this.#storage.settle({ row, amounts, slotKeys, at: row.at + Math.round(row.durationMs) }), () => undefined)
  }

  /** Follows the first write of a settlement. */
  async #track(entry: Entry, written: Promise<Failure | undefined>): Promise<void> {
    this.#writing.set(entry.settlement.row.id, entry)
    this.#watchWrites()
    const failure = await written
    // Otherwise it was overdue and is already being retried.
    if (!this.#isTracked(entry)) return
    this.#writing.delete(entry.settlement.row.id)
    if (failure) return this.#onFailed(entry, failure.error)
    entry.resolve()
    this.#onWritten(entry.settlement)
    if (entry.spool !== 'out') this.#tidySpool()
  }

  #isTracked(entry: Entry): boolean {
    return this.#writing.get(entry.settlement.row.id) === entry
  }

  #watchWrites(): void {
    if (this.#writing.size > 0) this.#slowTimer.set(settlementLimits.spoolAfterMs)
  }

  /** Spools first writes that are slow, and retries those that are overdue. */
  #lookForSlow(): void {
    const now = this.#clock.monotonic()
    const slow = [...this.#writing.values()].filter(({ since }) => since <= now - settlementLimits.spoolAfterMs)
    this.#freeSlots(slow)
    // Without a spool, their responses go on waiting.
    if (this.#storage.spool) void this.#addToSpool(slow)
    for (const entry of slow)
      if (entry.since <= now - settlementLimits.writeMs && this.#isTracked(entry)) {
        this.#writing.delete(entry.settlement.row.id)
        this.#queueFailed(entry, writeOverdue())
      }
    this.#watchWrites()
  }

  #onFailed(entry: Entry, error: unknown): void {
    this.#freeSlots([entry])
    this.#queueFailed(entry, error)
  }

  /** Queues a settlement whose first write failed, unless it is invalid. */
  #queueFailed(entry: Entry, error: unknown): void {
    if (isInvalid(error)) {
      this.#logInvalid(entry, error)
      entry.resolve()
      return
    }
    const requestId = entry.settlement.row.id
    if (this.#waiting.size === 0) this.#logger.warn({ requestId, error: String(error) }, 'A settlement could not be written; it is queued.')
    this.#failedRounds = Math.max(this.#failedRounds, 1)
    this.#enqueue(entry)
  }

  /** An error in `onSettled` does not undo the settlement. */
  #onWritten({ row, onSettled }: PendingSettlement): void {
    try {
      onSettled?.()
    } catch (error) {
      this.#logger.error({ requestId: row.id, error: String(error) }, 'A step after a settlement failed; the settlement itself is written.')
    }
  }

  /**
   * Frees the slots of settlements, once. They do not wait with their settlement: the next request of the same key would be rejected. Slots
   * that could not be freed here are freed by the settlement.
   */
  #freeSlots(entries: readonly Entry[]): void {
    for (const entry of entries) {
      if (entry.areSlotsFree) continue
      entry.areSlotsFree = true
      const { row, slotKeys } = entry.settlement
      void allSettled(slotKeys.map(key => () => this.#storage.counters.leave(key, row.id)))
    }
  }

  /** Queues a settlement for its next attempt, in memory and in the spool. */
  #enqueue(entry: Entry): void {
    const { row, waitUntil } = entry.settlement
    const bytes = textOf(entry).length
    if (!this.#waiting.has(row.id)) {
      if (this.#waiting.size < settlementLimits.maxWaiting && this.#waitingBytes + bytes <= settlementLimits.maxWaitingBytes) {
        this.#waiting.set(row.id, entry)
        this.#waitingBytes += bytes
      } else {
        this.#isOverfull = true
        this.#logger.error(
          { requestId: row.id, cost: row.cost },
          'The settlement queue is full. This settlement is kept in the spool only, or lost if there is no spool.',
        )
      }
    }
    void this.#addToSpool([entry])
    this.#emptied ??= Promise.withResolvers()
    this.#scheduleRetry()
    passToWaitUntil(waitUntil, this.#emptied.promise, { requestId: row.id, logger: this.#logger })
  }

  #scheduleRetry(): void {
    if (this.#rounds.isUnderWay() || this.#isClosed || this.#waiting.size === 0) return
    const waits = settlementLimits.retryMs
    this.#retryTimer.set(this.#failedRounds === 0 ? 0 : (waits[Math.min(this.#failedRounds, waits.length) - 1] ?? 0))
  }

  /** Retries the first settlements of the queue. Resolves when the round is over; undefined if none is under way. */
  #retry(): Promise<void> | undefined {
    this.#retryTimer.clear()
    const round = this.#rounds.begin(() => this.#retryFirst())
    const goOn = (): void => this.#scheduleRetry()
    void round?.then(goOn, goOn)
    return round ?? this.#rounds.ended()
  }

  async #retryFirst(): Promise<void> {
    const entries = [...this.#waiting.values()].slice(0, settlementLimits.maxAtOnce)
    const failures = await Promise.all(
      entries.map(({ settlement }) => {
        const written = promised(() => this.#write(settlement))
        const timeout = { milliseconds: settlementLimits.writeMs, message: writeOverdue(), customTimers: timersOf(this.#clock) }
        return pTimeout(written, timeout).catch((error: unknown): Failure => ({ error }))
      }),
    )
    let failed: Failure | undefined
    for (const [index, entry] of entries.entries()) {
      const failure = failures[index]
      if (failure && !isInvalid(failure.error)) {
        failed = failure
        continue
      }
      if (this.#waiting.delete(entry.settlement.row.id)) this.#waitingBytes -= entry.text.length
      if (failure) {
        this.#logInvalid(entry, failure.error)
        continue
      }
      entry.resolve()
      this.#onWritten(entry.settlement)
    }
    if (failed) {
      this.#failedRounds += 1
      this.#logger.warn({ waiting: this.#waiting.size, error: String(failed.error) }, 'Settlements could not be written; will retry.')
      await this.#addToSpool(entries.filter(({ settlement }) => this.#waiting.has(settlement.row.id)))
    } else this.#failedRounds = 0
    this.#tidySpool()
  }

  #logInvalid({ settlement: { row } }: Entry, error: unknown): void {
    this.#logger.error(
      { requestId: row.id, cost: row.cost, error: String(error) },
      'The storage rejected a settlement as invalid; it will not be retried.',
    )
  }

  /** Queues the spooled lines of a process that has ended. */
  #takeLines(lines: readonly string[]): void {
    for (const line of lines) {
      const settlement = parseSettlement(line)
      if (!settlement) this.#logger.error({ bytes: line.length }, 'A line of the spool is not a settlement; it was skipped.')
      else
        this.#enqueue({
          ...{ settlement, since: this.#clock.monotonic(), resolve: () => {}, text: line, spool: 'in', areSlotsFree: false },
        })
    }
    if (lines.length > 0)
      this.#logger.info({ settlements: lines.length }, 'Settlements from the spool of a process that has ended are being written.')
  }

  /** Adds the entries that are not in the spool yet. Their responses stop waiting, whether or not the write succeeds. */
  async #addToSpool(entries: readonly Entry[]): Promise<void> {
    const { spool } = this.#storage
    const missing = entries.filter(entry => entry.spool === 'out')
    if (spool && missing.length > 0) {
      for (const entry of missing) entry.spool = 'asked'
      await this.#callSpool(async () => {
        await spool.append(missing.map(textOf))
        this.#isSpoolFailing = false
        for (const entry of missing) entry.spool = 'in'
      })
      for (const entry of missing) if (entry.spool === 'asked') entry.spool = 'out'
    }
    for (const entry of missing) entry.resolve()
  }

  /** Clears the spool when nothing is left that may need it. */
  #tidySpool(): void {
    if (this.#waiting.size > 0 || this.#isOverfull || [...this.#writing.values()].some(({ spool }) => spool !== 'out')) return
    this.#emptied?.resolve()
    this.#emptied = undefined
    const { spool } = this.#storage
    if (spool) void this.#callSpool(() => spool.clear())
  }

  /**
   * Calls the spool after its earlier calls. Resolves when the call has finished, failed, or is overdue. A failure is logged with the
   * message; without one, as the first of several failed writes.
   */
  async #callSpool(run: () => Awaitable<void>, message?: string): Promise<void> {
    const onFailure = (error: unknown): void => {
      if (message !== undefined) this.#logger.error({ error: String(error) }, message)
      else if (!this.#isSpoolFailing)
        this.#logger.error({ error: String(error) }, 'The spool cannot be written: queued settlements are in memory only.')
      this.#isSpoolFailing ||= message === undefined
    }
    const overdue = (): Error => new Error(`The spool did not answer within ${settlementLimits.spoolMs / 1_000} s.`)
    if (this.#isSpoolStuck) return onFailure(overdue())
    let isOver = false
    const call = this.#spoolCall
      .then(run)
      .catch(onFailure)
      .then(() => {
        isOver = true
        this.#isSpoolStuck = false
      })
    this.#spoolCall = call
    await waitAtMost(settlementLimits.spoolMs, call, this.#clock)
    if (isOver) return
    this.#isSpoolStuck = true
    onFailure(overdue())
  }
}

const writeOverdue = (): Error => new Error(`The storage did not answer within ${settlementLimits.writeMs / 1_000} s.`)

/** Retrying does not help. */
const isInvalid = (error: unknown): boolean => error instanceof RangeError || error instanceof TypeError

function textOf(entry: Entry): string {
  if (entry.text === '') entry.text = formatSettlement(entry.settlement)
  return entry.text
}

/** Formats a settlement as one line of text. */
export const formatSettlement = ({ row, amounts, slotKeys }: SettlementFacts): string => JSON.stringify({ row, amounts, slotKeys })

/** Parses a line. Undefined if it is not a settlement. The store validates the numbers. */
function parseSettlement(line: string): SettlementFacts | undefined {
  try {
    const found = JSON.parse(line) as SettlementFacts
    const isWhole =
      isObject(found) && isObject(found.row) && typeof found.row.id === 'string' && isObject(found.amounts) && Array.isArray(found.slotKeys)
    return isWhole ? found : undefined
  } catch {
    return undefined
  }
}
