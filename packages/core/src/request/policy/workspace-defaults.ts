import type { RoutingDefaults } from '../../access/kinds.ts'
import type { Terms } from '../../access/terms.ts'
import { originalOf, remember } from '../../protocol/original.ts'
import type { InferenceRequest, RoutingOptions } from '../../protocol/request.ts'
import { isObject } from '../../protocol/wire.ts'
import type { Planning } from '../../routing/make-plan.ts'

type Said = Partial<Omit<RoutingOptions, 'models'>>

const named = {
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

/** The request with the routing defaults of its workspace. What it says itself wins, field by field. */
export function withDefaults(
  asked: InferenceRequest,
  { workspace }: Terms,
  { planning }: { readonly planning: Planning },
): InferenceRequest {
  const { routing: defaults } = workspace.body
  if (!defaults) return asked
  const { models, allow_fallbacks, ...options } = asked.routing
  const said: Said = saysFallbacks(asked) ? { allow_fallbacks, ...options } : options
  const laid = laidDown(defaults, planning.providers)
  const routing: RoutingOptions = { models, allow_fallbacks, ...laid, ...said, ...agreed(said, laid) }
  return remember({ ...asked, routing }, originalOf(asked))
}

/** The fields of `routing` that the request does not have, and its workspace's defaults say. Nothing where they say none. */
export function defaultedIn({ routing }: InferenceRequest, { workspace }: Terms): ReadonlySet<string> | undefined {
  const { routing: defaults } = workspace.body
  if (!defaults) return undefined
  const fields = Object.entries(named).flatMap(([field, name]) => (defaults[field as keyof RoutingDefaults] === undefined ? [] : [name]))
  return new Set(fields.filter(name => routing[name] === undefined))
}

/** A language reads what was not said as true; only what the caller wrote tells the two apart. Who wrote nothing said it as it is. */
function saysFallbacks(asked: InferenceRequest): boolean {
  const original = originalOf(asked)
  if (!original) return true
  const { gateway } = original.body
  const routing = isObject(gateway) ? gateway.routing : undefined
  return isObject(routing) && typeof routing.allow_fallbacks === 'boolean'
}

/** A provider that this gateway does not have any more is no mistake of the request. */
function laidDown(defaults: RoutingDefaults, providers: Planning['providers']): Said {
  const fields = Object.entries(defaults).filter(([, value]) => value !== undefined)
  return Object.fromEntries(
    fields.map(([field, value]) => [
      named[field as keyof RoutingDefaults],
      Array.isArray(value) ? value.filter(id => providers.has(id)) : value,
    ]),
  )
}

/** Two lists that contradict each other are a mistake in one request; of a default and a request the request is meant. */
function agreed(said: Said, laid: Said): Pick<Said, 'order' | 'only' | 'ignore'> {
  const only = said.only ?? laid.only?.filter(id => !said.ignore?.includes(id))
  const ignore = said.ignore ?? laid.ignore?.filter(id => !only?.includes(id))
  const isTheirs = said.order !== undefined
  const order = (said.order ?? laid.order)?.filter(
    id => (!only || (isTheirs && said.only) || only.includes(id)) && (!ignore || (isTheirs && said.ignore) || !ignore.includes(id)),
  )
  return { ...(only && { only }), ...(ignore && { ignore }), ...(order && { order }) }
}
