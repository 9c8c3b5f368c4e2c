import { type Offer, type Price, type Rates, wireNameOf } from '@signalbox/dialects/protocol'
import type { Catalog } from '../stored.ts'
import type { PriceLookup } from './genai-prices.ts'
import { offerKey } from './source.ts'

/** Ratio above which a change of one offer needs a second source, or a correction. */
const maxRatio = 3

export interface SuddenContext {
  readonly today: string
  /** The offers before the update, by `offerKey`. */
  readonly before: ReadonlyMap<string, Offer>
  /** The second source. Undefined if there is none. */
  readonly lookup: PriceLookup | undefined
  readonly warnings: string[]
}

/**
 * Keeps facts that money depends on where one source changes them suddenly: a price that falls or rises by more than three times or to
 * nothing, in any of its rates, and a limit of tokens that does. Each is named in a warning. A price that was announced, that a second
 * source confirms, or that follows one of 0, is taken.
 */
export function withoutSuddenChanges({ models, ...rest }: Catalog, context: SuddenContext): Catalog {
  const steady = (offer: Offer): Offer => {
    const old = context.before.get(offerKey(offer))
    return old ? steadyLimits(steadyPrice(offer, old, context), old, context) : offer
  }
  return { ...rest, models: models.map(model => ({ ...model, offers: model.offers.map(steady) })) }
}

const placeOf = ({ provider, model: id }: Offer): string => `${id} at ${provider}`

function steadyPrice(offer: Offer, { price: old }: Offer, { lookup, today, warnings }: SuddenContext): Offer {
  const { price } = offer
  if (!price || !old || [old, ...(old.changes ?? []).map(change => change.price)].some(known => !isFarApart(known, price))) return offer
  const other = lookup?.(offer.provider, offer.model, today)
  if (other && !isFarApart(other, price)) return offer
  warnings.push(
    `${placeOf(offer)} would cost ${inDollars(price)} instead of ${inDollars(old)} (USD per million tokens), which no second source confirms; the old price stays. A correction can state the new one.`,
  )
  return { ...offer, price: old }
}

const limits = ['contextWindow', 'maxOutputTokens', 'maxInputTokens'] as const

function steadyLimits(offer: Offer, old: Offer, { warnings }: SuddenContext): Offer {
  const kept = limits.flatMap(field => {
    const [now, was] = [offer[field], old[field]]
    if (now === undefined || was === undefined || !isSudden(was, now)) return []
    warnings.push(
      `\`${wireNameOf(field)}\` of ${placeOf(offer)} would be ${now} instead of ${was}; the old one stays. A correction can state the new one.`,
    )
    return [[field, was] as const]
  })
  return kept.length > 0 ? { ...offer, ...Object.fromEntries(kept) } : offer
}

const rateNames = ['input', 'output', 'cached', 'cacheWrite', 'cacheWrite1h', 'inputAudio', 'request'] as const

/** Whether any rate of two prices differs suddenly, for prompts of any length and in the priority tier. */
function isFarApart(was: Price, now: Price): boolean {
  const lengths = [0, ...(was.tiers ?? []), ...(now.tiers ?? [])].map(tier => (typeof tier === 'number' ? tier : tier.over + 1))
  const pairs = [
    ...lengths.map(length => [ratesOf(was, length), ratesOf(now, length)] as const),
    ...(was.priority && now.priority ? [[was.priority, now.priority] as const] : []),
  ]
  return pairs.some(([old, next]) => rateNames.some(name => differ(old, next, name)))
}

function differ(was: Rates, now: Rates, name: (typeof rateNames)[number]): boolean {
  const [old, next] = [was[name], now[name]]
  return old !== undefined && next !== undefined && isSudden(old, next)
}

/** A price of 0 may end at any time. */
const isSudden = (was: number, now: number): boolean => was > 0 && (now > was * maxRatio || now * maxRatio < was)

/** The rates of a prompt of this many tokens. */
const ratesOf = (price: Price, length: number): Rates => price.tiers?.findLast(({ over }) => length > over) ?? price

/** `1.25/10` */
const inDollars = ({ input, output }: Rates): string => `${input / 1_000_000}/${output / 1_000_000}`
