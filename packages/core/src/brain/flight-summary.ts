import { orderOf, outlineOf } from './layout.ts'
import type { RouterOffer } from './port.ts'
import type { Note } from './recorder.ts'

// The decisions of one request in short: small and cheap enough to be written beside every request.

/** A decision as numbers: see `attempt` for their places. JSON keeps all of it. */
type AttemptNumbers = readonly number[]

/** Offer, reason, outcome (codes), and milliseconds: from the first decision until sent, to first content (-1: none came), in all. */
export const attempt = { offer: 0, why: 1, ended: 2, sentAfterMs: 3, firstContentMs: 4, totalMs: 5 } as const

export interface FlightSummary {
  readonly version: 1
  readonly seed: number
  /** Code of what the loss was weighed by. */
  readonly strategy: number
  /** `[id, provider, model]` of each offer; null: not named. */
  readonly offers: readonly (readonly [string, string | null, string | null])[]
  /** Offers as the first decision ranked them, by their place in the list; at most as many as a decision keeps. */
  readonly order: readonly number[]
  readonly attempts: readonly AttemptNumbers[]
}

/** A request makes few attempts; of one that makes more the first are kept. */
const maxAttempts = 8

/** Nothing was decided: nothing is told. */
export function flightSummary(notes: readonly Note[], seed: number): FlightSummary {
  const offers: RouterOffer[] = []
  const numberOf = (offer: RouterOffer): number => {
    const known = offers.indexOf(offer)
    return known >= 0 ? known : offers.push(offer) - 1
  }
  const [first] = notes
  const order = first ? orderOf(first.bytes).map(at => numberOf(first.offers[at] as RouterOffer)) : []
  const since = first?.at ?? 0
  const attempts = notes.slice(0, maxAttempts).map(({ bytes, offers: among }): AttemptNumbers => {
    const { at, why, chosen, ended, sentAfterMs, firstContentMs, totalMs } = outlineOf(bytes)
    const number = numberOf(among[chosen] as RouterOffer)
    return [
      number,
      why,
      ended,
      Math.round(at - since + sentAfterMs),
      Math.round(firstContentMs >= 0 ? firstContentMs : -1),
      Math.round(totalMs),
    ]
  })
  return {
    version: 1,
    seed,
    strategy: first ? outlineOf(first.bytes).strategy : 0,
    offers: offers.map(({ id, provider = null, model = null }) => [id, provider, model] as const),
    order,
    attempts,
  }
}
