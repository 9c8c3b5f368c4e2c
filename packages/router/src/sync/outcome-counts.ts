// Observed outcomes of an offer as monotonic counters, which one process publishes to others. Only calls of this process are counted, so
// nothing received is published again.

export interface OutcomeCounts {
  /** Attempts with first content. */
  answered: number
  /** Attempts that failed before first content. */
  failed: number
  /** Completed responses. */
  finished: number
  /** Responses that broke after first content. */
  broken: number
  /** Waits for first content without prefill: their number, the sum of ln of their milliseconds, and the sum of its squares. */
  waits: number
  lnWaits: number
  lnWaitsSquared: number
  /** Responses with a measured speed, and the sum of ln of their tokens per second. */
  speeds: number
  lnSpeeds: number
}

export const makeOutcomeCounts = (): OutcomeCounts => ({
  answered: 0,
  failed: 0,
  finished: 0,
  broken: 0,
  waits: 0,
  lnWaits: 0,
  lnWaitsSquared: 0,
  speeds: 0,
  lnSpeeds: 0,
})

/** The names of all counters, for code that copies or subtracts them. */
export const outcomeNames = [
  'answered',
  'failed',
  'finished',
  'broken',
  'waits',
  'lnWaits',
  'lnWaitsSquared',
  'speeds',
  'lnSpeeds',
] as const satisfies readonly (keyof OutcomeCounts)[]

export function countWait(counts: OutcomeCounts, milliseconds: number): void {
  const wait = Math.log(Math.max(1, milliseconds))
  counts.waits += 1
  counts.lnWaits += wait
  counts.lnWaitsSquared += wait * wait
}

/** Speeds below one token per second count as one, because the sum must not decrease. */
export function countSpeed(counts: OutcomeCounts, lnSpeed: number): void {
  counts.speeds += 1
  counts.lnSpeeds += Math.max(0, lnSpeed)
}

/** The growth of each counter since `before`, never negative. */
export function countsSince(counts: Readonly<OutcomeCounts>, before: Readonly<OutcomeCounts> | undefined): OutcomeCounts {
  const grown = makeOutcomeCounts()
  for (const name of outcomeNames) grown[name] = Math.max(0, counts[name] - (before?.[name] ?? 0))
  return grown
}

/** Total number of observations: if it has not grown, no counter has. */
export const totalObserved = ({ answered, failed, finished, broken, waits, speeds }: Readonly<OutcomeCounts>): number =>
  answered + failed + finished + broken + waits + speeds
