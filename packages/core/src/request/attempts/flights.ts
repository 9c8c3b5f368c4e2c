import { type Evidence, type Exclusion, evidenceOf } from '../../brain/evidence.ts'
import type { Trace } from '../../brain/record.ts'
import { requestIdOf } from '../../dialects/ids.ts'

/** What is kept of how requests were routed: the last ones, in memory, in at most 1 kB a decision. */
export interface Flights {
  /**
   * Why a request went where it did: every candidate by the numbers that were seen, who was left out and why, each attempt, and
   * what the cheapest, the fastest and the most reliable choice would have meant. Nothing where it was not recorded, or too
   * many came after it.
   *
   * @example gateway.flights.of(response.id)?.counterfactuals?.cheapest // or by `x-request-id`
   */
  of(requestOrAnswerId: string): Evidence | undefined
  /** Every decision that is kept: for `replay`, or to be stored with `encodeTrace`. */
  trace(): Trace
}

interface Flown {
  readonly flight: () => Trace
  readonly excluded: readonly Exclusion[]
  /** As the plan names it. */
  readonly strategy: string
}

export interface FlightBook extends Flights {
  keep(requestId: string, flown: Flown): void
}

/** `most`: requests that are kept. */
export function keepFlights(most: number, trace: () => Trace): FlightBook {
  // In the order of their coming: the oldest one goes first.
  const book = new Map<string, Flown>()
  return {
    keep(requestId, flown) {
      if (most <= 0) return
      book.set(requestId, flown)
      const { value: oldest } = book.keys().next()
      if (book.size > most && oldest !== undefined) book.delete(oldest)
    },
    of(requestId) {
      const flown = book.get(requestId) ?? book.get(requestIdOf({ id: requestId }))
      return flown && evidenceOf(flown.flight(), flown.excluded, flown.strategy)
    },
    trace,
  }
}
