import { buysDear } from '../dialects/service-tier.ts'
import type { Offer, Price } from '../protocol/model.ts'
import { type Provider, quirksFor } from '../protocol/provider.ts'
import type { InferenceRequest } from '../protocol/request.ts'

/** A candidate of a plan is one. */
interface Sold {
  readonly offer: Offer
  readonly provider: Pick<Provider, 'quirks' | 'quirksOf'>
}

/**
 * What this request pays here: the offer's price with the tiers of long prompts, or the rates of its dear tier if that is what
 * will be sent. The same for the hold, which takes the dearest tier that the prompt may fall into, and for the bill, which takes
 * the one that it fell into. Nothing where no price is known.
 *
 * @example estimateMost({ ...offer, price: priceFor(candidate, request) }, inputTokens, maxOutput)
 * @example billed(seen, priceFor(candidate, request), inputTokens)
 */
export const priceFor = (
  { offer, provider }: Sold,
  { prompt, routing }: Pick<InferenceRequest, 'prompt' | 'routing'>,
): Price | undefined =>
  buysDear(prompt.service_tier, routing, { price: offer.price, quirks: quirksFor(provider, offer) }) ? offer.price?.priority : offer.price
