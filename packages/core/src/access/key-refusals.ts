import { dayMs } from '@signalbox/dialects/protocol'
import type { RecordStore } from '@signalbox/storage'
import type { Clock, Logger } from '../runtime/ports.ts'
import { unrefTimer } from '../runtime/timers.ts'
import type { Caller } from './caller.ts'
import { changedRecord, newRecord, type Records } from './records.ts'

/** Counts the requests of keys that were refused by a limit, by key and UTC day, and writes the counts in batches. */
export interface KeyRefusals {
  count(key: Pick<Caller, 'keyId' | 'workspaceId'>, at: number): void
  /** The number of refused requests of a key from `start` (inclusive) to `end` (exclusive), Unix milliseconds. */
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
/** Maximum pairs of key and day that wait to be written. Further ones are not counted. */
const maxWaiting = 10_000
/** Other processes may write the same key and day at the same time. */
const maxTries = 5
/** Longer than the longest period that is shown. */
const keptMs = 40 * dayMs
const maxDays = 100

interface Refused extends Pick<Caller, 'keyId' | 'workspaceId'> {
  readonly day: number
  count: number
}

/** Creates the counter of refused requests by key. */
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
      // Record ids are unique across workspaces, but two workspaces may have users with the same id.
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
