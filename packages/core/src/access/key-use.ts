import type { RecordStore } from '@signalbox/storage'
import { recover } from '@signalbox/storage/awaitable'
import type { Clock, Logger } from '../runtime/ports.ts'

/** Records when keys were last used, and writes the times in batches. */
export interface KeyUseRecorder {
  record(keyId: string, at: number): void
  flush(): Promise<void>
}

export interface KeyUsePorts {
  readonly store: Pick<RecordStore, 'touch'>
  readonly clock: Clock
  readonly logger: Logger
}

const gatherMs = 1_000
const maxBatch = 500

export function createKeyUseRecorder({ store, clock, logger }: KeyUsePorts): KeyUseRecorder {
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
      error => logger.warn({ error: String(error) }, 'The last use of keys could not be stored.'),
    )
  }
  return {
    record(keyId, at) {
      waiting.set(keyId, at)
      if (waiting.size >= maxBatch) void flush()
      else timer ??= clock.setTimeout(() => void flush(), gatherMs)
    },
    flush,
  }
}
