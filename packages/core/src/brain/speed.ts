// Averages that forget by the number of observations: how fast answers grow, how long they get.

export interface Average {
  value: number
  seen: number
}

export const makeAverage = (value: number): Average => ({ value, seen: 0 })

/** The first few count alike, then each new one for `weight`. */
export function blend(average: Average, seen: number, weight: number): void {
  average.seen += 1
  average.value += Math.max(weight, 1 / average.seen) * (seen - average.value)
}
