/** How many numbers fell into each bin: pairs in the order of the bins. Bins of two totals add up, so quantiles can be told of any sum. */
export type Bins = readonly (readonly [bin: number, count: number])[]

/** A bin is so much wider than the one before it: what is told of a quantile is off by half of it at most. */
const growth = 1.05
const step = Math.log(growth)
/** Where bin 1 ends: what lies below it is told as if it were there. */
const least = 0.01

/** The bin of a number above 0; what is not above 0 is in bin 0. `binOf(820)` */
export const binOf = (value: number): number =>
  value > 0 && Number.isFinite(value) ? Math.max(1, Math.ceil(Math.log(value / least) / step) + 1) : 0

/** The middle of a bin. `middleOf(binOf(820)) // 820, or up to 2.5 % beside it` */
export const middleOf = (bin: number): number => (bin <= 0 ? 0 : least * growth ** (bin - 1.5))

/**
 * The smallest number that is not below the share `q` of all, up to 2.5 % beside it where it is 0.01 or more. Nothing where
 * nothing was counted. `quantileOf(total.durations, 0.95)`
 */
export function quantileOf(bins: Bins, q: number): number | undefined {
  const total = bins.reduce((sum, [, count]) => sum + count, 0)
  let left = Math.min(total, Math.max(1, Math.ceil(q * total)))
  for (const [bin, count] of bins) {
    left -= count
    if (left <= 0) return middleOf(bin)
  }
  return undefined
}
