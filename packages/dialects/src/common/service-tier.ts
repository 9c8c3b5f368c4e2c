import type { Price, Quirks } from '../protocol/model.ts'
import type { Prompt, RoutingOptions } from '../protocol/request.ts'
import type { Json, JsonObject } from '../protocol/wire.ts'
import type { BodyDraft } from './body-draft.ts'

// Decides which tier a request gets. Both the body encoder and billing use it, so that an expensive tier is never billed at the standard
// price.

/** Tiers that cost the standard price or less. Any other tier may cost more. */
const standardPriceTiers: ReadonlySet<Json | undefined> = new Set([
  undefined,
  null,
  'auto',
  'default',
  'standard',
  'standard_only',
  'on_demand',
  'flex',
])

/** Whether a client's tier is the standard one, under any of its names. */
export const isStandardTier = (named: string | undefined): boolean => named !== undefined && openaiTiers.get(named) === 'default'

/** Client tier → tier in both OpenAI APIs. */
export const openaiTiers: ReadonlyMap<string, string> = new Map([
  ['auto', 'auto'],
  ['default', 'default'],
  ['standard', 'default'],
  ['standard_only', 'default'],
  ['on_demand', 'default'],
  ['flex', 'flex'],
  ['priority', 'priority'],
  ['fast', 'priority'],
])

/** Tiers that several dialects share. The standard tier is requested by sending none. */
export const commonTiers: ReadonlyMap<string, string> = new Map([
  ...['auto', 'default', 'standard', 'standard_only', 'on_demand'].map(word => [word, 'default'] as const),
  ['flex', 'flex'],
  ['priority', 'priority'],
  ['fast', 'priority'],
])

/** Sets the tier of the prompt in a dialect's terms, or leaves it out with a warning. */
export function setServiceTier(draft: BodyDraft, { service_tier }: Prompt, words: ReadonlyMap<string, string>): void {
  if (service_tier === undefined) return
  const tier = service_tier === draft.quirks.priorityTier ? service_tier : words.get(service_tier)
  draft.set('service_tier', tier)
  if (tier === undefined)
    draft.warn('service_tier', `\`service_tier\` "${service_tier.slice(0, 50)}" is not supported by this provider and was left out.`)
}

/** The facts of an offer that determine its tiers. */
export interface Tiers {
  readonly price: Price | undefined
  readonly quirks: Quirks
}

const sellsExpensiveTier = ({ price, quirks }: Tiers): boolean => price?.priority !== undefined && !quirks.refuses?.includes('service_tier')

/** The tier that `gateway.routing.tier` selects here, if any. */
const tierOf = ({ tier }: RoutingOptions, tiers: Tiers): string | undefined =>
  tier !== undefined && sellsExpensiveTier(tiers) ? tiers.quirks.priorityTier : undefined

/** Whether this request gets an expensive tier from this offer. `named`: the client's `service_tier`. */
export const buysDear = (named: string | undefined, routing: RoutingOptions, tiers: Tiers): boolean =>
  sellsExpensiveTier(tiers) && (tierOf(routing, tiers) !== undefined || isExpensive(named, tiers))

/** Names of the priority tier in any dialect. Its vendor accepts both. */
const priorityNames: ReadonlySet<Json | undefined> = new Set(['priority', 'fast'])

/** Whether the tier is expensive. Unknown tiers are not sent, so they are not charged. */
const isExpensive = (named: Json | undefined, { quirks }: Pick<Tiers, 'quirks'>): boolean =>
  !standardPriceTiers.has(named) && (priorityNames.has(named) || named === quirks.priorityTier)

/** Which price of an offer applies to a response. */
type TierPrice = 'priority' | 'usual'

/** The price for the tier that a response reports. Undefined if it reports none, or an unknown one: the request then decides. */
export function tierPriceOf(stated: string | undefined, { price, quirks }: Tiers): TierPrice | undefined {
  // `auto` is a request value, not a tier.
  if (stated === undefined || stated === 'auto') return undefined
  if (standardPriceTiers.has(stated)) return 'usual'
  if (!isExpensive(stated, { quirks })) return undefined
  return price?.priority ? 'priority' : 'usual'
}

/** Whether tokens have the price of the tier `flex`: the response states it, or states no tier and the request asked for it. */
export const paysFlex = (named: string | undefined, stated: string | undefined, { refuses }: Quirks): boolean =>
  stated === undefined || stated === 'auto' ? named === 'flex' && !refuses?.includes('service_tier') : stated === 'flex'

/** Whether a response reports a tier that may be more expensive, and whose price is unknown. */
export const isUnpricedTier = (stated: string | undefined, tiers: Tiers): boolean =>
  !standardPriceTiers.has(stated) && tierPriceOf(stated, tiers) !== 'priority'

/** Fields that raise the price, each with the values that do not. */
const surcharged: ReadonlyMap<string, ReadonlySet<Json | undefined>> = new Map([
  ['speed', new Set<Json | undefined>([undefined, null, 'standard'])],
  ['inference_geo', new Set<Json | undefined>([undefined, null, 'global'])],
  ['performanceConfig', new Set<Json | undefined>([undefined, null])],
  // Other models of the provider, with their own prices and speeds.
  ['fallbacks', new Set<Json | undefined>([undefined, null])],
])

/** The names of these fields. */
export const surchargedFields: readonly string[] = [...surcharged.keys()]

/** The fields of a body, or of reported options, that raise the price by an unknown amount. */
export function unpricedFields(body: JsonObject, price?: Price): readonly string[] {
  return surchargedFields.filter(
    field =>
      Object.hasOwn(body, field) &&
      !surcharged.get(field)?.has(body[field]) &&
      !price?.surcharges?.some(each => each.field === field && each.value === body[field]),
  )
}

/** Sets the tier of a body, or removes one without a known price. Warns about each option of `gateway.routing` that has no effect. */
export function applyServiceTier(draft: BodyDraft, routing: RoutingOptions, price: Price | undefined): void {
  for (const field of unpricedFields(draft.body, price)) {
    draft.delete(field)
    draft.warn(field, `The price of \`${field}\` is unknown; it was left out.`)
  }
  const named = draft.get('service_tier')
  if (named === undefined && routing.tier === undefined) return
  const tiers: Tiers = { price, quirks: draft.quirks }
  const bought = tierOf(routing, tiers)
  // `fast`, the newer name of the priority tier, is sent only to a provider that uses it; others get `priority`.
  const tier = named === 'fast' && draft.quirks.priorityTier !== 'fast' ? 'priority' : named
  draft.set('service_tier', bought ?? tier)
  if (bought !== undefined) return
  if (!standardPriceTiers.has(tier) && !(sellsExpensiveTier(tiers) && isExpensive(tier, tiers))) {
    draft.delete('service_tier')
    draft.warn('service_tier', 'The price of this `service_tier` is unknown; the default tier was used.')
  }
  if (routing.tier !== undefined) draft.warn('gateway.routing.tier', 'This provider offers no faster tier; the default tier was used.')
}
