import { dataPolicyDemands } from '../protocol/provider-facts.ts'
import type { RoutingOptions } from '../protocol/request.ts'
import type { JsonObject } from '../protocol/wire.ts'
import {
  exact,
  filled,
  flag,
  integer,
  list,
  missing,
  number,
  object,
  oneOf,
  optional,
  type Read,
  refuse,
  stringMap,
} from './field-readers.ts'

// `model` and `gateway`: the fields of a body that are the gateway's own. An unknown field in them is an error.

/** At most a day, since a hold must not outlive a crash by more. */
const milliseconds = integer(1, 86_400_000)
const names = list(filled)
const price = number(0)

const readPrice: Read<NonNullable<RoutingOptions['max_price']>> = (value, path) =>
  exact(
    object(value, path),
    path,
    new Map<string, Read<unknown>>([
      ['input', price],
      ['output', price],
    ]),
  )

const routingFields: ReadonlyMap<string, Read<unknown>> = new Map(
  Object.entries({
    allow_fallbacks: flag,
    strategy: filled,
    tier: oneOf('priority'),
    timeout_ms: milliseconds,
    deadline_ms: milliseconds,
    order: names,
    only: names,
    ignore: names,
    max_price: readPrice,
    data_policy: oneOf(...dataPolicyDemands),
    strict: flag,
    hedge: flag,
    byok_first: flag,
  } satisfies { readonly [Field in Exclude<keyof RoutingOptions, 'models'>]-?: Read<unknown> }),
)

/** Checks the options of a caller in this process, whose body was not decoded. Throws the 400 that names the field. */
export function checkRoutingFields({ models, ...options }: RoutingOptions): void {
  if (Object.keys(options).length > 1 || typeof options.allow_fallbacks !== 'boolean')
    exact(options as unknown as JsonObject, 'gateway.routing', routingFields)
}

const readModels: Read<readonly string[]> = (value, path) => {
  const models = names(value, path)
  return models.length > 0 ? models : refuse('invalid_parameter_value', `\`${path}\` must name at least one model.`, path)
}

const gatewayFields: ReadonlyMap<string, Read<unknown>> = new Map<string, Read<unknown>>([
  ['routing', (value, path) => exact(object(value, path), path, routingFields)],
  ['metadata', stringMap(16)],
  ['models', readModels],
])

interface GatewayFields {
  readonly routing?: Omit<RoutingOptions, 'models' | 'allow_fallbacks'> & {
    readonly allow_fallbacks?: boolean
  }
  readonly metadata?: Readonly<Record<string, string>>
  readonly models?: readonly string[]
}

/** Reads `model` and `gateway`. */
export function readRouting(body: JsonObject): { readonly routing: RoutingOptions; readonly metadata?: Readonly<Record<string, string>> } {
  const model = optional({ body, path: '' }, 'model', filled)
  const gateway =
    optional({ body, path: '' }, 'gateway', (value, path) => exact(object(value, path), path, gatewayFields) as GatewayFields) ?? {}
  if (model !== undefined && gateway.models) {
    refuse('invalid_parameter_value', 'Name the model either in `model` or in `gateway.models`, not in both.', 'model')
  }
  const [first, ...rest] = gateway.models ?? (model === undefined ? [] : [model])
  if (first === undefined) return missing('model', 'Name one in `model`, or several in `gateway.models`.')
  const { allow_fallbacks = true, ...options } = gateway.routing ?? {}
  return { routing: { models: [first, ...rest], allow_fallbacks, ...options }, ...(gateway.metadata && { metadata: gateway.metadata }) }
}
