import type { Storage } from '@signalbox/storage'
import type { LiveHold } from '@signalbox/storage/ledger'
import { creditAccount } from '../../access/accounts.ts'
import type { WorkspacePolicies } from '../../access/workspace-policy.ts'
import type { SettlementQueue } from '../../metering/settlement-queue.ts'
import type { Clock, Logger } from '../../runtime/ports.ts'
import { createSingleRun } from '../../runtime/single-run.ts'
import { sleep, unrefTimer, withinStorageWait } from '../../runtime/timers.ts'
import { passToWaitUntil, type WaitUntil } from '../../runtime/wait-until.ts'
import { interruptedRow, type Journal, parseJournal } from '../admission/journal.ts'
import { dropOverdue, type RunningRequest } from '../running-requests.ts'
import { amountsOf, type Bill } from './bill.ts'

// A process may end without settling its requests. A live process renews its holds; a hold whose version does not change for a whole
// lease, by the observer's monotonic clock, is abandoned, and its request is settled as `interrupted`.

/** Settles the spools, then the holds, of processes that have ended. */
export interface HoldCollector {
  /**
   * Called on requests and gateway calls. Runs a collection if one is due, and repeats it by a timer while necessary. A collection may
   * outlast the request if the runtime has `waitUntil`.
   */
  wake(waitUntil?: WaitUntil): void
  /** Resolves when the running collection has ended. No further one starts. */
  close(): Promise<void>
}

export interface CollectorPorts {
  readonly storage: Pick<Storage, 'ledger' | 'settle'>
  readonly settlements: Pick<SettlementQueue, 'adopt' | 'has'>
  readonly policies: Pick<WorkspacePolicies, 'of'>
  readonly running: Set<RunningRequest>
  readonly clock: Clock
  readonly logger: Logger
}

/** Collector intervals in milliseconds. */
const collectorTimes = {
  /** Interval between two checks. */
  lookMs: 10_000,
  /** Longest interval after checks that failed, which is doubled each time, while the gateway is idle. */
  maxRetryMs: 600_000,
  /** A hold unchanged for this long is abandoned. A live request renews its hold every 10 s. */
  leaseMs: 45_000,
  /** A check with a longer step counts as dropped with the request that started it. A storage call ends after 10 s. */
  maxStepMs: 15_000,
  /** After a longer gap, a second check must confirm: whatever paused this process may have kept others from renewing too. */
  maxPauseMs: 25_000,
} as const

const pageSize = 1_000

interface Watched {
  readonly version: number
  /** When this version was first seen, in monotonic milliseconds. */
  readonly since: number
  /** Whether the previous check found it unchanged for a whole lease. */
  readonly isDoubted: boolean
}

/** The state of a collector between checks. */
interface Sight {
  /** Holds by id. */
  watched: Map<string, Watched>
  /** Time of the last check in monotonic milliseconds. */
  lookedAt: number
}

/** Creates the collector that settles requests whose process has ended. */
export function createHoldCollector(ports: CollectorPorts): HoldCollector {
  const { running, clock, logger } = ports
  const sight: Sight = { watched: new Map(), lookedAt: Number.NEGATIVE_INFINITY }
  let dueAt = Number.NEGATIVE_INFINITY
  let retryMs: number = collectorTimes.lookMs
  let timer: unknown
  const looks = createSingleRun(clock, collectorTimes.maxStepMs)
  let isClosed = false

  const lookAndGoOn = async (goesOn: () => void): Promise<void> => {
    const hasLooked = await lookAndSettle(sight, { ...ports, goesOn })
    dueAt = clock.monotonic() + collectorTimes.lookMs
    const isNeeded = running.size > 0 || sight.watched.size > 0
    if (hasLooked || isNeeded) retryMs = collectorTimes.lookMs
    if (isClosed || (hasLooked && !isNeeded)) return
    timer = unrefTimer(clock.setTimeout(begin, retryMs))
    if (!hasLooked) retryMs = Math.min(collectorTimes.maxRetryMs, retryMs * 2)
  }
  const begin = (): Promise<void> | undefined => {
    if (isClosed || looks.isUnderWay()) return undefined
    clock.clearTimeout(timer)
    timer = undefined
    return looks.begin(lookAndGoOn)
  }
  return {
    wake(waitUntil) {
      const look = clock.monotonic() < dueAt ? undefined : begin()
      if (look) passToWaitUntil(waitUntil, look, { requestId: '', logger })
    },
    async close() {
      isClosed = true
      clock.clearTimeout(timer)
      await looks.ended()
    },
  }
}

interface LookPorts extends CollectorPorts {
  /** Called after each step. */
  readonly goesOn: () => void
}

/** Settles abandoned holds. Resolves to whether they could be checked; never rejects. */
async function lookAndSettle(sight: Sight, ports: LookPorts): Promise<boolean> {
  const { settlements, logger, goesOn } = ports
  try {
    await settlements.adopt()
    goesOn()
    let cost = 0
    const still = await findStill(sight, ports)
    for (const hold of still) {
      cost += await settleInterrupted(hold, ports)
      sight.watched.delete(hold.id)
      goesOn()
    }
    if (still.length > 0)
      logger.warn({ requests: still.length, cost }, 'Requests were interrupted when their process ended. They have been settled.')
    return true
  } catch (error) {
    // While the store could not be written, live processes could not renew either.
    sight.watched.clear()
    logger.warn({ error: String(error) }, 'Expired holds could not be checked; will retry.')
    return false
  }
}

/** Returns the holds that were unchanged for a whole lease, and watches all current ones. */
async function findStill(sight: Sight, { storage, settlements, running, clock, goesOn }: LookPorts): Promise<readonly LiveHold[]> {
  // Check that the store can be written, since reads work even when renewals cannot: only then does time count against a hold.
  await withinStorageWait(storage.ledger.renew([]), clock)
  goesOn()
  const hasPaused = clock.monotonic() - sight.lookedAt > collectorTimes.maxPauseMs
  // A live process may have dead requests, because Workers drop the timers that would have ended them.
  dropOverdue(running, clock.monotonic())
  const mine = new Set([...running].map(({ requestId }) => requestId))
  const found = new Map<string, Watched>()
  const still: LiveHold[] = []
  let after: string | undefined
  for (;;) {
    const before = clock.monotonic()
    const page = await withinStorageWait(storage.ledger.holds({ limit: pageSize, after }), clock)
    goesOn()
    for (const hold of page) {
      if (mine.has(hold.id) || settlements.has(hold.id)) continue
      const known = sight.watched.get(hold.id)
      const isSame = known?.version === hold.version
      const isOver = isSame && before - known.since >= collectorTimes.leaseMs
      if (isOver && (!hasPaused || known.isDoubted)) still.push(hold)
      found.set(hold.id, { version: hold.version, since: isSame ? known.since : clock.monotonic(), isDoubted: isOver })
    }
    after = page.at(-1)?.id
    if (page.length < pageSize) break
    await sleep(clock, 0)
  }
  sight.watched = found
  sight.lookedAt = clock.monotonic()
  return still
}

/** Resolves to the billed amount in microdollars. */
async function settleInterrupted({ id, journal: text }: LiveHold, ports: CollectorPorts): Promise<number> {
  const { storage, clock, logger } = ports
  const journal = parseJournal(text)
  if (!journal) {
    logger.warn({ requestId: id }, 'An abandoned hold had no journal. It was released, and nothing was billed.')
    await withinStorageWait(storage.ledger.settle({ id, amounts: {}, at: clock.now() }), clock)
    return 0
  }
  const { row, bill } = interruptedRow(id, journal)
  const amounts = await amountsIn(journal, bill, ports)
  await withinStorageWait(storage.settle({ row, amounts, slotKeys: journal.slotKeys, at: clock.now() }), clock)
  return bill.cost
}

async function amountsIn({ workspaceId, keyId, ancestors, budgets, modelAsked, at }: Journal, bill: Bill, { policies }: CollectorPorts) {
  const found = await policies.of(workspaceId)
  const facts = { requestId: '', workspaceId, keyId, ancestors, budgets, model: modelAsked }
  if (found) return amountsOf(bill, { facts, policy: found, at })
  return bill.cost > 0 ? { [creditAccount(workspaceId)]: bill.cost } : {}
}
