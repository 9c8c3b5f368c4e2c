import type { Clock } from '@signalbox/core/runtime'

/** The outages logged within the last second. */
export interface OutageLog {
  isNew(message: string): boolean
}

const quietMs = 1_000
/** There are few distinct messages. Beyond this number all are forgotten. */
const maxMessages = 100

export function createOutageLog(clock: Clock): OutageLog {
  const loggedAt = new Map<string, number>()
  return {
    isNew(message) {
      const now = clock.monotonic()
      const last = loggedAt.get(message)
      if (last !== undefined && now - last < quietMs) return false
      if (loggedAt.size >= maxMessages) loggedAt.clear()
      loggedAt.set(message, now)
      return true
    },
  }
}
