import { dayMs } from '@signalbox/dialects/protocol'
import type { Awaitable, Storage } from '@signalbox/storage'
import { promised } from '@signalbox/storage/awaitable'
import type { Records, TypedRecord } from '../../access/records.ts'
import type { WorkspacePolicy } from '../../access/workspace-policy.ts'
import { createLru } from '../../runtime/lru.ts'
import type { Clock, Logger } from '../../runtime/ports.ts'

/** Deletes expired data: usage rows past the retention of their workspace, expired records, and accounts of past periods. */
export interface Retention {
  /** Called when a request of the workspace was settled, at about `now` (monotonic milliseconds). Deletes in the background. */
  look(policy: WorkspacePolicy, now?: number): void
  /** Resolves once all started deletions have ended. */
  flush(): Promise<void>
}

export interface RetentionPorts {
  readonly storage: Pick<Storage, 'usage' | 'records' | 'ledger'>
  readonly records: Records
  readonly clock: Clock
  readonly logger: Logger
}

const hourMs = 3_600_000
/** Maximum number of workspaces whose next due time is remembered. */
const maxWorkspaces = 10_000
const usualDays = 365
const maxRows = 1_000
const maxRecords = 100
/** Milliseconds until the next batch of accounts is checked, if there are more. */
const nextAccountsMs = 300_000
/** Workspaces without traffic are checked too, in batches of this size. */
const idleAtOnce = 200

/** Creates the deletion of what workspaces keep for a limited time. */
export function createRetention({ storage, records, clock, logger }: RetentionPorts): Retention {
  /** When each workspace is checked next, in monotonic milliseconds. */
  const due = createLru<number>(maxWorkspaces)
  const running = new Set<Promise<void>>()
  let recordsDue = Number.NEGATIVE_INFINITY
  const earliestNow = earliestTime(clock)

  const inBackground: InBackground = (forget, ended) => {
    const over = promised(forget)
      .then(ended)
      .catch((error: unknown) => logger.warn({ error: String(error) }, 'Expired data could not be deleted; will retry in an hour.'))
      .finally(() => running.delete(over))
    running.add(over)
  }
  const tidy = ({ id, body }: TypedRecord<'workspace'>, now: number): void => {
    if ((due.get(id) ?? now) > now) return
    due.set(id, now + hourMs)
    // The age of a row is determined by its date, and so by the wall clock.
    const before = earliestNow() - (body.settings?.logRetentionDays ?? usualDays) * dayMs
    inBackground(
      () => storage.usage.forget({ workspaceId: id, before, limit: maxRows }),
      gone => {
        // The limit was reached, so there may be more rows.
        if (gone >= maxRows) due.set(id, now)
      },
    )
  }
  const accounts = accountTidier(storage, earliestNow, inBackground)
  let place: string | undefined
  const tidyIdle = async (now: number): Promise<number> => {
    const some = await records.list('workspace', { limit: idleAtOnce, after: place })
    place = some.length < idleAtOnce ? undefined : some.at(-1)?.id
    for (const workspace of some) tidy(workspace, now)
    return some.length
  }
  return {
    look({ workspace }, now = clock.monotonic()) {
      tidy(workspace, now)
      if (accounts.due <= now) accounts.tidy(now)
      if (recordsDue > now) return
      recordsDue = now + hourMs
      inBackground(
        () => storage.records.expire(earliestNow(), maxRecords),
        gone => {
          if (gone >= maxRecords) recordsDue = now
        },
      )
      inBackground(
        () => tidyIdle(now),
        () => {},
      )
    },
    async flush() {
      while (running.size > 0) await Promise.all(running)
    },
  }
}

/** The lowest plausible time in Unix milliseconds, so that a wall clock that is set forward for a while does not delete data too early. */
function earliestTime(clock: Pick<Clock, 'now' | 'monotonic'>): () => number {
  let ahead = Number.POSITIVE_INFINITY
  return () => {
    ahead = Math.min(ahead, clock.now() - clock.monotonic())
    return Math.floor(ahead + clock.monotonic())
  }
}

type InBackground = <T>(forget: () => Awaitable<T>, ended: (result: T) => void) => void

/** Removes ended accounts, a batch in each run. `due` is the time of the next run. `now`: monotonic milliseconds. */
function accountTidier(storage: RetentionPorts['storage'], earliestNow: () => number, inBackground: InBackground) {
  let after: string | undefined
  // Loaded on demand, because a program that starts for each request rarely needs it.
  const look = async (): Promise<string | undefined> =>
    (await import('./ended-accounts.ts')).forgetEnded(storage.ledger, { now: earliestNow(), after })
  const tidier = {
    due: Number.NEGATIVE_INFINITY,
    tidy(now: number): void {
      tidier.due = now + hourMs
      inBackground(look, reached => {
        after = reached
        if (reached !== undefined) tidier.due = now + nextAccountsMs
      })
    },
  }
  return tidier
}
