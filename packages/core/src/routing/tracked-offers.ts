import type { Rates } from '@signalbox/dialects/protocol'
import { priorityPriceOf } from '@signalbox/dialects/protocol'
import type { DynamicRouter, TrackedOffer } from '@signalbox/router'
import { quirksOf } from './offer-facts.ts'
import type { Candidate } from './plan.ts'

/** The properties of a request for which the router tracks a candidate as a separate offer. */
interface OfferVariant {
  /** The rates that this request pays. */
  readonly rates: Rates
  /** Whether the model reasons before it answers, during which it may be silent. */
  readonly thinking: boolean
}

/** Finds the router's offer for a candidate. */
export type TrackCandidate = (candidate: Candidate, variant: OfferVariant) => TrackedOffer

interface CachedVariant extends OfferVariant {
  readonly tracked: TrackedOffer
}

/** Cached for each candidate and variant, because almost every request repeats one. */
export function createCandidateTracker(router: Pick<DynamicRouter, 'trackOffer'>): TrackCandidate {
  const kept = new WeakMap<Candidate, CachedVariant[]>()
  return (candidate, { rates, thinking }) => {
    const before = kept.get(candidate)
    const known = before?.find(each => each.rates === rates && each.thinking === thinking)
    if (known) return known.tracked
    const tracked = router.trackOffer({
      id: trackedOfferName(candidate, { rates, thinking }),
      provider: candidate.provider.id,
      model: candidate.model.id,
      price: rates,
      ...cacheOf(candidate),
    })
    const made: CachedVariant = { rates, thinking, tracked }
    if (before) before.push(made)
    else kept.set(candidate, [made])
    return tracked
  }
}

/** How long the provider keeps a prompt cached, if known. */
function cacheOf(candidate: Candidate): { readonly cacheMs?: number } {
  const { promptCacheMs: cacheMs } = quirksOf(candidate)
  return cacheMs === undefined ? {} : { cacheMs }
}

/**
 * The id under which the router learns. Candidates are separate if they behave differently: each credential has limits of its own and maybe
 * another region, the priority tier has another queue, and reasoning is silent for longer. The price of a long prompt does not
 * change how it is served.
 */
function trackedOfferName({ provider, offer, credential }: Candidate, { rates, thinking }: OfferVariant): string {
  const account = credential.owner === 'platform' ? platformAccount(provider, credential) : `own:${credential.id}`
  const tier = offer.price && rates === priorityPriceOf(offer.price) ? '+priority' : ''
  return `${provider.id}/${offer.model}@${account}${tier}${thinking ? '+thinking' : ''}`
}

/** `platform` for the operator's first key, `platform:2` for the second. Processes that share statistics list keys in the same order. */
function platformAccount({ moreCredentials = [] }: Candidate['provider'], credential: Candidate['credential']): string {
  const at = moreCredentials.indexOf(credential)
  return at === -1 ? 'platform' : `platform:${at + 2}`
}
