import { constants } from 'node:os'

/** Milliseconds within which signals count as one: a terminal signals the whole group, and pnpm forwards the same signal. */
const sameSignalMs = 100

type StopSignal = 'SIGTERM' | 'SIGINT'

/** Signal handlers. */
export interface StopHandlers {
  /** Runs once, for the first signal. */
  readonly stop: () => Promise<unknown>
  /** Milliseconds that running requests have to finish, for the message. */
  readonly graceMs: number
  /** Runs before the process ends at once, on a second signal. */
  readonly abandon?: () => void
  readonly onError: (error: unknown) => void
}

/**
 * Stops on SIGTERM and SIGINT: the first signal lets running requests finish, a second one ends the process at once. Returns a function
 * with the effect of SIGTERM.
 */
export function stopOnSignals({ stop, graceMs, abandon, onError }: StopHandlers): () => void {
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
