/** Whole cents, rounded down, so that a debt of one microdollar is shown as one cent. */
export const centsOf = (microdollars: number): number => Math.floor(microdollars / 10_000)

/** Dollars with two decimal places, as in `-1.05`. */
export function dollarsOf(microdollars: number): string {
  const cents = centsOf(microdollars)
  const whole = Math.abs(cents)
  return `${cents < 0 ? '-' : ''}${Math.floor(whole / 100)}.${String(whole % 100).padStart(2, '0')}`
}
