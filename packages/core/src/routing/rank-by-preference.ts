import type { RoutingQuery } from './needs.ts'
import { getsPriorityTier, lacksAbility, maxInputTokensOf } from './offer-facts.ts'
import type { Candidate } from './plan.ts'

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
