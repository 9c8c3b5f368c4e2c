import { type Awaitable, promised } from '@signalbox/storage'
import pTimeout from 'p-timeout'
import type { Clock, Logger } from './ports.ts'
import { timersOf } from './timers.ts'

/** So long one answer of the storage is everybody's. */
const sharedMs = 1_000
const patienceMs = 2_000

export interface ReadinessPorts {
  /** Fails where the storage cannot be used. */
  readonly ping: () => Awaitable<void>
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Tells what is wrong with the storage, in words for anybody; paths and addresses are for the log. Strangers may ask, so it is
 * asked once a second at most, however many they are: they share the result, also one that is still awaited.
 */
export function keepReadiness({ ping, clock, logger }: ReadinessPorts): () => Promise<readonly string[]> {
  let last: { readonly result: Promise<readonly string[]>; readonly at: number } | undefined
  const ask = (): Promise<readonly string[]> =>
    pTimeout(promised(ping), { milliseconds: patienceMs, customTimers: timersOf(clock) }).then(
      () => [],
      (error: unknown) => {
        logger.warn({ error: String(error) }, 'The storage cannot be used.')
        return ['The storage cannot be used.']
      },
    )
  return () => {
    const at = clock.monotonic()
    if (last === undefined || at - last.at >= sharedMs) last = { result: ask(), at }
    return last.result
  }
}
