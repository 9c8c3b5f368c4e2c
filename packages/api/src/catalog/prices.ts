import type { Offer, PriceWindow, Rates } from '@signalbox/dialects/protocol'
import { toUsd } from '@signalbox/gateway'

type RatesView = Readonly<Record<string, unknown>>

/** Unknown rates are absent, because a 0 would mean free. */
const ratesView = ({ input, output, inputAudio, cached, cacheWrite, cacheWrite1h, request, tools }: Rates): RatesView => ({
  input_price: toUsd(input),
  output_price: toUsd(output),
  ...(inputAudio !== undefined && { audio_input_price: toUsd(inputAudio) }),
  ...(cached !== undefined && { cached_input_price: toUsd(cached) }),
  ...(cacheWrite !== undefined && { cache_write_price: toUsd(cacheWrite) }),
  ...(cacheWrite1h !== undefined && { cache_write_1h_price: toUsd(cacheWrite1h) }),
  ...(request !== undefined && { request_price: toUsd(request) }),
  ...(tools && { tool_prices: Object.fromEntries(Object.entries(tools).map(([tool, price]) => [tool, toUsd(price)])) }),
})

/** The price of a provider. Undefined if unknown. */
export const priceView = ({ provider, price, retiresAt, source, asOf }: Offer): Readonly<Record<string, unknown>> | undefined =>
  price && {
    provider,
    ...ratesView(price),
    ...(price.tiers && { long_prompts: price.tiers.map(({ over, ...rates }) => ({ over_tokens: over, ...ratesView(rates) })) }),
    ...(price.priority && { priority: ratesView(price.priority) }),
    ...(price.windows && { windows: price.windows.map(windowView) }),
    ...(price.changes && { changes: price.changes.map(({ from, price: next }) => ({ from, ...ratesView(next) })) }),
    ...(price.surcharges && { surcharges: price.surcharges.map(surcharge => ({ ...surcharge })) }),
    ...(retiresAt !== undefined && { retires_at: retiresAt }),
    ...(source !== undefined && { source }),
    ...(asOf !== undefined && { as_of: asOf }),
  }

const windowView = ({ days, from, to, ...rates }: PriceWindow): Readonly<Record<string, unknown>> => ({
  ...(days && { days }),
  from,
  to,
  ...ratesView(rates),
})
