/** Milliseconds: a longer step back is a clock that was set anew, and time goes on from there. A shorter one is waited out. */
const maxStepBackMs = 60_000

/**
 * The same clock, which never goes back and is always a number. A reading that is no time is ignored. After a jump ahead and back
 * the origin is shifted: if time stood still until the jump was made up for, rests would not end and waits would be learned as none.
 */
export function onwards(monotonic: () => number): () => number {
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
