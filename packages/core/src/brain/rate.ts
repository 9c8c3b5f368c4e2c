// How often something goes wrong. An offer is in order, or ailing, or sick, or dead; each answer speaks for some of these and
// against others, and in time everything may have changed. That sees a fault after one or two calls, does not take a single one
// for a fault where hundreds went well, and lets go as soon as it is over.

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

export const beforeContent: Ailments = { usual: 0.006, ailing: 0.08, sick: 0.3, dead: 0.96, chance: 0.003 }
export const afterContent: Ailments = { usual: 0.001, ailing: 0.04, sick: 0.25, dead: 0.9, chance: 0.0004 }

/** How long what was seen speaks for what is. */
const lastsMs = 600_000
const mostKept = 0.995
/** What is usual is learned within so many times what is taken for granted: what is far beyond is a fault. */
const mostUsual = 4
/** Calls that `usual` rests upon. */
const mass = 300

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
  const kept = Math.min(mostKept, Math.exp((rate.at - now) / lastsMs))
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
  const usual = rate.usual + (rate.inOrder / mass) * ((bad ? 1 : 0) - rate.usual)
  rate.usual = Math.min(by.usual * mostUsual, Math.max(by.usual / mostUsual, usual))
}

/** Every request asks this of everyone, so it makes nothing on the way. */
export function expected(rate: Rate, by: Ailments, now: number): number {
  const kept = Math.exp((rate.at - now) / lastsMs)
  const usually = 1 - 3 * by.chance
  const inOrder = usually + (rate.inOrder - usually) * kept
  const ailing = by.chance + (rate.ailing - by.chance) * kept
  const sick = by.chance + (rate.sick - by.chance) * kept
  const dead = by.chance + (rate.dead - by.chance) * kept
  return (inOrder * rate.usual + ailing * by.ailing + sick * by.sick + dead * by.dead) / (inOrder + ailing + sick + dead)
}

/** `given`: calls that have not failed, but will. */
export function expectedIf(rate: Rate, by: Ailments, { now, given }: { readonly now: number; readonly given: number }): number {
  const kept = Math.exp((rate.at - now) / lastsMs)
  const weigh = (state: number, prior: number, share: number): number => (prior + (state - prior) * kept) * share ** given
  const inOrder = weigh(rate.inOrder, 1 - 3 * by.chance, rate.usual)
  const ailing = weigh(rate.ailing, by.chance, by.ailing)
  const sick = weigh(rate.sick, by.chance, by.sick)
  const dead = weigh(rate.dead, by.chance, by.dead)
  return (inOrder * rate.usual + ailing * by.ailing + sick * by.sick + dead * by.dead) / (inOrder + ailing + sick + dead)
}

/** That all is in order. */
export function inOrderNow(rate: Rate, by: Ailments, now: number): number {
  const kept = Math.exp((rate.at - now) / lastsMs)
  return 1 - 3 * by.chance + (rate.inOrder - (1 - 3 * by.chance)) * kept
}

/** Far more goes wrong than usual. */
export const isHigh = (rate: Rate, by: Ailments, now: number): boolean => expected(rate, by, now) > 5 * by.usual
