/** Whole cents, never more than there is: a debt of a microdollar is one of a cent. */
export const centsOf = (microdollars: number): number => Math.floor(microdollars / 10_000)

/** `-1.05`: two places, as many as cents have. */
export function dollarsOf(microdollars: number): string {
  const cents = centsOf(microdollars)
  const whole = Math.abs(cents)
  return `${cents < 0 ? '-' : ''}${Math.floor(whole / 100)}.${String(whole % 100).padStart(2, '0')}`
}
