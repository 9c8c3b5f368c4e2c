import type { Clock } from '../runtime/ports.ts'
import type { HealthBook } from './health.ts'
import type { Candidate } from './plan.ts'
import type { Strategy } from './strategies.ts'

/** What decides the order of a plan. */
export interface Ranking {
  readonly strategy: Strategy
  /** Provider ids that the caller wants asked first, in this order. */
  readonly order?: readonly string[] | undefined
  /** What the caller asked for beside an order, as a number: lower goes first, whatever the strategy says. */
  readonly wish?: ((candidate: Candidate) => number) | undefined
  /** Where in the conversation the candidate's own reasoning state stands last; nothing where it made none. */
  readonly lastMade?: ((candidate: Candidate) => number | undefined) | undefined
  readonly health: HealthBook
  readonly clock: Clock
}

/** The strategy of this name, if there is one: a name that objects inherit is none. */
export const strategyNamed = (name: string, strategies: Readonly<Record<string, Strategy>>): Strategy | undefined =>
  Object.hasOwn(strategies, name) ? strategies[name] : undefined

/** Those that can serve a request, best first. Equals keep the order in which they were given. */
export function ranked(candidates: readonly Candidate[], ranking: Ranking): readonly Candidate[] {
  if (candidates.length < 2) return candidates
  const { strategy, order, wish, lastMade, health, clock } = ranking
  const now = clock.monotonic()
  const place = ({ provider }: Candidate): number => {
    const at = order?.indexOf(provider.id) ?? -1
    return at === -1 ? Number.MAX_SAFE_INTEGER : at
  }
  return candidates
    .map(candidate => ({
      candidate,
      // Who asked to be left alone goes last, and is still asked when all others fail: a plan is never empty for that.
      wait: Math.max(0, health.coolUntil(candidate) - now),
      place: place(candidate),
      wish: wish?.(candidate) ?? 0,
      // Who made reasoning state of the conversation can be given it back, and who made the last of it goes on best.
      pin: lastMade?.(candidate) ?? -1,
      score: strategy(candidate, health.of(candidate)),
    }))
    .sort((a, b) => a.wait - b.wait || a.place - b.place || a.wish - b.wish || b.pin - a.pin || a.score - b.score || 0)
    .map(({ candidate }) => candidate)
}
