import type { Model, Offer, Price } from '../protocol/model.ts'
import { type Credential, type HostSurcharge, type Provider, quirksFor } from '../protocol/provider.ts'
import { priorityPriceOf, withSurcharges } from '../protocol/rates.ts'
import type { Prompt, RoutingOptions } from '../protocol/request.ts'
import type { Usage } from '../protocol/response.ts'
import { buysDear, isUnpricedTier, paysFlex, tierPriceOf, unpricedFields } from './service-tier.ts'

/** The offer and provider of a candidate. */
interface Sold {
  readonly offer: Offer
  readonly model?: Model
  readonly provider: Pick<Provider, 'quirks' | 'quirksOf'> & Partial<Pick<Provider, 'endpoint' | 'hostSurcharges'>>
  readonly credential?: Credential
}

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
export function requestPrice(sold: Sold, request: PricedRequest, stated?: StatedUsage): Price | undefined {
  const { offer, provider } = sold
  const { price } = offer
  if (!price) return undefined
  const isPriority = price.priority !== undefined && paysPriority(sold, request, stated)
  const tierPrice = isPriority ? priorityPriceOf(price) : price
  const flex = isPriority ? undefined : flexPercent(sold, request, stated)
  if (!tierPrice || !(price.surcharges || provider.hostSurcharges || flex !== undefined)) return tierPrice
  return withSurcharges(tierPrice, percentsFor(sold, request, { ...stated, flex }))
}

/** Undefined if the tier `flex` is not bought, or its price is unknown or usual. */
function flexPercent({ offer, provider }: Sold, { prompt }: PricedRequest, stated?: StatedUsage): number | undefined {
  if (prompt.service_tier !== 'flex' && stated?.service_tier !== 'flex') return undefined
  const quirks = quirksFor(provider, offer)
  const percent = paysFlex(prompt.service_tier, stated?.service_tier, quirks) ? quirks.flexPercent : undefined
  return percent === 100 ? undefined : percent
}

function paysPriority({ offer, provider }: Sold, { prompt, routing }: PricedRequest, stated?: StatedUsage): boolean {
  const tiers = { price: offer.price, quirks: quirksFor(provider, offer) }
  const tier = tierPriceOf(stated?.service_tier, tiers)
  return tier === undefined ? buysDear(prompt.service_tier, routing, tiers) : tier === 'priority'
}

function percentsFor(
  sold: Sold,
  { prompt }: PricedRequest,
  stated: StatedUsage & { readonly flex: number | undefined },
): readonly number[] {
  const { surcharges = [] } = sold.offer.price ?? {}
  const named = prompt.native?.dialect === sold.offer.api ? prompt.native.body : {}
  const percents: number[] = []
  for (const { field, value, percent } of surcharges) if ((stated.options?.[field] ?? named[field]) === value) percents.push(percent)
  if (stated.flex !== undefined) percents.push(stated.flex)
  const { percent } = (sold.provider.hostSurcharges && hostSurchargeOf(sold)) ?? {}
  if (percent !== undefined) percents.push(percent)
  return percents
}

/** Cached because the URL of a candidate does not change. */
const foundSurcharges = new WeakMap<Sold, HostSurcharge | null>()

/** The first surcharge that applies at the host where the offer is called, if any. Only for providers with `hostSurcharges`. */
function hostSurchargeOf(sold: Sold): HostSurcharge | undefined {
  const known = foundSurcharges.get(sold)
  if (known !== undefined) return known ?? undefined
  const surcharge = findSurcharge(sold)
  foundSurcharges.set(sold, surcharge ?? null)
  return surcharge
}

function findSurcharge(sold: Sold): HostSurcharge | undefined {
  const { offer, model, provider } = sold
  const host = calledHost(sold)
  return provider.hostSurcharges?.find(
    each =>
      matchesHost(host, each.host) &&
      (each.model?.test(offer.model) ?? true) &&
      // A model of unknown age may be new.
      (each.since === undefined || model?.created === undefined || model.created >= Date.parse(each.since) / 1_000),
  )
}

function calledHost({ offer, provider, credential }: Sold): string {
  if (!credential) return ''
  try {
    const url = provider.endpoint?.({ api: offer.api, model: offer.model, stream: false, credential })
    return url === undefined ? '' : new URL(url).hostname
  } catch {
    // The account has no valid URL. The call itself reports the error.
    return ''
  }
}

function matchesHost(host: string, pattern: string): boolean {
  const star = pattern.indexOf('*')
  if (star === -1) return host === pattern
  const end = pattern.slice(star + 1)
  return host.length > pattern.length - 1 && host.startsWith(pattern.slice(0, star)) && host.endsWith(end)
}

/** Whether a response was served in the tier `flex` at a price that is unknown. */
export const isUnpricedFlex = ({ offer, provider }: Sold, { service_tier }: StatedUsage): boolean =>
  service_tier === 'flex' && quirksFor(provider, offer).flexPercent === undefined

/** What made a response more expensive without a known price: names of fields, and the host. */
export function unpricedExtras(sold: Sold, { options, service_tier }: StatedUsage): readonly string[] {
  const { offer, provider } = sold
  if (!options && service_tier === undefined && !provider.hostSurcharges) return []
  const { host, percent } = (provider.hostSurcharges && hostSurchargeOf(sold)) ?? {}
  const tiers = { price: offer.price, quirks: quirksFor(provider, offer) }
  return [
    ...(options ? unpricedFields(options, offer.price) : []),
    ...(isUnpricedTier(service_tier, tiers) ? ['service_tier'] : []),
    ...(host !== undefined && percent === undefined ? [host] : []),
  ]
}
