import { GatewayError } from '@signalbox/core/errors'
import type { Model, Offer } from '@signalbox/core/protocol'
import { json } from '../answer.ts'
import type { ApiReply } from '../exchange.ts'
import type { Call } from '../routes.ts'

/** One body that the SDKs of both vendors read: theirs differ in names, not in contradictions. */
export function listModels({ gateway, site, query }: Call): ApiReply {
  const served = query.endpoint === undefined || site.endpoints.includes(query.endpoint)
  const data = served ? gateway.models.list().map(model => modelView(model, gateway.operator, site.endpoints)) : []
  return json({
    object: 'list',
    data,
    count: data.length,
    has_more: false,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  })
}

export function getModel({ gateway, site, params }: Call): ApiReply {
  const asked = params.model_id ?? ''
  const model = gateway.models.find(asked)
  if (model !== undefined) return json(modelView(model, gateway.operator, site.endpoints))
  const near = gateway.models.nearest(asked).map(name => `"${name}"`)
  const suggestion = near.length === 0 ? undefined : `Did you mean ${near.join(' or ')}?`
  throw new GatewayError('model_not_found', {
    message: [`Model "${asked.slice(0, 200)}" does not exist.`, ...(suggestion === undefined ? [] : [suggestion])].join(' '),
    param: 'model_id',
    ...(suggestion !== undefined && { suggestion }),
  })
}

interface ModelView {
  readonly id: string
  readonly [field: string]: unknown
}

function modelView(model: Model, operator: string, endpoints: readonly string[]): ModelView {
  const created = model.created ?? 0
  const windows = model.offers.flatMap(offer => offer.context_window ?? [])
  return {
    id: model.id,
    object: 'model',
    type: 'model',
    created,
    created_at: new Date(created * 1000).toISOString(),
    display_name: model.display_name ?? model.id,
    owned_by: operator,
    // Left out where nobody knows it: a 0 would be taken for a fact.
    ...(windows.length > 0 && { context_window: Math.max(...windows) }),
    supported_endpoints: endpoints,
    providers: onePerProvider(model.offers).map(offerView),
  }
}

function offerView({ provider, price, data_policy }: Offer): Readonly<Record<string, unknown>> {
  return {
    name: provider,
    // Microdollars per million tokens inside, dollars per million outside.
    ...(price !== undefined && { input_price: price.input / 1_000_000, output_price: price.output / 1_000_000 }),
    ...(data_policy !== undefined && { data_policy }),
  }
}

/** A provider may sell a model in several ways; the first listed stands for it. */
function onePerProvider(offers: readonly Offer[]): readonly Offer[] {
  const seen = new Set<string>()
  return offers.filter(offer => !seen.has(offer.provider) && seen.add(offer.provider))
}
