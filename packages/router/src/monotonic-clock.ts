/** Longest step back, in milliseconds, during which time stands still. A longer one means that the clock was set, so the origin is shifted. */
const maxStepBackMs = 60_000

/**
 * Wraps a clock so that it never goes back and is always a finite number. Invalid readings are ignored. After a jump ahead and back the
 * origin is shifted, because if time stood still until the clock caught up, pauses would not end and waits would be measured as zero.
 */
export function monotonicClock(monotonic: () => number): () => number {
  let latest: number | undefined
  let origin = 0
  return () => {
    const reading = monotonic()
    if (typeof reading !== 'number' || !(Math.abs(reading) <= Number.MAX_SAFE_INTEGER)) return latest ?? 0
    if (latest !== undefined && latest - (reading + origin) > maxStepBackMs) origin = latest - reading
    latest = Math.max(latest ?? Number.NEGATIVE_INFINITY, reading + origin)
    return latest
  }
}
