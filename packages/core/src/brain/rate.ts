import { tuning } from './constants.ts'

// How often something goes wrong. An offer is in order, or ailing, or sick, or dead; each answer speaks for some of these and
// against others, and in time everything may have changed. That sees a fault after one or two calls, does not take a single one
// for a fault where hundreds went well, and lets go as soon as it is over.

const { highFactor, memoryMs, maxKept, maxUsualFactor, usualMass } = tuning.failures

export interface Rate {
  /** Share of what goes wrong while all is in order: learned, slowly. */
  usual: number
  /** How likely each of the four states is; they sum up to 1. */
  inOrder: number
  ailing: number
  sick: number
  dead: number
  /** When this was last brought up to date. */
  at: number
}

export interface Ailments {
  /** What is usual before anything was seen. */
  readonly usual: number
  /** Share of calls that go wrong in each state. */
  readonly ailing: number
  readonly sick: number
  readonly dead: number
  /** How likely each of these states is where nothing is known. */
  readonly chance: number
}

export const beforeContent: Ailments = tuning.failures.beforeContent
export const afterContent: Ailments = tuning.failures.afterContent

export const makeRate = (at: number, { usual, chance }: Ailments): Rate => ({
  usual,
  inOrder: 1 - 3 * chance,
  ailing: chance,
  sick: chance,
  dead: chance,
  at,
})

/** One call went well, or did not. */
export function note(rate: Rate, by: Ailments, { bad, now }: { readonly bad: boolean; readonly now: number }): void {
  // However often it went well, the next call may be the first of a fault.
  const kept = Math.min(maxKept, Math.exp((rate.at - now) / memoryMs))
  const weigh = (state: number, prior: number, share: number): number => (prior + (state - prior) * kept) * (bad ? share : 1 - share)
  const inOrder = weigh(rate.inOrder, 1 - 3 * by.chance, rate.usual)
  const ailing = weigh(rate.ailing, by.chance, by.ailing)
  const sick = weigh(rate.sick, by.chance, by.sick)
  const dead = weigh(rate.dead, by.chance, by.dead)
  const all = inOrder + ailing + sick + dead
  rate.inOrder = inOrder / all
  rate.ailing = ailing / all
  rate.sick = sick / all
  rate.dead = dead / all
  rate.at = now
  const usual = rate.usual + (rate.inOrder / usualMass) * ((bad ? 1 : 0) - rate.usual)
  rate.usual = Math.min(by.usual * maxUsualFactor, Math.max(by.usual / maxUsualFactor, usual))
}

/** Every request asks this of everyone, so it makes nothing on the way. */
export function expected(rate: Rate, by: Ailments, now: number): number {
  const kept = Math.exp((rate.at - now) / memoryMs)
  const usually = 1 - 3 * by.chance
  const inOrder = usually + (rate.inOrder - usually) * kept
  const ailing = by.chance + (rate.ailing - by.chance) * kept
  const sick = by.chance + (rate.sick - by.chance) * kept
  const dead = by.chance + (rate.dead - by.chance) * kept
  return (inOrder * rate.usual + ailing * by.ailing + sick * by.sick + dead * by.dead) / (inOrder + ailing + sick + dead)
}

/** `given`: calls that have not failed, but will. */
export function expectedIf(rate: Rate, by: Ailments, { now, given }: { readonly now: number; readonly given: number }): number {
  const kept = Math.exp((rate.at - now) / memoryMs)
  const weigh = (state: number, prior: number, share: number): number => (prior + (state - prior) * kept) * share ** given
  const inOrder = weigh(rate.inOrder, 1 - 3 * by.chance, rate.usual)
  const ailing = weigh(rate.ailing, by.chance, by.ailing)
  const sick = weigh(rate.sick, by.chance, by.sick)
  const dead = weigh(rate.dead, by.chance, by.dead)
  return (inOrder * rate.usual + ailing * by.ailing + sick * by.sick + dead * by.dead) / (inOrder + ailing + sick + dead)
}

/** That all is in order. */
export function inOrderNow(rate: Rate, by: Ailments, now: number): number {
  const kept = Math.exp((rate.at - now) / memoryMs)
  return 1 - 3 * by.chance + (rate.inOrder - (1 - 3 * by.chance)) * kept
}

/** Far more goes wrong than usual. */
export const isHigh = (rate: Rate, by: Ailments, now: number): boolean => expected(rate, by, now) > highFactor * by.usual
