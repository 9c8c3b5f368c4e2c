import type { Model, Offer, Price } from '@signalbox/dialects/protocol'
import type { Caller } from '@signalbox/gateway'
import type { ApiReply } from '../api.ts'
import { viewReply } from '../catalog/views.ts'
import type { Call } from '../route.ts'

/** Replies with the models that the caller may call, ordered by id. */
export async function listLanguageModels({ gateway, site }: Call, caller: Caller): Promise<ApiReply> {
  const callable = await gateway.callableOffers(caller)
  const view = site.views(gateway.models.version(), JSON.stringify(['ai-gateway models', callable.key]), () => ({
    models: gateway.models.list().flatMap(model => {
      const offers = callable.of(model)
      return offers.length > 0 ? [languageModelView(model, offers)] : []
    }),
  }))
  return viewReply(view)
}

function languageModelView({ id, displayName }: Model, offers: readonly Offer[]): object {
  const price = cheapestOf(offers)
  return {
    id,
    name: displayName ?? id,
    pricing: price && pricingView(price),
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
  input_cache_read: cached === undefined ? undefined : perToken(cached),
  input_cache_write: cacheWrite === undefined ? undefined : perToken(cacheWrite),
})

/** Converts microdollars per million tokens to decimal USD per token: `250_000` → `0.00000025`. */
const perToken = (price: number): string => (price / 1e12).toFixed(12).replace(/\.?0+$/, '')
