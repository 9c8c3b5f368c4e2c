import type { Offer, Price, Rates } from '@signalbox/dialects/protocol'
import type { Catalog } from '../stored.ts'
import type { PriceLookup } from './genai-prices.ts'
import { definedFields } from './prices.ts'
import { offerKey } from './source.ts'

/** Ratio above which a warning is given. */
const warnAbove = 1.01
/** Ratio above which one of the two must be wrong, so the old price is kept. */
const refuseAbove = 3

export interface OpinionContext {
  readonly today: string
  /** The offers before the update, by `offerKey`. */
  readonly before: ReadonlyMap<string, Offer>
  readonly warnings: string[]
}

/**
 * Compares prices with a second source. If both agree, adds what only the second source states: announced prices, hours of the day, fees
 * per request, one-hour cache writes. If they are far apart, keeps the price from before the update; a new offer gets none.
 */
export function withSecondOpinion({ models, ...rest }: Catalog, lookup: PriceLookup, context: OpinionContext): Catalog {
  const checked = (offer: Offer): Offer => {
    const other = offer.price && lookup(offer.provider, offer.model, context.today)
    return offer.price && other ? judged(offer, { own: offer.price, other, ...context }) : offer
  }
  return { ...rest, models: models.map(model => ({ ...model, offers: model.offers.map(checked) })) }
}

interface Opinions extends OpinionContext {
  readonly own: Price
  readonly other: Price
}

function judged(offer: Offer, { own, other, before, warnings }: Opinions): Offer {
  const apart = Math.min(...[other, ...(other.windows ?? [])].map(rates => ratio(own, rates)))
  if (apart <= warnAbove) return { ...offer, price: completed(own, other) }
  const place = `${offer.model} at ${offer.provider}`
  const message = `${place} costs ${shortRates(own)} by one source and ${shortRates(other)} by genai-prices (USD per million tokens)`
  if (apart <= refuseAbove) {
    warnings.push(`${message}; the first is used.`)
    return offer
  }
  const { price: _, ...unpriced } = offer
  const old = before.get(offerKey(offer))?.price
  const same = JSON.stringify(old) === JSON.stringify(own)
  warnings.push(old ? `${message}; ${same ? 'its price stays' : 'the old price stays'}.` : `${message}; it gets no price and is not used.`)
  return old ? { ...offer, price: old } : unpriced
}

/** The largest ratio between two rates: 1 means equal, and a price compared with none is infinite. */
function ratio(a: Rates, b: Rates): number {
  const pairs: readonly (readonly [number, number])[] = [
    [a.input, b.input],
    [a.output, b.output],
    a.cached === undefined || b.cached === undefined ? [0, 0] : [a.cached, b.cached],
  ]
  return Math.max(...pairs.map(([x, y]) => (x === y ? 1 : Math.max(x, y) / Math.min(x, y))))
}

const added = ['inputAudio', 'cacheWrite1h', 'request', 'windows', 'changes'] as const

const completed = (own: Price, other: Price): Price => ({ ...definedFields(other, added), ...own })

/** `1.25/10` */
const shortRates = ({ input, output }: Rates): string => `${input / 1_000_000}/${output / 1_000_000}`
