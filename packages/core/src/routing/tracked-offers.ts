import type { DynamicRouter, TrackedOffer } from '@signalbox/router'
import type { Candidate, OfferVariant } from './plan.ts'

/** Finds the router's offer for a candidate. */
export type TrackCandidate = (candidate: Candidate, variant: OfferVariant) => TrackedOffer

/** Kept with each candidate, because almost every request repeats a variant. */
export const createCandidateTracker =
  (router: Pick<DynamicRouter, 'trackOffer'>): TrackCandidate =>
  (candidate, variant) => {
    const { rates, thinking } = variant
    for (const known of candidate.tracked) if (known.rates === rates && known.thinking === thinking) return known.tracked
    const tracked = router.trackOffer({
      id: trackedOfferName(candidate, variant),
      provider: candidate.provider.id,
      model: candidate.model.id,
      price: rates,
      cacheMs: candidate.quirks.promptCacheMs,
    })
    candidate.tracked.push({ rates, thinking, tracked })
    return tracked
  }

/**
 * The id under which the router learns. Candidates are separate if they behave differently: each credential has limits of its own and maybe
 * another region, the priority tier has another queue, and reasoning is silent for longer. The price of a long prompt does not
 * change how it is served.
 */
function trackedOfferName({ provider, offer, credential, priority }: Candidate, { rates, thinking }: OfferVariant): string {
  // `platform` for the operator's first key, `platform:2` for the second. Processes that share statistics list keys in the same order.
  const index = provider.moreCredentials?.indexOf(credential) ?? -1
  const account = credential.owner === 'workspace' ? `own:${credential.id}` : index === -1 ? 'platform' : `platform:${index + 2}`
  return `${provider.id}/${offer.model}@${account}${rates === priority ? '+priority' : ''}${thinking ? '+thinking' : ''}`
}
