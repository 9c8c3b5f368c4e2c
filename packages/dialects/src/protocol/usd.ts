const microdollarsInDollar = 1_000_000

/**
 * Converts US dollars to microdollars, the unit of money in this API, because integers add up exactly.
 *
 * @example
 * await workspace.budgets.create({ name: 'November', limit: usd(100) })
 *
 * @throws {RangeError} The amount is not finite, has more than 6 decimals, or is too large to be exact.
 */
export function usd(amount: number): number {
  const microdollars = Math.round(amount * microdollarsInDollar)
  if (!Number.isSafeInteger(microdollars) || microdollars / microdollarsInDollar !== amount)
    throw new RangeError(
      `usd(${amount}): takes a finite amount with at most 6 decimals, up to ${toUsd(Number.MAX_SAFE_INTEGER)} above or below 0.`,
    )
  // Turns -0 into 0, because a comparison would treat them as different values.
  return microdollars + 0
}

/**
 * Converts microdollars to US dollars.
 *
 * @example toUsd(2_500_000) // 2.5
 */
export const toUsd = (microdollars: number): number => microdollars / microdollarsInDollar

/** Converts an external amount in US dollars to microdollars, rounded to the nearest. */
export const roundUsd = (amount: number): number => Math.round(amount * microdollarsInDollar)
