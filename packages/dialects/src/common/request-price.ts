import type { ProviderDialect } from '../protocol/dialect.ts'
import type { Model, Offer, Price, Quirks } from '../protocol/model.ts'
import { type Credential, dialectFor, type HostSurcharge, type Provider, quirksFor } from '../protocol/provider.ts'
import { priorityPriceOf, raisedPrice } from '../protocol/rates.ts'
import type { Prompt, RoutingOptions } from '../protocol/request.ts'
import type { Usage } from '../protocol/response.ts'
import { buysDear, isUnpricedTier, paysFlex, type Tiers, tierPriceOf, unpricedFields } from './service-tier.ts'

/** What is sold: an offer at a provider, and in a candidate the model and the account. */
interface Sale {
  readonly offer: Offer
  readonly provider: Pick<Provider, 'quirks' | 'quirksOf'> & Partial<Pick<Provider, 'dialects' | 'endpoint' | 'hostSurcharges'>>
  readonly model?: Model
  readonly credential?: Credential
}

/** An offer with the facts that its calls and prices depend on. */
export interface SoldOffer {
  readonly offer: Offer
  /** Undefined if the provider does not have it. */
  readonly dialect: ProviderDialect | undefined
  /** The quirks of the provider, the model and the offer, merged. */
  readonly quirks: Quirks
  /** The surcharge of the host at which it is called. */
  readonly hostSurcharge: HostSurcharge | undefined
  /** The price of its priority tier. Undefined if none is sold. */
  readonly priority: Price | undefined
  /** Prices with surcharges, by tier and percentages. Each is one object, because the router keys its statistics by it. */
  readonly surcharged: Map<string, Price>
}

/** The facts of an offer at a provider. They do not change, so they are found once for each candidate. */
export const soldOffer = (sale: Sale): SoldOffer => ({
  offer: sale.offer,
  dialect: dialectFor(sale.provider, sale.offer),
  quirks: quirksFor(sale.provider, sale.offer),
  hostSurcharge: sale.provider.hostSurcharges && hostSurchargeOf(sale, sale.provider.hostSurcharges),
  priority: sale.offer.price && priorityPriceOf(sale.offer.price),
  surcharged: new Map(),
})

/** The parts of a request that affect its price. */
interface PricedRequest {
  readonly prompt: Pick<Prompt, 'service_tier' | 'native'>
  readonly routing: RoutingOptions
}

/** The parts of a response that affect its price. */
export type StatedUsage = Pick<Usage, 'options' | 'service_tier'>

/**
 * The price of an offer for this request: its default price, with tiers for long prompts, or that of the tier that is requested,
 * with the surcharges of the host and of the requested options. Facts that the response states (`stated`) override the request. Undefined
 * if no price is known.
 *
 * @example billUsage(seen, requestPrice(candidate, request, seen.usage), { input })
 */
export function requestPrice(sold: SoldOffer, request: PricedRequest, stated: StatedUsage = {}): Price | undefined {
  const { offer, quirks, hostSurcharge } = sold
  const { price } = offer
  if (!price) return undefined
  const { prompt, routing } = request
  const tier = prompt.service_tier
  const isPriority = price.priority !== undefined && paysPriority({ price, quirks }, tier, routing, stated.service_tier)
  const tierPrice = isPriority ? (sold.priority ?? price) : price
  const percents: number[] = []
  if (price.surcharges) {
    const named = prompt.native?.dialect === offer.api ? prompt.native.body : {}
    for (const { field, value, percent } of price.surcharges)
      if ((stated.options?.[field] ?? named[field]) === value) percents.push(percent)
  }
  const flex = !isPriority && (tier === 'flex' || stated.service_tier === 'flex') && paysFlex(tier, stated.service_tier, quirks)
  if (flex && quirks.flexPercent !== undefined && quirks.flexPercent !== 100) percents.push(quirks.flexPercent)
  if (hostSurcharge?.percent !== undefined) percents.push(hostSurcharge.percent)
  if (percents.length === 0) return tierPrice
  const key = `${isPriority} ${percents.join()}`
  const surcharged = sold.surcharged.get(key) ?? percents.reduce(raisedPrice, tierPrice)
  sold.surcharged.set(key, surcharged)
  return surcharged
}

function paysPriority(tiers: Tiers, named: string | undefined, routing: RoutingOptions, stated: string | undefined): boolean {
  const tier = tierPriceOf(stated, tiers)
  return tier === undefined ? buysDear(named, routing, tiers) : tier === 'priority'
}

/** The first surcharge that applies at the host where the offer is called, if any. */
function hostSurchargeOf({ offer, model, provider, credential }: Sale, surcharges: readonly HostSurcharge[]): HostSurcharge | undefined {
  let host = ''
  try {
    const url = credential && provider.endpoint?.({ api: offer.api, model: offer.model, stream: false, credential })
    if (url !== undefined) host = new URL(url).hostname
  } catch {
    // The account has no valid URL. The call itself reports the error.
  }
  return surcharges.find(
    each =>
      matchesHost(host, each.host) &&
      (each.model?.test(offer.model) ?? true) &&
      // A model of unknown age may be new.
      (each.since === undefined || model?.created === undefined || model.created >= Date.parse(each.since) / 1_000),
  )
}

function matchesHost(host: string, pattern: string): boolean {
  const star = pattern.indexOf('*')
  if (star === -1) return host === pattern
  const end = pattern.slice(star + 1)
  return host.length > pattern.length - 1 && host.startsWith(pattern.slice(0, star)) && host.endsWith(end)
}

/** Whether a response was served in the tier `flex` at a price that is unknown. */
export const isUnpricedFlex = ({ quirks }: SoldOffer, { service_tier }: StatedUsage): boolean =>
  service_tier === 'flex' && quirks.flexPercent === undefined

/** What made a response more expensive without a known price: names of fields, and the host. */
export function unpricedExtras({ offer, quirks, hostSurcharge }: SoldOffer, { options, service_tier }: StatedUsage): readonly string[] {
  return [
    ...(options ? unpricedFields(options, offer.price) : []),
    ...(isUnpricedTier(service_tier, { price: offer.price, quirks }) ? ['service_tier'] : []),
    ...(hostSurcharge && hostSurcharge.percent === undefined ? [hostSurcharge.host] : []),
  ]
}
