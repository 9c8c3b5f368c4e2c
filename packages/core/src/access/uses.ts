import { type RecordStore, recover } from '@signalbox/storage'
import type { Clock, Logger } from '../runtime/ports.ts'

/** Last uses of keys, written down many in one go. */
export interface Uses {
  note(keyId: string, at: number): void
  flush(): Promise<void>
}

export interface UsesPorts {
  readonly store: Pick<RecordStore, 'touch'>
  readonly clock: Clock
  readonly logger: Logger
}

const gatherMs = 1_000
const mostAtOnce = 500

export function noteUses({ store, clock, logger }: UsesPorts): Uses {
  const waiting = new Map<string, number>()
  let timer: unknown
  const flush = async (): Promise<void> => {
    clock.clearTimeout(timer)
    timer = undefined
    const uses = Array.from(waiting, ([id, at]) => ({ id, at }))
    waiting.clear()
    if (uses.length === 0) return
    await recover(
      () => store.touch('key', uses),
      error => logger.warn({ error: String(error) }, 'The last use of keys could not be noted.'),
    )
  }
  return {
    note(keyId, at) {
      waiting.set(keyId, at)
      if (waiting.size >= mostAtOnce) void flush()
      else timer ??= clock.setTimeout(() => void flush(), gatherMs)
    },
    flush,
  }
}
