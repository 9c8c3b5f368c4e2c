import type { InferenceRequest, RoutingOptions } from '@signalbox/dialects/protocol'
import { isObject, originalOf, remember, toUsd } from '@signalbox/dialects/protocol'
import type { WorkspacePolicy } from '../../access/workspace-policy.ts'
import type { RoutingDefaults } from '../../resources/settings.ts'
import type { PlanInput } from '../../routing/make-plan.ts'

type RoutingFields = Partial<Omit<RoutingOptions, 'models'>>

const routingFields = {
  strategy: 'strategy',
  allowFallbacks: 'allow_fallbacks',
  order: 'order',
  only: 'only',
  ignore: 'ignore',
  maxPrice: 'max_price',
  timeoutMs: 'timeout_ms',
  deadlineMs: 'deadline_ms',
  byokFirst: 'byok_first',
} as const satisfies { readonly [Field in keyof RoutingDefaults]-?: keyof RoutingOptions }

/** Applies the routing defaults of the workspace. Fields of the request take precedence. */
export function withDefaults(
  originalRequest: InferenceRequest,
  { workspace }: WorkspacePolicy,
  { planning }: { readonly planning: Pick<PlanInput, 'providers'> },
): InferenceRequest {
  const { routing: defaults } = workspace.body
  if (!defaults) return originalRequest
  const { models, allow_fallbacks, ...options } = originalRequest.routing
  const own: RoutingFields = saysFallbacks(originalRequest) ? { allow_fallbacks, ...options } : options
  const fallback = defaultRouting(defaults, planning.providers)
  const routing: RoutingOptions = { models, allow_fallbacks, ...fallback, ...own, ...agreed(own, fallback) }
  return remember({ ...originalRequest, routing }, originalOf(originalRequest))
}

/** The fields of `routing` that come from the workspace's defaults. Undefined if there are none. */
export function defaultedIn({ routing }: InferenceRequest, { workspace }: WorkspacePolicy): ReadonlySet<string> | undefined {
  const { routing: defaults } = workspace.body
  if (!defaults) return undefined
  const fields = Object.entries(routingFields).flatMap(([field, name]) =>
    defaults[field as keyof RoutingDefaults] === undefined ? [] : [name],
  )
  return new Set(fields.filter(name => routing[name] === undefined))
}

/**
 * Whether the request sets `allow_fallbacks`. Dialects default it to true, so this checks the original body. Without one, the value is
 * explicit.
 */
function saysFallbacks(originalRequest: InferenceRequest): boolean {
  const original = originalOf(originalRequest)
  if (!original) return true
  const { gateway } = original.body
  const routing = isObject(gateway) ? gateway.routing : undefined
  return isObject(routing) && typeof routing.allow_fallbacks === 'boolean'
}

/** The defaults as routing options, without providers that the gateway no longer has. Requests have their prices in USD. */
function defaultRouting({ maxPrice, ...defaults }: RoutingDefaults, providers: PlanInput['providers']): RoutingFields {
  const fields = Object.entries({ ...defaults, maxPrice: maxPrice && inUsd(maxPrice) }).filter(([, value]) => value !== undefined)
  return Object.fromEntries(
    fields.map(([field, value]) => [
      routingFields[field as keyof RoutingDefaults],
      Array.isArray(value) ? value.filter(id => providers.has(id)) : value,
    ]),
  )
}

const inUsd = ({ input, output }: NonNullable<RoutingDefaults['maxPrice']>): RoutingFields['max_price'] => ({
  input: input === undefined ? undefined : toUsd(input),
  output: output === undefined ? undefined : toUsd(output),
})

/** Resolves conflicts between lists: within a request they are an error, but a request takes precedence over a default. */
function agreed(own: RoutingFields, fallback: RoutingFields): Pick<RoutingFields, 'order' | 'only' | 'ignore'> {
  const only = own.only ?? fallback.only?.filter(id => !own.ignore?.includes(id))
  const ignore = own.ignore ?? fallback.ignore?.filter(id => !only?.includes(id))
  const isTheirs = own.order !== undefined
  const order = (own.order ?? fallback.order)?.filter(
    id => (!only || (isTheirs && own.only) || only.includes(id)) && (!ignore || (isTheirs && own.ignore) || !ignore.includes(id)),
  )
  return { only, ignore, order }
}
