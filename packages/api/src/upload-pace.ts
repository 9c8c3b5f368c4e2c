import type { Gateway } from '@signalbox/gateway'
import type { ClientLimits } from './client-limits.ts'

/** The measurement of one upload, started by `watchUpload`. */
export interface UploadPace {
  /** Reports that more bytes have arrived. */
  readonly heard: (bytes: number) => void
  readonly stop: () => void
}

/** The window is divided into this many ticks. */
const steps = 10

/**
 * Measures the speed of an upload over the last `bodyIdleMs`, and runs `tooSlow` once if it falls below `bodyBytesPerSecond`. Time is
 * counted in timer ticks, so that a stalled process or a clock jump costs a client at most one tick.
 */
export function watchUpload(
  clock: Gateway['clock'],
  { bodyIdleMs, bodyBytesPerSecond }: Pick<Required<ClientLimits>, 'bodyIdleMs' | 'bodyBytesPerSecond'>,
  tooSlow: () => void,
): UploadPace {
  const minBytes = Math.max(1, (bodyIdleMs * bodyBytesPerSecond) / 1_000)
  const stepMs = Math.max(1, bodyIdleMs / steps)
  const window = new Array<number>(steps).fill(0)
  let ticks = 0
  let inWindow = 0
  const tick = (): void => {
    ticks += 1
    const oldest = ticks % steps
    if (ticks >= steps && inWindow < minBytes) {
      tooSlow()
      return
    }
    inWindow -= window[oldest] ?? 0
    window[oldest] = 0
    timer = clock.setTimeout(tick, stepMs)
  }
  let timer = clock.setTimeout(tick, stepMs)
  return {
    heard: bytes => {
      inWindow += bytes
      window[ticks % steps] = (window[ticks % steps] ?? 0) + bytes
    },
    stop: () => clock.clearTimeout(timer),
  }
}
