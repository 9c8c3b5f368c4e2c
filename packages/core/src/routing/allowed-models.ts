import type { NamedModel } from '@signalbox/dialects/common'
import type { Model } from '@signalbox/dialects/protocol'
import type { RoutingQuery } from './needs.ts'
import type { Candidate } from './plan.ts'

// Models that a workspace or its caller may use: that of the request, and those that its tools name.

/** Whether a list has a model's id or one of its aliases. True without a list. */
export const isNamedIn = ({ id, aliases = [] }: Model, names: readonly string[] | undefined): boolean =>
  names === undefined || [id, ...aliases].some(name => names.includes(name))

interface ForbiddenModel extends NamedModel {
  /** What forbids it, as the start of a reason. */
  readonly by: string
}

/** The first model that a tool of the request names and that the workspace or the caller may not use at this candidate. */
export function forbiddenToolModel(candidate: Candidate, { demands, toolModels, find }: RoutingQuery): ForbiddenModel | undefined {
  const lists = [
    { by: "the workspace's settings do", names: demands.allowed_models },
    { by: 'the session of the caller does', names: demands.caller_models },
  ]
  for (const { by, names } of lists) {
    if (names === undefined) continue
    const allowed = namesAt(candidate, names, find)
    const forbidden = toolModels.find(({ name }) => !allowed.has(name))
    if (forbidden) return { ...forbidden, by }
  }
  return undefined
}

/** The names of models in a tool at the provider of a candidate: those of the gateway, and those that the provider sells them under. */
function namesAt({ provider }: Candidate, names: readonly string[], find: RoutingQuery['find']): ReadonlySet<string> {
  const allowed = new Set(names)
  for (const name of names) {
    const model = find(name)
    if (!model) continue
    for (const alias of [model.id, ...(model.aliases ?? [])]) allowed.add(alias)
    for (const offer of model.offers) if (offer.provider === provider.id) allowed.add(offer.model)
  }
  return allowed
}
