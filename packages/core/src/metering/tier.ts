import { buysDear } from '../dialects/tier.ts'
import type { Offer, Rates } from '../protocol/model.ts'
import { type Provider, quirksFor } from '../protocol/provider.ts'
import type { InferenceRequest } from '../protocol/request.ts'

/** A candidate of a plan is one. */
interface Sold {
  readonly offer: Offer
  readonly provider: Pick<Provider, 'quirks' | 'quirksOf'>
}

/**
 * What this request pays here: the offer's price, or that of its dear tier if that is what will be sent. The same for the
 * hold and for the bill. Nothing where no price is known.
 *
 * @example estimateMost({ ...offer, price: priceFor(candidate, request) }, inputTokens, maxOutput)
 * @example billed(seen, priceFor(candidate, request), inputTokens)
 */
export function priceFor({ offer, provider }: Sold, { prompt, routing }: Pick<InferenceRequest, 'prompt' | 'routing'>): Rates | undefined {
  return buysDear(prompt.service_tier, routing, { price: offer.price, quirks: quirksFor(provider, offer) })
    ? offer.price?.priority
    : offer.price
}
