import { GatewayError } from '@signalbox/dialects/errors'
import type { Model, Offer } from '@signalbox/dialects/protocol'
import type { Caller, Gateway } from '@signalbox/gateway'
import { toUsd } from '@signalbox/gateway'
import type { ApiReply } from '../api.ts'
import { didYouMean } from '../query.ts'
import type { Call } from '../route.ts'
import { largest, onePerProvider } from './offers.ts'
import { viewReply } from './views.ts'

/** Replies with one body for the SDKs of both vendors, which expect different fields that do not conflict. */
export async function listModels(call: Call, caller: Caller): Promise<ApiReply> {
  const { gateway, site, query } = call
  const { endpoint, limit, after_id, before_id } = query
  if (after_id !== undefined && before_id !== undefined) {
    throw new GatewayError('invalid_parameter_value', {
      message: 'The query parameters "after_id" and "before_id" cannot be combined. Send one of them.',
      param: 'before_id',
    })
  }
  const callable = await gateway.callableOffers(caller)
  const key = JSON.stringify(['models', callable.key, endpoint, limit, after_id, before_id])
  const view = site.views(gateway.models.version(), key, () => {
    const served = endpoint === undefined || site.endpoints.includes(endpoint)
    const models = served ? gateway.models.list().filter(model => callable.of(model).length > 0) : []
    const { page, has_more } = pageOf(models, query)
    return {
      object: 'list',
      data: page.map(model => modelView(model, callable.of(model), call)),
      count: page.length,
      has_more,
      first_id: page[0]?.id ?? null,
      last_id: page.at(-1)?.id ?? null,
    }
  })
  return viewReply(view)
}

/**
 * A page of models ordered by id: those after one id or before another, at most `limit` of the nearest. The id need not exist, so that a
 * client can continue paging after the models were replaced.
 */
function pageOf(
  models: readonly Model[],
  { limit, after_id, before_id }: Call['query'],
): { readonly page: readonly Model[]; readonly has_more: boolean } {
  const most = limit === undefined ? models.length : Number(limit)
  const rest = models.filter(({ id }) => (after_id === undefined || id > after_id) && (before_id === undefined || id < before_id))
  const page = before_id === undefined ? rest.slice(0, most) : rest.slice(Math.max(0, rest.length - most))
  return { page, has_more: page.length < rest.length }
}

export async function getModel(call: Call, caller: Caller): Promise<ApiReply> {
  const { gateway, site, params } = call
  const id = params.model_id ?? ''
  const model = gateway.models.resolve(id)
  if (model === undefined) throw noModelError(gateway, id)
  const callable = await gateway.callableOffers(caller)
  const offers = callable.of(model)
  if (offers.length === 0)
    throw new GatewayError('model_not_found', {
      message: `Model "${model.id}" cannot be called from this workspace: its settings do not allow it, or no configured provider offers it at a known price.`,
      param: 'model_id',
    })
  const key = JSON.stringify(['model', callable.key, model.id])
  return viewReply(site.views(gateway.models.version(), key, () => modelView(model, offers, call)))
}

function noModelError({ models }: Gateway, id: string): GatewayError {
  const { sentence, ...facts } = didYouMean(models.similarNames(id))
  return new GatewayError('model_not_found', {
    message: `Model "${id.slice(0, 200)}" does not exist.${sentence}`,
    param: 'model_id',
    ...facts,
  })
}

function modelView(model: Model, offers: readonly Offer[], { gateway, site }: Call) {
  // An unknown date is that of the start of this process, because a date in 1970 would look like a fact.
  const created = model.created ?? site.startedAt
  const context_window = largest(offers.map(offer => offer.contextWindow))
  return {
    id: model.id,
    object: 'model',
    type: 'model',
    created,
    created_at: new Date(created * 1000).toISOString(),
    display_name: model.displayName ?? model.id,
    owned_by: gateway.ownedBy,
    // Absent if unknown, because a 0 would look like a fact.
    context_window,
    supported_endpoints: site.endpoints,
    providers: onePerProvider(offers).map(offerView),
  }
}

const offerView = ({ provider, price, dataPolicy }: Offer): Readonly<Record<string, unknown>> => ({
  name: provider,
  ...(price !== undefined && { input_price: toUsd(price.input), output_price: toUsd(price.output) }),
  data_policy: dataPolicy,
})
