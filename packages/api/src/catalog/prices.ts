import type { Offer, Rates } from '@signalbox/core/protocol'

/** Microdollars per million tokens inside, dollars per million outside. */
export const usd = (microdollars: number): number => microdollars / 1_000_000

type RatesView = Readonly<Record<string, number>>

/** What is not known is left out: a 0 would be free. */
const ratesView = ({ input, output, cached, cache_write, cache_write_1h }: Rates): RatesView => ({
  input_price: usd(input),
  output_price: usd(output),
  ...(cached !== undefined && { cached_input_price: usd(cached) }),
  ...(cache_write !== undefined && { cache_write_price: usd(cache_write) }),
  ...(cache_write_1h !== undefined && { cache_write_1h_price: usd(cache_write_1h) }),
})

/** What one provider asks; nothing where nobody knows it. */
export const priceView = ({ provider, price }: Offer): Readonly<Record<string, unknown>> | undefined =>
  price && {
    provider,
    ...ratesView(price),
    ...(price.tiers && { long_prompts: price.tiers.map(({ over, ...rates }) => ({ over_tokens: over, ...ratesView(rates) })) }),
    ...(price.priority && { priority: ratesView(price.priority) }),
  }
