import { loggedMetadataCaps } from '../protocol/body-caps.ts'
import { dataPolicyDemands } from '../protocol/provider-facts.ts'
import type { RoutingOptions } from '../protocol/request.ts'
import { dayMs } from '../protocol/time.ts'
import type { JsonObject } from '../protocol/wire.ts'
import {
  arrayOf,
  booleanValue,
  exact,
  integerBetween,
  literalOf,
  missing,
  nonEmptyText,
  numberBetween,
  objectValue,
  optional,
  type Read,
  refuse,
  stringMap,
} from './field-readers.ts'

// Reads `model` and `gateway`, the body fields of the gateway's own API. Unknown fields in them are errors.

/** At most a day, because a hold must not outlive a crash by more. */
const milliseconds = integerBetween(1, dayMs)
const nameList = arrayOf(nonEmptyText)
const priceValue = numberBetween(0)

const readPrice: Read<NonNullable<RoutingOptions['max_price']>> = (value, path) =>
  exact(
    objectValue(value, path),
    path,
    new Map<string, Read<unknown>>([
      ['input', priceValue],
      ['output', priceValue],
    ]),
  )

const routingFields: ReadonlyMap<string, Read<unknown>> = new Map(
  Object.entries({
    allow_fallbacks: booleanValue,
    strategy: nonEmptyText,
    tier: literalOf('priority'),
    timeout_ms: milliseconds,
    deadline_ms: milliseconds,
    order: nameList,
    only: nameList,
    ignore: nameList,
    max_price: readPrice,
    data_policy: literalOf(...dataPolicyDemands),
    strict: booleanValue,
    hedge: booleanValue,
    byok_first: booleanValue,
  } satisfies { readonly [Field in Exclude<keyof RoutingOptions, 'models'>]-?: Read<unknown> }),
)

/** Checks the routing options of an in-process request, whose body was not decoded. Throws a 400 that names the field. */
export function checkRoutingFields(routing: RoutingOptions): void {
  if (Object.keys(routing).length <= 2 && typeof routing.allow_fallbacks === 'boolean') return
  const { models, ...options } = routing
  exact(options as unknown as JsonObject, 'gateway.routing', routingFields)
}

const readModels: Read<readonly string[]> = (value, path) => {
  const models = nameList(value, path)
  return models.length > 0 ? models : refuse('invalid_parameter_value', `\`${path}\` must name at least one model.`, path)
}

const gatewayReaders: ReadonlyMap<string, Read<unknown>> = new Map<string, Read<unknown>>([
  ['routing', (value, path) => exact(objectValue(value, path), path, routingFields)],
  ['metadata', stringMap(loggedMetadataCaps)],
  ['models', readModels],
])

interface GatewayFields {
  readonly routing?: Omit<RoutingOptions, 'models' | 'allow_fallbacks'> & {
    readonly allow_fallbacks?: boolean
  }
  readonly metadata?: Readonly<Record<string, string>>
  readonly models?: readonly string[]
}

const readGateway: Read<GatewayFields> = (value, path) => exact(objectValue(value, path), path, gatewayReaders)

const isNonEmpty = (models: readonly string[]): models is RoutingOptions['models'] => models.length > 0

/** Reads `model` and `gateway`. */
export function readRouting(body: JsonObject): { readonly routing: RoutingOptions; readonly metadata?: Readonly<Record<string, string>> } {
  const model = optional({ body, path: '' }, 'model', nonEmptyText)
  const gateway = optional({ body, path: '' }, 'gateway', readGateway)
  if (model !== undefined && gateway?.models) {
    refuse('invalid_parameter_value', 'Set either `model` or `gateway.models`, not both.', 'model')
  }
  const models = gateway?.models ?? (model === undefined ? [] : [model])
  if (!isNonEmpty(models)) return missing('model', 'Set `model` to one model, or `gateway.models` to several.')
  const routing = gateway?.routing ? { models, allow_fallbacks: true, ...gateway.routing } : { models, allow_fallbacks: true }
  return gateway?.metadata ? { routing, metadata: gateway.metadata } : { routing }
}
