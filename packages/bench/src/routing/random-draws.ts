// Deterministic random numbers: each depends only on its purpose, not on the number of draws before it. So every policy meets the same
// random events, and a difference between two policies is their own.

const scramble = (value: number): number => {
  let mixed = value
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}

/** A separate position for the draws of `part` within `whole`: of a request within a run, of an attempt within a request. */
export const within = (whole: number, part: number): number => scramble(Math.imul(whole, 0x9e3779b1) + Math.imul(part + 1, 0x27d4eb2f))

/** Uniform between 0 and 1, exclusive. */
export const uniform = (place: number, purpose: number): number => ((within(place, purpose) >>> 0) + 0.5) / 4_294_967_296

/** Normal, with mean 0 and deviation 1. */
export const normal = (place: number, purpose: number): number =>
  Math.sqrt(-2 * Math.log(uniform(place, purpose))) * Math.cos(2 * Math.PI * uniform(place, purpose + 7_919))

/** Sequential draws, for building worlds, where the order is fixed. */
export interface Dice {
  /** Uniform in a range. */
  between(from: number, to: number): number
  /** Log-uniform in a range: half of the draws are below `sqrt(from * to)`. */
  scaled(from: number, to: number): number
  /** From 0 to `count - 1`. */
  below(count: number): number
  chance(share: number): boolean
}

export function createDice(seed: number): Dice {
  let drawn = 0
  const next = (): number => {
    drawn += 1
    return uniform(seed, drawn)
  }
  return {
    between: (from, to) => from + (to - from) * next(),
    scaled: (from, to) => from * (to / from) ** next(),
    below: count => Math.floor(next() * count),
    chance: share => next() < share,
  }
}
