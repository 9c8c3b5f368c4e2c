import type { RoutingQuery } from './needs.ts'
import { getsPriorityTier, lacksAbility, maxInputTokensOf } from './offer-facts.ts'
import type { Candidate } from './plan.ts'

/** The criteria that rank candidates before any strategy. Each outweighs all below it; lower numbers go first. */
export interface RankCriteria {
  /** Provider ids to try first, in this order. */
  readonly order?: readonly string[] | undefined
  /** Distance from the preferences of the request, see `preferenceDistance`. */
  readonly distance: (candidate: Candidate) => number
  /** Position in the conversation of the candidate's latest reasoning state. Undefined if it has none. */
  readonly lastMade?: ((candidate: Candidate) => number | undefined) | undefined
  /** Whether candidates may use credentials of the workspace, which are tried in their order. */
  readonly byok?: boolean
  /** Whether candidates keep the order in which they are listed. */
  readonly keepsOrder: boolean
}

/** A criterion that excludes no candidate, but ranks those first that meet it. */
interface RankPreference {
  readonly applies: (query: RoutingQuery) => boolean
  readonly isMet: (candidate: Candidate, query: RoutingQuery) => boolean
}

/** Each outweighs all below it. */
const rankPreferences: readonly RankPreference[] = [
  {
    // A workspace that added a credential wants it used, and pays for its use elsewhere.
    applies: () => true,
    isMet: ({ credential }, { routing }) => (credential.owner === 'workspace') === (routing.byok_first ?? true),
  },
  { applies: ({ needs, routing }) => routing.tier !== undefined || needs.pricing.service_tier !== undefined, isMet: getsPriorityTier },
  // A model that does not reason answers anyway, with a warning if its dialect cannot express the option.
  { applies: ({ needs }) => needs.reasoning, isMet: candidate => !lacksAbility(candidate, 'reasoning') },
  {
    applies: ({ needs }) => !needs.documents,
    isMet: (candidate, { needs }) =>
      needs.inputTokens <= maxInputTokensOf(candidate) &&
      needs.inputTokens + (needs.outputTokens ?? 0) <= (candidate.offer.contextWindow ?? Number.POSITIVE_INFINITY),
  },
]

/** How far a candidate is from the preferences of the request: lower goes first. Whole numbers below `maxDistance`. */
export function preferenceDistance(query: RoutingQuery): (candidate: Candidate) => number {
  const applicable = rankPreferences.filter(wish => wish.applies(query))
  return candidate => {
    let distance = 0
    for (const { isMet } of applicable) distance = 2 * distance + (isMet(candidate, query) ? 0 : 1)
    return distance
  }
}

export const maxDistance = 2 ** rankPreferences.length

/** A rank for each candidate, in the given order: 0, 1, 2…; the strategy decides among equal ranks. Undefined if all are equal. */
export function candidateRanks(
  candidates: readonly Candidate[],
  { order, distance, lastMade, byok = false, keepsOrder }: RankCriteria,
): readonly number[] | undefined {
  if (candidates.length < 2) return undefined
  const rows = [
    ...(order ? [candidates.map(({ provider }) => placeIn(order, provider.id))] : []),
    candidates.map(distance),
    // Reasoning state can only be sent back to the candidate that created it. The creator of the latest goes first.
    ...(lastMade ? [candidates.map(candidate => -(lastMade(candidate) ?? -1))] : []),
    ...(byok ? [byokPlaces(candidates)] : []),
    ...(keepsOrder ? [candidates.map((_, index) => index)] : []),
  ].filter(row => row.some(number => number !== row[0]))
  return rows.length === 0 ? undefined : dense(rows, candidates.length)
}

/** The place of a provider in an order. One that is not named comes after all that are. */
export const placeIn = (order: readonly string[], id: string): number => {
  const at = order.indexOf(id)
  return at === -1 ? order.length : at
}

/** The place of each BYOK key among those of its offer: the first one is used until it cannot be. */
function byokPlaces(candidates: readonly Candidate[]): readonly number[] {
  const places = new Map<Candidate['offer'], number>()
  return candidates.map(({ offer, credential }) => {
    if (credential.owner !== 'workspace') return 0
    const place = places.get(offer) ?? 0
    places.set(offer, place + 1)
    return place
  })
}

/** Dense ranks of numbers, because the distance between two numbers means nothing. */
function dense(rows: readonly (readonly number[])[], length: number): readonly number[] {
  const before = (a: number, b: number): number => {
    for (const row of rows) if (row[a] !== row[b]) return (row[a] as number) - (row[b] as number)
    return 0
  }
  const sorted = Array.from({ length }, (_, index) => index).sort(before)
  const ranks: number[] = new Array(length).fill(0)
  let rank = 0
  sorted.forEach((at, place) => {
    const last = sorted[place - 1]
    if (last !== undefined && before(last, at) !== 0) rank += 1
    ranks[at] = rank
  })
  return ranks
}
