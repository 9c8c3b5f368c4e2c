// Averages that forget by the number of observations: how fast answers grow, how long they get.

export interface Average {
  value: number
  seen: number
}

/** `seen`: as if so many had been seen already. */
export const makeAverage = (value: number, seen = 0): Average => ({ value, seen })

/** The first few count alike, then each new one for `weight`. */
export function blend(average: Average, seen: number, weight: number): void {
  average.seen += 1
  average.value += Math.max(weight, 1 / average.seen) * (seen - average.value)
}
