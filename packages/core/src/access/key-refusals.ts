import type { RecordStore } from '@signalbox/storage'
import { dayMs } from '../protocol/time.ts'
import type { Clock, Logger } from '../runtime/ports.ts'
import { unrefTimer } from '../runtime/timers.ts'
import type { Caller } from './caller.ts'
import { changedRecord, newRecord, type Records } from './records.ts'

/** Counts the requests of keys that a limit refused, by key and day of UTC, and writes many of them at once. */
export interface KeyRefusals {
  count(key: Pick<Caller, 'keyId' | 'workspaceId'>, at: number): void
  /** Refused requests of a key from `start` to `end`, which is not included. Unix milliseconds. */
  between(key: Pick<Caller, 'keyId' | 'workspaceId'>, span: { readonly start: number; readonly end: number }): Promise<number>
  flush(): Promise<void>
}

export interface KeyRefusalPorts {
  readonly records: Records
  readonly store: Pick<RecordStore, 'commit'>
  readonly clock: Clock
  readonly logger: Logger
}

const gatherMs = 1_000
/** Keys and days that wait to be written; what comes beyond is not counted. */
const maxWaiting = 10_000
/** Another process may write the same key and day at the same time. */
const maxTries = 5
/** Longer than the longest period that is shown. */
const keptMs = 40 * dayMs
const maxDays = 100

interface Refused extends Pick<Caller, 'keyId' | 'workspaceId'> {
  readonly day: number
  count: number
}

export function createKeyRefusals({ records, store, clock, logger }: KeyRefusalPorts): KeyRefusals {
  const waiting = new Map<string, Refused>()
  let timer: unknown
  let writing: Promise<void> | undefined

  const write = async (id: string, { workspaceId, keyId, day, count }: Refused): Promise<boolean> => {
    for (let tries = 0; tries < maxTries; tries++) {
      const before = await records.find('key_refusals', workspaceId, id)
      const put = before
        ? changedRecord(before, { body: { count: before.body.count + count } })
        : newRecord('key_refusals', { id, workspaceId, group: keyId, createdAt: day, expiresAt: day + keptMs, body: { day, count } })
      if (!(await store.commit({ puts: [put] }))) return true
    }
    return false
  }
  const writeAll = async (): Promise<void> => {
    const some = [...waiting]
    waiting.clear()
    for (const [id, refused] of some) {
      const isWritten = await write(id, refused).catch(() => false)
      if (!isWritten) logger.warn({ keyId: refused.keyId, requests: refused.count }, 'Rate limited requests of a key could not be counted.')
    }
  }
  const flush = (): Promise<void> => {
    clock.clearTimeout(timer)
    timer = undefined
    writing = (writing ?? Promise.resolve()).then(writeAll)
    return writing
  }
  return {
    count({ keyId, workspaceId }, at) {
      const day = at - (at % dayMs)
      // Ids of records are unique across workspaces, and two workspaces may have users of the same name.
      const id = `${encodeURIComponent(workspaceId)}:${keyId}:${day}`
      const refused = waiting.get(id)
      if (refused) refused.count += 1
      else if (waiting.size < maxWaiting) waiting.set(id, { keyId, workspaceId, day, count: 1 })
      timer ??= unrefTimer(clock.setTimeout(() => void flush(), gatherMs))
    },
    async between({ keyId, workspaceId }, { start, end }) {
      await flush()
      const days = await records.list('key_refusals', { workspaceId, groups: [keyId], limit: maxDays })
      return days.reduce((sum, { body: { day, count } }) => (day >= start && day < end ? sum + count : sum), 0)
    },
    flush,
  }
}
