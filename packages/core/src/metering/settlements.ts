import { type Awaitable, allSettled, type Storage } from '@signalbox/storage'
import type { Clock, Logger } from '../runtime/ports.ts'
import { sleep, unrefTimer } from '../runtime/timers.ts'
import { readSettlement, type SettlementFacts, writeSettlement } from './settlement-text.ts'

interface Settling extends SettlementFacts {
  /** Called once it is written down. */
  readonly onSettled?: () => void
  /** Given a promise where the settlement has to wait: it resolves once nothing waits any more. */
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined
}

/** Writes settlements; those that the store cannot take now wait in memory and in its spool, and are tried until `close`. */
export interface Settlements {
  /** Resolves once the settlement is in the store or in its spool; where neither can be written, once it waits in memory. Never rejects. */
  settle(settling: Settling): Promise<void>
  /** Whether a settlement of this request waits. */
  has(requestId: string): boolean
  /** So many settlements wait that no new work should begin. */
  isLong(): boolean
  /** Settles what processes that are gone have left in their spools. */
  adopt(): Promise<void>
  /** Tries for a bounded time, then leaves the rest to the spool and says so. */
  close(): Promise<void>
}

export interface SettlementPorts {
  readonly storage: Pick<Storage, 'ledger' | 'usage' | 'counters' | 'spool'>
  readonly clock: Clock
  readonly logger: Logger
}

/** Bounds of the queue and its waits. */
export const settlementLimits = {
  /** Beyond either, what the spool has is dropped from memory, and what it has not is lost. */
  maxWaiting: 50_000,
  maxWaitingBytes: 128 * 1024 * 1024,
  /** From here on new requests get 503. */
  longWaiting: 1_000,
  longWaitingBytes: 16 * 1024 * 1024,
  /** A write that takes longer is spooled, and its answer waits no longer for it. */
  spoolAfterMs: 250,
  /** Waits before each further try; the last one repeats. */
  retryMs: [200, 500, 1_000, 2_000, 3_000],
  /** Settlements tried at once. */
  maxAtOnce: 200,
  /** How long a closing gateway goes on trying. */
  closeMs: 10_000,
} as const

interface Entry {
  readonly settling: Settling
  /** Monotonic milliseconds. */
  readonly since: number
  readonly resolve: () => void
  text: string
  spool: 'out' | 'asked' | 'in'
}

export function keepSettlements({ storage, clock, logger }: SettlementPorts): Settlements {
  const spool = keepSpool(storage.spool, logger)
  const queue = keepQueue()
  /** Under way for the first time. */
  const writing = new Map<string, Entry>()
  let spooling: unknown
  let retrying: unknown
  let round: Promise<void> | undefined
  let tries = 0
  let isClosed = false
  /** The spool has settlements that memory has not: it is not cleared any more. */
  let isOverfull = false
  let emptied: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined

  const write = async ({ row, amounts, slotKeys }: SettlementFacts): Promise<void> => {
    // Each does nothing the second time, so what did succeed is not done twice.
    const done = await allSettled([
      () => storage.ledger.settle({ id: row.id, amounts, at: row.at + Math.round(row.durationMs) }),
      () => storage.usage.append(row),
      ...slotKeys.map(key => () => storage.counters.leave(key, row.id)),
    ])
    const failed = done.find(result => result.status === 'rejected')
    if (failed) throw failed.reason
  }
  const spoolOverdue = (): void => {
    spooling = undefined
    const before = clock.monotonic() - settlementLimits.spoolAfterMs
    const overdue = [...writing.values()].filter(entry => entry.since <= before)
    void spool.add(overdue)
    if (writing.size > 0) watchWriting()
  }
  const watchWriting = (): void => {
    spooling ??= unrefTimer(clock.setTimeout(spoolOverdue, settlementLimits.spoolAfterMs))
  }
  const tidy = (): void => {
    if (queue.size() > 0 || isOverfull || [...writing.values()].some(({ spool }) => spool !== 'out')) return
    emptied?.resolve()
    emptied = undefined
    void spool.clear()
  }
  const written = (entry: Entry): void => {
    entry.resolve()
    try {
      entry.settling.onSettled?.()
    } catch (error) {
      logger.error({ requestId: entry.settling.row.id, error: String(error) }, 'What follows a settlement failed; the settlement stands.')
    }
  }
  const wait = (entry: Entry): void => {
    const { row } = entry.settling
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
    entry.settling.waitUntil?.(emptied.promise)
    schedule()
  }
  const refuse = ({ settling: { row } }: Entry, error: unknown): void =>
    logger.error(
      { requestId: row.id, cost: row.cost, error: String(error) },
      'The store refuses the settlement as wrong; it is not tried again.',
    )
  const schedule = (): void => {
    if (retrying !== undefined || round || isClosed || queue.size() === 0) return
    const waits = settlementLimits.retryMs
    retrying = clock.setTimeout(() => void tryAgain(), tries === 0 ? 0 : (waits[Math.min(tries, waits.length) - 1] ?? 0))
  }
  const tryAgain = (): Promise<void> => {
    clock.clearTimeout(retrying)
    retrying = undefined
    round ??= tryRound().finally(() => {
      round = undefined
      schedule()
    })
    return round
  }
  const tryRound = async (): Promise<void> => {
    const some = queue.first(settlementLimits.maxAtOnce)
    const failures = await Promise.all(
      some.map(entry =>
        write(entry.settling).then(
          () => undefined,
          (error: unknown) => ({ error }),
        ),
      ),
    )
    let failed: unknown
    for (const [index, entry] of some.entries()) {
      const failure = failures[index]
      if (failure && !isWrong(failure.error)) {
        failed = failure.error
        continue
      }
      queue.remove(entry)
      if (failure) refuse(entry, failure.error)
      else written(entry)
    }
    if (failed === undefined) tries = 0
    else {
      tries += 1
      logger.warn({ waiting: queue.size(), error: String(failed) }, 'Settlements cannot be written; they are tried again.')
      await spool.add(some.filter(entry => queue.has(entry.settling.row.id)))
    }
    tidy()
  }

  return {
    settle: settling =>
      new Promise(resolve => {
        const entry: Entry = { settling, since: clock.monotonic(), resolve, text: '', spool: 'out' }
        writing.set(settling.row.id, entry)
        if (spool.isThere) watchWriting()
        write(settling).then(
          () => {
            writing.delete(settling.row.id)
            written(entry)
            if (entry.spool !== 'out') tidy()
          },
          (error: unknown) => {
            writing.delete(settling.row.id)
            if (isWrong(error)) {
              refuse(entry, error)
              resolve()
              return
            }
            if (queue.size() === 0)
              logger.warn({ requestId: settling.row.id, error: String(error) }, 'A settlement cannot be written now; it waits.')
            tries = Math.max(tries, 1)
            wait(entry)
          },
        )
      }),
    has: id => writing.has(id) || queue.has(id),
    isLong: queue.isLong,
    async adopt() {
      const lines = await spool.adopt()
      for (const line of lines) {
        const settling = readSettlement(line)
        if (!settling) logger.error({ bytes: line.length }, 'A line of the spool is no settlement; it is left out.')
        else wait({ settling, since: clock.monotonic(), resolve: () => {}, text: line, spool: 'in' })
      }
      if (lines.length > 0) logger.info({ settlements: lines.length }, 'Settlements that another process had to leave are written now.')
    },
    async close() {
      const until = clock.monotonic() + settlementLimits.closeMs
      while (queue.size() > 0 && clock.monotonic() < until) {
        await Promise.race([tryAgain(), sleep(clock, until - clock.monotonic())])
        if (tries > 0 && queue.size() > 0) await sleep(clock, settlementLimits.retryMs[0])
      }
      isClosed = true
      clock.clearTimeout(retrying)
      clock.clearTimeout(spooling)
      const left = [...queue.first(Number.POSITIVE_INFINITY), ...writing.values()]
      await spool.add(left)
      const lost = left.filter(entry => entry.spool !== 'in').length
      if (left.length > 0)
        logger.error(
          { spooled: left.length - lost, lost },
          'Settlements could not be written. Those in the spool are written at the next start.',
        )
      emptied?.resolve()
      await spool.settled()
    },
  }
}

/** No further try helps. */
const isWrong = (error: unknown): boolean => error instanceof RangeError || error instanceof TypeError

/** What waits, by request. */
function keepQueue() {
  const entries = new Map<string, Entry>()
  let bytes = 0
  return {
    size: () => entries.size,
    has: (id: string): boolean => entries.has(id),
    isLong: (): boolean => entries.size >= settlementLimits.longWaiting || bytes >= settlementLimits.longWaitingBytes,
    first: (count: number): readonly Entry[] => (count >= entries.size ? [...entries.values()] : [...entries.values()].slice(0, count)),
    /** False: there is no room. */
    add(entry: Entry): boolean {
      textOf(entry)
      const { id } = entry.settling.row
      if (entries.has(id)) return true
      if (entries.size >= settlementLimits.maxWaiting || bytes + entry.text.length > settlementLimits.maxWaitingBytes) return false
      entries.set(id, entry)
      bytes += entry.text.length
      return true
    },
    remove(entry: Entry): void {
      if (entries.delete(entry.settling.row.id)) bytes -= entry.text.length
    },
  }
}

/** Made once, and only where a settlement has to wait. */
function textOf(entry: Entry): string {
  if (entry.text === '') entry.text = writeSettlement(entry.settling)
  return entry.text
}

/** The spool of the store, where it has one, in turns: nothing is added while it is being cleared. */
function keepSpool(spool: Storage['spool'], logger: Logger) {
  let turn: Promise<void> = Promise.resolve()
  let isFailing = false
  const inTurn = (run: () => Awaitable<void>, failed: (error: unknown) => void): Promise<void> => {
    turn = turn.then(run).catch(failed)
    return turn
  }
  const notWritten = (error: unknown): void => {
    if (!isFailing) logger.error({ error: String(error) }, 'The spool cannot be written: settlements that wait are in memory only.')
    isFailing = true
  }
  const notAdopted = (error: unknown): void =>
    logger.error({ error: String(error) }, 'A spool that another process has left cannot be read now.')
  return {
    isThere: spool !== undefined,
    /** Those that are in it already are not added again. Their answers wait no longer, whether or not it could be written. */
    async add(entries: readonly Entry[]): Promise<void> {
      const missing = entries.filter(entry => entry.spool === 'out')
      if (spool && missing.length > 0) {
        for (const entry of missing) entry.spool = 'asked'
        await inTurn(async () => {
          await spool.append(missing.map(textOf))
          isFailing = false
          for (const entry of missing) entry.spool = 'in'
        }, notWritten)
        for (const entry of missing) if (entry.spool === 'asked') entry.spool = 'out'
      }
      for (const entry of missing) entry.resolve()
    },
    clear: (): Promise<void> => (spool ? inTurn(() => spool.clear(), notWritten) : turn),
    async adopt(): Promise<readonly string[]> {
      let lines: readonly string[] = []
      if (spool)
        await inTurn(async () => {
          lines = await spool.adopt()
        }, notAdopted)
      return lines
    },
    settled: () => turn,
  }
}
