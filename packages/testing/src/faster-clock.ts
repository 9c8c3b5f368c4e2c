import { type Clock, webClock } from '@signalbox/core/runtime'

/**
 * The runtime's clock with timers that fire the given number of times earlier, to test time limits over real sockets.
 *
 * @example createGateway({ ...options, clock: fasterClock(10) })
 */
export function fasterClock(times: number): Clock {
  const real = webClock()
  return {
    now: real.now,
    monotonic: () => real.monotonic() * times,
    setTimeout: (run, milliseconds) => real.setTimeout(run, milliseconds / times),
    clearTimeout: real.clearTimeout,
  }
}
