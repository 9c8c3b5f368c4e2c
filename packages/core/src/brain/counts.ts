// What was seen of an offer here, as numbers that only ever grow: what one process tells the others. It is counted from calls of
// this process alone, so that nothing which others told comes back to them.

export interface Counts {
  /** Attempts that brought content. */
  answered: number
  /** Attempts that failed before content. */
  failed: number
  /** Streams that came to their end. */
  finished: number
  /** Attempts that broke after content. */
  broken: number
  /** Waits for first content, the reading of the prompt left out, and sums of ln of their milliseconds and of its square. */
  waits: number
  lnWaits: number
  lnWaitsSquared: number
  /** Answers whose speed was seen, and the sum of ln of their tokens a second. */
  speeds: number
  lnSpeeds: number
}

export const makeCounts = (): Counts => ({
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

/** All of the counts, so that whoever copies or subtracts them forgets none. */
export const countNames = [
  'answered',
  'failed',
  'finished',
  'broken',
  'waits',
  'lnWaits',
  'lnWaitsSquared',
  'speeds',
  'lnSpeeds',
] as const satisfies readonly (keyof Counts)[]

export function countWait(counts: Counts, milliseconds: number): void {
  const wait = Math.log(Math.max(1, milliseconds))
  counts.waits += 1
  counts.lnWaits += wait
  counts.lnWaitsSquared += wait * wait
}

/** Slower than a token a second counts as that: a sum must not shrink. */
export function countSpeed(counts: Counts, lnSpeed: number): void {
  counts.speeds += 1
  counts.lnSpeeds += Math.max(0, lnSpeed)
}

/** What `counts` have more than `before`; never below 0, whatever was told. */
export function growthOf(counts: Readonly<Counts>, before: Readonly<Counts> | undefined): Counts {
  const grown = makeCounts()
  for (const name of countNames) grown[name] = Math.max(0, counts[name] - (before?.[name] ?? 0))
  return grown
}

/** Things seen, whatever they were: where it has not grown, nothing has. */
export const seenIn = ({ answered, failed, finished, broken, waits, speeds }: Readonly<Counts>): number =>
  answered + failed + finished + broken + waits + speeds
