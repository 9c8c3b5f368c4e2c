import type { Price, Rates } from '@signalbox/core/protocol'
import type { FactModel, FactOffer, FactPrice, FactPriority, FactRates } from './facts.ts'

// Prices as the facts tell them, in dollars, to whole microdollars. Prices of audio are left out: what goes in and what comes
// out have one rate each.

/** What an hour's cache write costs is told of a model, at its maker's price: where another asks more, that does not hold. */
interface Listed {
  /** The maker's own price of input. */
  readonly in: number | undefined
  readonly hour: number | undefined
}

export const listedPriceOf = ({ author, offers, cw_1h }: FactModel): Listed => ({
  in: offers.find(({ p }) => p === author)?.price?.in,
  hour: cw_1h,
})

/** Nothing where none is known: unknown is not free. */
export function priceOf({ price, priority }: Pick<FactOffer, 'price' | 'priority'>, listed: Listed): Price | undefined {
  if (!price) return undefined
  const hour = price.in === listed.in ? listed.hour : undefined
  return {
    ...ratesOf(dearest(price), hour),
    ...(price.tiers && { tiers: price.tiers.toSorted((a, b) => a.over - b.over).map(tier => ({ over: tier.over, ...ratesOf(tier) })) }),
    ...(priority && tierBoughtBy(priority) !== undefined && { priority: ratesOf(priority.price) }),
  }
}

/** Where output costs more while the model thinks, it thinks unasked: so the one rate that there is is that one. */
const dearest = (price: FactPrice): FactPrice => ({ ...price, out: Math.max(price.out, price.reason ?? 0) })

/**
 * The `service_tier` that buys it. Anthropic's fast mode is bought by a field and a header of its own, which nobody sends
 * there: its price is left out, as if it were not sold.
 */
export function tierBoughtBy({ body, headers = {} }: FactPriority): string | undefined {
  const { service_tier, ...others } = body
  return Object.keys(others).length + Object.keys(headers).length === 0 ? service_tier : undefined
}

const ratesOf = ({ in: input, out, cr, cw }: FactRates, hour?: number): Rates => ({
  input: microdollars(input),
  output: microdollars(out),
  ...(cr !== undefined && { cached: microdollars(cr) }),
  ...(cw !== undefined && { cache_write: microdollars(cw) }),
  ...(hour !== undefined && { cache_write_1h: microdollars(hour) }),
})

const microdollars = (usd: number): number => Math.round(usd * 1_000_000)
