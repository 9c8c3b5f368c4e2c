import type { Price, Quirks } from '../protocol/model.ts'
import type { Prompt, RoutingOptions } from '../protocol/request.ts'
import type { Json, JsonObject } from '../protocol/wire.ts'
import { type Encoded, unsupported } from './apply-quirks.ts'

// Which tier a request gets. Both the encoder of the body and the bill use this, so that no expensive tier is charged at the
// standard price.

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

/** The words of OpenAI for a caller's tier, in both of its languages. */
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

/** Those that several dialects share; the standard tier is got by naming none. */
export const commonTiers: ReadonlyMap<string, string> = new Map([
  ...['auto', 'default', 'standard', 'standard_only', 'on_demand'].map(word => [word, 'default'] as const),
  ['flex', 'flex'],
  ['priority', 'priority'],
  ['fast', 'priority'],
])

/** The tier of the prompt in the words of a dialect, or left out with a warning. */
export function tierField({ service_tier }: Prompt, words: ReadonlyMap<string, string>, { priority_tier }: Quirks): Encoded {
  if (service_tier === undefined) return { body: {}, warnings: [] }
  const tier = service_tier === priority_tier ? service_tier : words.get(service_tier)
  if (tier !== undefined) return { body: { service_tier: tier }, warnings: [] }
  return {
    body: {},
    warnings: [
      unsupported('service_tier', `\`service_tier\` "${service_tier.slice(0, 50)}" is not supported by this provider and was left out.`),
    ],
  }
}

/** The facts of an offer that decide its tiers. */
export interface Tiers {
  readonly price: Price | undefined
  readonly quirks: Quirks
}

const sellsDear = ({ price, quirks }: Tiers): boolean => price?.priority !== undefined && !quirks.refuses?.includes('service_tier')

/** The tier that `gateway.routing.tier` buys here, if any. */
const tierOf = ({ tier }: RoutingOptions, tiers: Tiers): string | undefined =>
  tier !== undefined && sellsDear(tiers) ? tiers.quirks.priority_tier : undefined

/** Whether this request gets an expensive tier from this offer. `named`: the caller's `service_tier`. */
export const buysDear = (named: string | undefined, routing: RoutingOptions, tiers: Tiers): boolean =>
  sellsDear(tiers) && (tierOf(routing, tiers) !== undefined || isDear(named, tiers))

/** Names of the priority tier in any dialect. Its vendor calls it by either. */
const priorityNames: ReadonlySet<Json | undefined> = new Set(['priority', 'fast'])

/** A tier of which nothing is known is not sent, so it is not paid for. */
const isDear = (named: Json | undefined, { quirks }: Pick<Tiers, 'quirks'>): boolean =>
  !standardPriceTiers.has(named) && (priorityNames.has(named) || named === quirks.priority_tier)

/** Which price of an offer an answer pays. */
type TierPrice = 'priority' | 'usual'

/** By the tier that an answer states. Undefined: it states none, or one of which nothing is known, so the request decides. */
export function tierPriceOf(stated: string | undefined, { price, quirks }: Tiers): TierPrice | undefined {
  // `auto` is a wish, not a tier.
  if (stated === undefined || stated === 'auto') return undefined
  if (standardPriceTiers.has(stated)) return 'usual'
  if (!isDear(stated, { quirks })) return undefined
  return price?.priority ? 'priority' : 'usual'
}

/** Whether an answer states a tier that may cost more than the usual one, and no price of it is known. */
export const isUnpricedTier = (stated: string | undefined, tiers: Tiers): boolean =>
  !standardPriceTiers.has(stated) && tierPriceOf(stated, tiers) !== 'priority'

/** Fields that raise the price of an answer, and their values that do not. */
const surcharged: ReadonlyMap<string, ReadonlySet<Json | undefined>> = new Map([
  ['speed', new Set<Json | undefined>([undefined, null, 'standard'])],
  ['inference_geo', new Set<Json | undefined>([undefined, null, 'global'])],
  ['performanceConfig', new Set<Json | undefined>([undefined, null])],
  // Other models of the provider, with prices and speeds of their own.
  ['fallbacks', new Set<Json | undefined>([undefined, null])],
])

/** Their names. */
export const surchargedFields: readonly string[] = [...surcharged.keys()]

/** Those of a body, or of the options of an answer, whose price is not known. */
export function unpricedFields(body: JsonObject, price?: Price): readonly string[] {
  const dear: string[] = []
  for (const field of surchargedFields) {
    if (!Object.hasOwn(body, field) || surcharged.get(field)?.has(body[field])) continue
    if (!price?.surcharges?.some(each => each.field === field && each.value === body[field])) dear.push(field)
  }
  return dear
}

function withoutSurcharge({ body, warnings }: Encoded, price: Price | undefined): Encoded {
  const dear = unpricedFields(body, price)
  if (dear.length === 0) return { body, warnings }
  return {
    body: Object.fromEntries(Object.entries(body).filter(([field]) => !dear.includes(field))),
    warnings: [...warnings, ...dear.map(field => unsupported(field, `The price of \`${field}\` is unknown; it was left out.`))],
  }
}

/** Sets the tier of a body, or removes one without a price, with a warning for each option of `gateway.routing` that has no effect. */
export function applyServiceTier(encoded: Encoded, routing: RoutingOptions, tiers: Tiers): Encoded {
  const { body, warnings } = withoutSurcharge(encoded, tiers.price)
  const bought = tierOf(routing, tiers)
  const { service_tier: named, ...rest } = body
  // The newer name of the priority tier is sent where its provider calls it so itself, else the one that all know.
  const service_tier = named === 'fast' && tiers.quirks.priority_tier !== 'fast' ? 'priority' : named
  const tooDear = bought === undefined && !standardPriceTiers.has(service_tier) && !(sellsDear(tiers) && isDear(service_tier, tiers))
  const without = tooDear ? rest : service_tier === named ? body : { ...rest, service_tier }
  return {
    body: bought === undefined ? without : { ...body, service_tier: bought },
    warnings: [
      ...warnings,
      ...(tooDear ? [unsupported('service_tier', 'The price of this `service_tier` is unknown; the default tier was used.')] : []),
      ...(routing.tier !== undefined && bought === undefined
        ? [unsupported('gateway.routing.tier', 'This provider offers no faster tier; the default tier was used.')]
        : []),
    ],
  }
}
