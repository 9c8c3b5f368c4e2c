import type { Awaitable, Storage } from '@signalbox/storage'
import { promised } from '@signalbox/storage/awaitable'
import type { Records, TypedRecord } from '../../access/records.ts'
import type { WorkspacePolicy } from '../../access/workspace-policy.ts'
import { dayMs } from '../../protocol/time.ts'
import { createLru } from '../../runtime/lru.ts'
import type { Clock, Logger } from '../../runtime/ports.ts'

/** Forgets what need not be kept any longer: usage rows as old as their workspace says, and records whose time is over. */
export interface Retention {
  /** A request of the workspace was settled. Never in its way: what there is to do happens behind it. */
  look(policy: WorkspacePolicy): void
  /** Resolves once what has begun is done. */
  flush(): Promise<void>
}

export interface RetentionPorts {
  readonly storage: Pick<Storage, 'usage' | 'records'>
  readonly records: Records
  readonly clock: Clock
  readonly logger: Logger
}

const hourMs = 3_600_000
/** As many workspaces as are remembered to have been looked at. */
const maxWorkspaces = 10_000
const usualDays = 365
const maxRows = 1_000
const maxRecords = 100
/** Those that make no calls any more are looked at too, a few at a time. */
const idleAtOnce = 200

export function createRetention({ storage, records, clock, logger }: RetentionPorts): Retention {
  /** When a workspace is to be looked at next: monotonic milliseconds. */
  const due = createLru<number>(maxWorkspaces)
  const running = new Set<Promise<void>>()
  let recordsDue = Number.NEGATIVE_INFINITY

  const inBackground = (forget: () => Awaitable<number>, ended: (gone: number) => void): void => {
    const over = promised(forget)
      .then(ended)
      .catch((error: unknown) =>
        logger.warn({ error: String(error) }, 'What is too old could not be forgotten; it is tried again in an hour.'),
      )
      .finally(() => running.delete(over))
    running.add(over)
  }
  const tidy = ({ id, body }: TypedRecord<'workspace'>, now: number): void => {
    if ((due.get(id) ?? now) > now) return
    due.set(id, now + hourMs)
    // How old a row is goes by its date, and so by the wall clock.
    const before = clock.now() - (body.settings?.logRetentionDays ?? usualDays) * dayMs
    inBackground(
      () => storage.usage.forget({ workspaceId: id, before, limit: maxRows }),
      gone => {
        // As many as may go at once: there may be more.
        if (gone >= maxRows) due.set(id, now)
      },
    )
  }
  let place: string | undefined
  const tidyIdle = async (now: number): Promise<number> => {
    const some = await records.list('workspace', { limit: idleAtOnce, ...(place !== undefined && { after: place }) })
    place = some.length < idleAtOnce ? undefined : some.at(-1)?.id
    for (const workspace of some) tidy(workspace, now)
    return some.length
  }
  return {
    look({ workspace }) {
      const now = clock.monotonic()
      tidy(workspace, now)
      if (recordsDue > now) return
      recordsDue = now + hourMs
      inBackground(
        () => storage.records.expire(clock.now(), maxRecords),
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
