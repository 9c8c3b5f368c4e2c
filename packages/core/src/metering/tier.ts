import { buysDear } from '../dialects/service-tier.ts'
import type { Offer, Price } from '../protocol/model.ts'
import { type Provider, quirksFor } from '../protocol/provider.ts'
import { priorityPriceOf, withSurcharges } from '../protocol/rates.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import type { Usage } from '../protocol/response.ts'

/** An offer and its provider, as a candidate has them. */
interface Sold {
  readonly offer: Offer
  readonly provider: Pick<Provider, 'quirks' | 'quirksOf'>
}

/**
 * The price of an offer for this request: its usual price, with tiers for long prompts, or its priority price if that tier is
 * requested; with the surcharges that the request asks for, or that its answer states in `options`. Used for the hold, at the dearest tier that the prompt may reach, and for the bill, at the tier that it reached.
 * Undefined: no price is known.
 *
 * @example estimateMaxCost({ ...offer, price: priceFor(candidate, request) }, inputTokens, maxOutput)
 * @example billed(seen, priceFor(candidate, request), inputTokens)
 */
export function priceFor(
  { offer, provider }: Sold,
  { prompt, routing }: Pick<InferenceRequest, 'prompt' | 'routing'>,
  options?: Usage['options'],
): Price | undefined {
  const { price, dialect } = offer
  if (!price) return undefined
  const sold = buysDear(prompt.service_tier, routing, { price, quirks: quirksFor(provider, offer) }) ? priorityPriceOf(price) : price
  if (!sold || !price.surcharges) return sold
  const named = prompt.native?.dialect === dialect ? prompt.native.body : {}
  return withSurcharges(
    sold,
    price.surcharges.filter(({ field, value }) => (options?.[field] ?? named[field]) === value),
  )
}
