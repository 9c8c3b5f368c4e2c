import type { ErrorCode } from '../errors/codes.ts'
import { GatewayError } from '../errors/gateway-error.ts'
import type { Model } from '../protocol/model.ts'
import type { Provider } from '../protocol/provider.ts'
import type { InferenceRequest, RoutingOptions } from '../protocol/request.ts'
import type { Clock } from '../runtime/ports.ts'
import { type Question, rules } from './exclude.ts'
import type { HealthBook } from './health.ts'
import { type Needs, needsOf } from './needs.ts'
import type { Candidate, Excluded, Plan } from './plan.ts'
import { ranked, strategyNamed } from './rank.ts'
import type { Strategy } from './strategies.ts'

export interface Planning {
  readonly providers: ReadonlyMap<string, Provider>
  readonly find: (idOrAlias: string) => Model | undefined
  readonly nearest: (name: string) => readonly string[]
  readonly strategies: Readonly<Record<string, Strategy>>
  /** Of requests that name none. */
  readonly strategy: string
  readonly health: HealthBook
  readonly clock: Clock
  /** Images and files at addresses can be read for providers that take bytes only. */
  readonly readsMedia?: boolean
  /** Where in the conversation the candidate's own reasoning state stands last; nothing where it made none. */
  readonly lastMade?: (candidate: Candidate) => number | undefined
}

/** needs → candidates → exclude → rank. Throws where a name is wrong or nobody is left. */
export function makePlan(request: InferenceRequest, inputTokens: number, planning: Planning): Plan {
  const { routing } = request
  const strategy = routing.strategy ?? planning.strategy
  const rank = checkNames(routing, strategy, planning)
  const models = [
    ...new Set(routing.models.map((name, at) => modelNamed(name, routing.models.length > 1 ? `gateway.models[${at}]` : 'model', planning))),
  ]
  const needs = needsOf(request, inputTokens)
  const excluded: Excluded[] = []
  const able: Candidate[] = []
  for (const model of models) {
    for (const candidate of candidatesOf(model, planning.providers, excluded)) {
      const reason = whyNot(candidate, { needs, routing, readsMedia: planning.readsMedia ?? false })
      if (reason) excluded.push(reason)
      else able.push(candidate)
    }
  }
  const [first, ...rest] = ranked(preferNative(able, needs), {
    strategy: rank,
    order: routing.order,
    lastMade: planning.lastMade,
    health: planning.health,
    clock: planning.clock,
  })
  if (!first) throw nobodyLeft(models, excluded)
  const pinned = planning.lastMade ? able.filter(candidate => planning.lastMade?.(candidate) !== undefined) : []
  return { candidates: [first, ...rest], excluded, strategy, ...(pinned.length > 0 && { pinned }) }
}

function checkNames(routing: RoutingOptions, strategy: string, { strategies, providers }: Planning): Strategy {
  for (const field of ['order', 'only', 'ignore'] as const) {
    const index = routing[field]?.findIndex(id => !providers.has(id)) ?? -1
    if (index >= 0) {
      throw new GatewayError('invalid_parameter_value', {
        message: `gateway.routing.${field}[${index}] names the provider "${routing[field]?.[index]}", which this gateway does not have. It has: ${[...providers.keys()].join(', ')}.`,
        param: `gateway.routing.${field}[${index}]`,
      })
    }
  }
  const rank = strategyNamed(strategy, strategies)
  if (rank) return rank
  throw new GatewayError('invalid_parameter_value', {
    message: `gateway.routing.strategy is "${strategy}"; it takes ${Object.keys(strategies).join(', ')}.`,
    param: 'gateway.routing.strategy',
  })
}

function modelNamed(name: string, param: string, { find, nearest }: Planning): Model {
  const model = find(name)
  if (model) return model
  const close = nearest(name)
  throw new GatewayError('model_not_found', {
    message: `The model ${JSON.stringify(name.slice(0, 200))} does not exist.${close[0] === undefined ? '' : ` Did you mean "${close[0]}"?`}`,
    param,
    ...(close.length > 0 && { suggestion: `Similar models: ${close.join(', ')}.` }),
  })
}

/** Offers whose provider is not on, or has no credential, are no candidates; they are named all the same. */
function candidatesOf(model: Model, providers: ReadonlyMap<string, Provider>, excluded: Excluded[]): readonly Candidate[] {
  return model.offers.flatMap(offer => {
    const provider = providers.get(offer.provider)
    if (provider?.credential) return [{ model, offer, provider, credential: provider.credential }]
    const reason = provider ? 'this gateway has no credential for it' : 'this gateway does not have this provider'
    excluded.push({ model: model.id, provider: offer.provider, code: 'routing_failed', reason })
    return []
  })
}

function whyNot(candidate: Candidate, question: Question): Excluded | undefined {
  for (const { code, why, param } of rules) {
    const reason = why(candidate, question)
    if (reason !== undefined)
      return { model: candidate.model.id, provider: candidate.provider.id, code, reason, ...(param !== undefined && { param }) }
  }
  return undefined
}

/** Who can carry every tool as it is goes before who would leave one out. */
function preferNative(candidates: readonly Candidate[], { toolDialects }: Needs): readonly Candidate[] {
  if (toolDialects.length === 0) return candidates
  const native = candidates.filter(({ offer }) => toolDialects.every(dialect => dialect === offer.dialect))
  return native.length > 0 ? native : candidates
}

/** The field to change, where all who were left out for this code were so for the same one. */
function paramOf(code: ErrorCode, excluded: readonly Excluded[]): { readonly param?: string } {
  const params = new Set(excluded.filter(reason => reason.code === code).map(({ param }) => param))
  const [param] = params
  return params.size === 1 && param !== undefined ? { param } : {}
}

function nobodyLeft(models: readonly Model[], excluded: readonly Excluded[]): GatewayError {
  const code = rules.find(rule => excluded.some(reason => reason.code === rule.code))?.code ?? 'routing_failed'
  const reasons = excluded.slice(0, 10).map(({ model, provider, reason }) => `${provider} for ${model}: ${reason}`)
  const names = models.map(({ id }) => id).join(', ')
  return new GatewayError(code, {
    message: `No provider can serve this request with ${names}. ${reasons.length > 0 ? `Left out: ${reasons.join('; ')}.` : 'No provider offers it.'}`,
    ...paramOf(code, excluded),
  })
}
