import { tailScatter } from './true-state.ts'
import type { TrueOffer } from './world.ts'

/** The distribution of an offer's waits: equally likely points, ascending, as factors of the offer's current median. */
export interface Waits {
  readonly times: Float64Array
  /** Share of waits up to and including this point. */
  readonly share: Float64Array
  /** Sum of `times` by share, up to and including this point. */
  readonly sum: Float64Array
}

/** The outer parts of a normal distribution split into equal shares are wide; this many keep its mean accurate to a thousandth. */
const bodyPoints = 40
const tailPoints = 16

export function spreadOf({ scatter, tail, tailTimes }: TrueOffer): Waits {
  const points: { readonly times: number; readonly share: number }[] = []
  for (const z of ranks(bodyPoints)) points.push({ times: Math.exp(scatter * z), share: (1 - tail) / bodyPoints })
  // Slow waits scatter by both deviations combined.
  const wide = Math.hypot(scatter, tailScatter)
  for (const z of ranks(tailPoints)) points.push({ times: tailTimes * Math.exp(wide * z), share: tail / tailPoints })
  points.sort((a, b) => a.times - b.times)
  const [times, share, sum] = [
    points.map(point => point.times),
    points.map(point => point.share),
    points.map(point => point.times * point.share),
  ]
  return { times: Float64Array.from(times), share: summed(share), sum: summed(sum) }
}

function summed(values: readonly number[]): Float64Array {
  let total = 0
  return Float64Array.from(values, value => {
    total += value
    return total
  })
}

/** The medians of `count` equally likely parts of a normal distribution. */
export function ranks(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => quantile((index + 0.5) / count))
}

/** The quantile of a normal distribution, by bisection. */
function quantile(share: number): number {
  let [low, high] = [-6, 6]
  for (let at = 0; at < 50; at += 1) {
    const middle = (low + high) / 2
    if (below(middle) < share) low = middle
    else high = middle
  }
  return (low + high) / 2
}

/** The cumulative normal distribution: Abramowitz and Stegun, 26.2.17. */
export function below(value: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(value))
  const poly = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
  const above = (Math.exp((-value * value) / 2) / Math.sqrt(2 * Math.PI)) * poly
  return value >= 0 ? 1 - above : above
}
