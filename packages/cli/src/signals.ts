import { constants } from 'node:os'

/** Milliseconds that running requests have to end when the server stops. */
export const graceMs = 30_000
/** Milliseconds within which signals count as one: a terminal signals the whole group, and pnpm passes the same signal on. */
const sameSignalMs = 100

type StopSignal = 'SIGTERM' | 'SIGINT'

/** What signals do. */
export interface StopHandlers {
  /** Runs once, for the first signal. */
  readonly stop: () => Promise<unknown>
  /** Runs before the process ends at once, for a second signal. */
  readonly abandon?: () => void
  readonly onError: (error: unknown) => void
}

/**
 * Stops on SIGTERM and SIGINT: the first signal lets running requests end, a second one ends the process at once. Returns a function
 * that does what SIGTERM does.
 */
export function stopOnSignals({ stop, abandon, onError }: StopHandlers): () => void {
  let stoppingSince: number | undefined
  const onSignal = (signal: StopSignal): void => {
    if (stoppingSince !== undefined) {
      if (performance.now() - stoppingSince <= sameSignalMs) return
      abandon?.()
      process.exit(128 + constants.signals[signal])
    }
    stoppingSince = performance.now()
    console.log(`${signal}: shutting down. Running requests have ${graceMs / 1000} s to finish. Send the signal again to stop at once.`)
    stop().then(() => process.exit(), onError)
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
  return () => onSignal('SIGTERM')
}
