import type { Model, Offer, Price } from '@signalbox/dialects/protocol'
import type { ApiReply } from '../api.ts'
import { offersHere } from '../catalog/offers.ts'
import { viewReply } from '../catalog/views.ts'
import type { Call } from '../route.ts'

/** Replies with the callable models, ordered by id. */
export function listLanguageModels({ gateway, site }: Call): ApiReply {
  const view = site.views(gateway.models.version(), '["ai-gateway models"]', () => {
    const offersOf = offersHere(gateway)
    return { models: gateway.models.list().map(model => languageModelView(model, offersOf(model))) }
  })
  return viewReply(view)
}

function languageModelView({ id, displayName }: Model, offers: readonly Offer[]): object {
  const price = cheapestOf(offers)
  return {
    id,
    name: displayName ?? id,
    ...(price && { pricing: pricingView(price) }),
    specification: { specificationVersion: 'v4', provider: offers[0]?.provider ?? '', modelId: id },
    modelType: 'language',
  }
}

/** The price of the cheapest offer, for equal amounts of input and output. */
const cheapestOf = (offers: readonly Offer[]): Price | undefined =>
  offers
    .flatMap(({ price }) => price ?? [])
    .reduce<Price | undefined>((best, next) => (best && best.input + best.output <= next.input + next.output ? best : next), undefined)

const pricingView = ({ input, output, cached, cacheWrite }: Price): object => ({
  input: perToken(input),
  output: perToken(output),
  ...(cached !== undefined && { input_cache_read: perToken(cached) }),
  ...(cacheWrite !== undefined && { input_cache_write: perToken(cacheWrite) }),
})

/** Converts microdollars per million tokens to decimal USD per token: `250_000` → `0.00000025`. */
const perToken = (price: number): string => (price / 1e12).toFixed(12).replace(/\.?0+$/, '')
