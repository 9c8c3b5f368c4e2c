/** Number of values in each bin, in bin order. Histograms can be added, so quantiles of any sum can be computed. */
export type Histogram = readonly (readonly [bin: number, count: number])[]

/** The ratio of a bin's width to that of the previous bin: a quantile is off by at most half a bin. */
const growth = 1.05
const logGrowth = Math.log(growth)
/** The upper end of bin 1, which covers everything between 0 and it. */
const minValue = 0.01

/** The bin of a number. Bin 0 is for values of at most 0. `binOf(820)` */
export const binOf = (value: number): number =>
  value > 0 && Number.isFinite(value) ? Math.max(1, Math.ceil(Math.log(value / minValue) / logGrowth) + 1) : 0

/** The middle of a bin. `binMiddle(binOf(820)) // 820 ± 2.5 %` */
export const binMiddle = (bin: number): number => (bin <= 0 ? 0 : minValue * growth ** (bin - 1.5))

/**
 * The quantile `q` of a histogram, accurate to 2.5 % from 0.01 up; undefined if it is empty.
 *
 * @example quantileOf(total.durations, 0.95)
 */
export function quantileOf(bins: Histogram, q: number): number | undefined {
  const total = bins.reduce((sum, [, count]) => sum + count, 0)
  let left = Math.min(total, Math.max(1, Math.ceil(q * total)))
  for (const [bin, count] of bins) {
    left -= count
    if (left <= 0) return binMiddle(bin)
  }
  return undefined
}
