/** The percentile of a list: `percentile([3, 1, 2], 0.5)` is 2. NaN for an empty list. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export const medianOf = (values: readonly number[]): number => percentile(values, 0.5)
