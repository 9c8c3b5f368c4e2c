import type { Awaitable, Storage } from '@signalbox/storage'
import type { Clock, Logger } from '../runtime/ports.ts'
import { waitAtMost } from '../runtime/timers.ts'
import { type QueuedSettlement, settlementLimits, settlementText } from './settlement-queue.ts'

export interface SettlementSpoolPorts {
  readonly clock: Clock
  readonly logger: Logger
}

const noAnswer = (): Error => new Error(`The spool did not answer within ${settlementLimits.spoolMs / 1_000} s.`)

const notReadyText =
  'The spool cannot be written: while the database is away, settlements are in memory only, and lost if the process ends.'

/** The store's spool, if it has one. Calls run one after another: nothing is added while it is being cleared. */
export function settlementSpool(spool: Storage['spool'], { clock, logger }: SettlementSpoolPorts) {
  let turn: Promise<void> = Promise.resolve()
  let isFailing = false
  /** A call is overdue. A concurrent second call could be undone by it. */
  let isStuck = false
  /** Resolves when the call has finished, failed, or is overdue. */
  const inTurn = async (run: () => Awaitable<void>, failed: (error: unknown) => void): Promise<void> => {
    if (isStuck) return failed(noAnswer())
    let isOver = false
    const mine = turn
      .then(run)
      .catch(failed)
      .then(() => {
        isOver = true
        isStuck = false
      })
    turn = mine
    await waitAtMost(settlementLimits.spoolMs, mine, clock)
    if (isOver) return
    isStuck = true
    failed(noAnswer())
  }
  const notWritten = (error: unknown): void => {
    if (!isFailing) logger.error({ error: String(error) }, 'The spool cannot be written: queued settlements are in memory only.')
    isFailing = true
  }
  const notReady = (error: unknown): void => logger.error({ error: String(error) }, notReadyText)
  const notAdopted = (error: unknown): void =>
    logger.error({ error: String(error) }, 'The spool of a process that has ended cannot be read.')
  return {
    isThere: spool !== undefined,
    /** Adds the entries that are not in the spool yet. Their responses stop waiting, whether or not the write succeeds. */
    async add(entries: readonly QueuedSettlement[]): Promise<void> {
      const missing = entries.filter(entry => entry.spool === 'out')
      if (spool && missing.length > 0) {
        for (const entry of missing) entry.spool = 'asked'
        await inTurn(async () => {
          await spool.append(missing.map(settlementText))
          isFailing = false
          for (const entry of missing) entry.spool = 'in'
        }, notWritten)
        for (const entry of missing) if (entry.spool === 'asked') entry.spool = 'out'
      }
      for (const entry of missing) entry.resolve()
    },
    /** Logs it if the spool cannot be written, before anything has to be. */
    check: (): Promise<void> => (spool?.check ? inTurn(() => spool.check?.(), notReady) : turn),
    clear: (): Promise<void> => (spool ? inTurn(() => spool.clear(), notWritten) : turn),
    /** Calls `take` with the adopted lines, however late they arrive. */
    adopt: (take: (lines: readonly string[]) => void): Promise<void> =>
      spool ? inTurn(async () => take(await spool.adopt()), notAdopted) : turn,
    settled: () => turn,
  }
}
