import { namedModels } from '@signalbox/dialects/common'
import { GatewayError } from '@signalbox/dialects/errors'
import type { InferenceRequest, Model } from '@signalbox/dialects/protocol'
import { isObject, originalOf } from '@signalbox/dialects/protocol'
import { candidateRanks, maxDistance, preferenceDistance } from './candidate-ranks.ts'
import { type CandidateSources, type Candidates, candidatesOf } from './candidates.ts'
import { checkRouting, quoted, unknownStrategy } from './check-routing.ts'
import { exclusionRules } from './exclusion-rules.ts'
import { filterCandidates, suitsSomeAccount } from './filter-candidates.ts'
import { type Demands, needsOf, type RoutingQuery, restrictsModels } from './needs.ts'
import type { Candidate, Excluded, Plan } from './plan.ts'
import { type ResolvedStrategy, strategyNamed } from './strategies.ts'

export interface PlanInput extends CandidateSources {
  readonly find: (idOrAlias: string) => Model | undefined
  readonly similarNames: (name: string) => readonly string[]
  readonly strategies: Readonly<Record<string, ResolvedStrategy>>
  /** The default strategy. */
  readonly strategy: string
  /** Restrictions of the workspace, in addition to those of the request. */
  readonly demands?: Demands | undefined
  /** Fields of `routing` that come from the routing defaults of the workspace, not from the request. */
  readonly defaulted?: ReadonlySet<string> | undefined
  /** Whether images and files at URLs can be downloaded for providers that take only bytes. */
  readonly readsMedia?: boolean
  /** BYOK keys of the workspace, by provider id, that cannot be used. */
  readonly unusableKeys?: ReadonlyMap<string, unknown> | undefined
  /** Position in the conversation of the candidate's latest reasoning state. Undefined if it has none. */
  readonly lastMade?: (candidate: Candidate) => number | undefined
}

/**
 * Plans a request: needs → candidates → filters → ranks. The router chooses among candidates of equal rank.
 *
 * @throws 400 or 404 for an unknown name, and the error of the first exclusion rule that applied if no candidate is left
 */
export function makePlan(request: InferenceRequest, inputTokens: number, input: PlanInput): Plan {
  const { routing } = request
  const { strategies, providers, lastMade } = input
  checkRouting(routing, providers)
  const name = routing.strategy ?? input.strategy
  const ruling = strategyNamed(name, strategies)
  if (ruling === undefined) throw unknownStrategy(name, Object.keys(strategies), input.defaulted?.has('strategy'))
  const named = modelsOf(request, input)
  const retired = named.some(isRetired) ? named.filter(isRetired) : noRetired
  const models = retired.length === 0 ? named : named.filter(model => !isRetired(model))
  if (models.length === 0 && retired[0]) throw retiredModelError(retired[0], paramOf(request, 0))
  const found = models.map(model => candidatesOf(model, input))
  const needs = needsOf(request, inputTokens)
  const { demands = {} } = input
  const query: RoutingQuery = {
    needs,
    routing,
    demands,
    defaulted: input.defaulted,
    readsMedia: input.readsMedia ?? false,
    responsesOnly: needs.natives.length > 0 ? new Set(models.filter((_, at) => found[at]?.responsesOnly)) : noModels,
    toolModels: restrictsModels(demands) ? namedModels(request.prompt) : noToolModels,
    find: input.find,
  }
  const { eligible, excluded: sifted } = filterCandidates(allOf(found), query)
  const offline = missingOf(found, query, input.unusableKeys)
  const excluded = retired.length + offline.length === 0 ? sifted : [...retired.map(retiredModel), ...offline, ...sifted]
  if (!isNonEmpty(eligible)) throw noCandidatesError(models, excluded)
  const ranks =
    eligible.length > 1
      ? ranksOf(eligible, { query, models, lastMade, byok: input.credentials !== undefined, keepsOrder: ruling === 'order' })
      : undefined
  const pinned = lastMade ? eligible.filter(candidate => lastMade(candidate) !== undefined) : []
  return {
    candidates: eligible,
    excluded,
    strategy: name,
    ruling,
    ...(ranks && { ranks }),
    ...(pinned.length > 0 && { pinned }),
  }
}

/** Offers without a credential, and whether an unusable key of the workspace is all that they lack. */
function missingOf(found: readonly Candidates[], query: RoutingQuery, unusable: PlanInput['unusableKeys']): readonly Excluded[] {
  if (!unusable) return found.length === 1 && found[0] ? found[0].missing : found.flatMap(({ missing }) => missing)
  const lacksOnlyKey = (candidate: Candidate | undefined): boolean =>
    candidate !== undefined && unusable.has(candidate.provider.id) && suitsSomeAccount(candidate, query)
  return found.flatMap(({ missing, missingWithKey }) =>
    missing.map((each, at) => (lacksOnlyKey(missingWithKey[at]) ? { ...each, byok_key_id: null } : each)),
  )
}

const isRetired = ({ status }: Model): boolean => status === 'retired'
const noRetired: readonly Model[] = []

const noModels: ReadonlySet<Model> = new Set()
const noToolModels: RoutingQuery['toolModels'] = []

const isNonEmpty = (candidates: readonly Candidate[]): candidates is Plan['candidates'] => candidates.length > 0

interface RankContext {
  readonly lastMade: PlanInput['lastMade']
  readonly query: RoutingQuery
  readonly models: readonly Model[]
  readonly byok: boolean
  readonly keepsOrder: boolean
}

const ranksOf = (
  eligible: readonly Candidate[],
  { query, models, lastMade, byok, keepsOrder }: RankContext,
): readonly number[] | undefined =>
  candidateRanks(eligible, {
    order: query.routing.order,
    distance: distanceIn(keepsOrder ? models : [], query),
    lastMade,
    byok,
    keepsOrder,
  })

/** The requested models without duplicates, such as an alias next to its model. */
function modelsOf(request: InferenceRequest, input: PlanInput): readonly Model[] {
  const models = request.routing.models.map((name, at) => input.find(name) ?? refuseModel(name, paramOf(request, at), input))
  return models.length === 1 ? models : [...new Set(models)]
}

/** The field that names a model of the request. */
const paramOf = (request: InferenceRequest, at: number): string =>
  request.routing.models.length > 1 || namesPool(request) ? `gateway.models[${at}]` : 'model'

/** Whether errors name the models as a pool, which may have one entry. */
function namesPool(request: InferenceRequest): boolean {
  const gateway = originalOf(request)?.body.gateway
  return isObject(gateway) && Array.isArray(gateway.models)
}

const retirementOf = ({ id, retiresAt, successor }: Model): string =>
  `${quoted(id)} was shut down${retiresAt === undefined ? '' : ` after ${retiresAt}`}${successor === undefined ? '' : `; its successor is ${quoted(successor)}`}`

/** Excludes a retired model without failing the other models of its pool. */
const retiredModel = (model: Model): Excluded => ({
  model: model.id,
  provider: model.author ?? 'unknown',
  provider_model_id: model.id,
  code: 'routing_failed',
  reason: retirementOf(model),
})

const retiredModelError = (model: Model, param: string): GatewayError =>
  new GatewayError('model_not_found', {
    message: `The model ${retirementOf(model)}.`,
    param,
    ...(model.successor !== undefined && { suggestion: `Use "${model.successor}" instead.` }),
  })

function refuseModel(name: string, param: string, { similarNames }: PlanInput): never {
  const close = similarNames(name)
  throw new GatewayError('model_not_found', {
    message: `The model ${quoted(name)} does not exist.${close[0] === undefined ? '' : ` Did you mean "${close[0]}"?`}`,
    param,
    ...(close.length > 0 && { suggestion: `Similar models: ${close.join(', ')}.` }),
  })
}

const allOf = (found: readonly Candidates[]): readonly Candidate[] =>
  found.length === 1 && found[0] ? found[0].all : found.flatMap(({ all }) => all)

/** Distance from the preferences of the request. If the models have an order, it takes precedence. */
function distanceIn(models: readonly Model[], query: RoutingQuery): (candidate: Candidate) => number {
  const wish = preferenceDistance(query)
  if (models.length < 2) return wish
  return candidate => models.indexOf(candidate.model) * maxDistance + wish(candidate)
}

/** Maximum reasons in a message. */
const maxReasons = 10

/**
 * The error if no candidate is left. It lists each excluded candidate with its reason, and has the code of the first exclusion rule that
 * applied. 503 if there was no candidate at all.
 */
function noCandidatesError(models: readonly Model[], excluded: readonly Excluded[]): GatewayError {
  const code = exclusionRules.find(rule => excluded.some(reason => reason.code === rule.code))?.code ?? 'routing_failed'
  const names = models.slice(0, maxReasons).map(({ id }) => id)
  // Credentials of one provider are often excluded for the same reason.
  const reasons = [...new Set(excluded.map(({ model, provider, reason }) => `${provider} for ${model}: ${reason}`))]
  const unnamed = reasons.length - maxReasons
  const excludedText = `Excluded: ${reasons.slice(0, maxReasons).join('; ')}${unnamed > 0 ? `; and ${unnamed} more` : ''}.`
  const deciding = excluded.filter(reason => reason.code === code)
  return new GatewayError(code, {
    message: `No provider can serve this request with ${names.join(', ')}${models.length > names.length ? ', …' : ''}. ${reasons.length > 0 ? excludedText : 'No provider offers it.'}`,
    ...decidingParam(deciding),
    ...suggestionOf(deciding, excluded),
  })
}

/** The field to change, if all deciding exclusions name the same one. For parts of a conversation, the first. */
function decidingParam(deciding: readonly Excluded[]): { readonly param?: string } {
  const [param, ...others] = new Set(deciding.map(reason => reason.param))
  return param !== undefined && (others.length === 0 || [param, ...others].every(isPartPath)) ? { param } : {}
}

const isPartPath = (param: string | undefined): boolean => param?.includes('[') === true

function suggestionOf(deciding: readonly Excluded[], excluded: readonly Excluded[]): { readonly suggestion?: string } {
  const { param } = decidingParam(deciding)
  if (param === 'gateway.routing.only' || param === 'gateway.routing.ignore') {
    const sellers = [...new Set(excluded.filter(({ code }) => code !== 'routing_failed').map(({ provider }) => provider))]
    return {
      suggestion: `The model is offered by ${sellers.slice(0, maxReasons).join(', ')}. If the request does not set the field, the routing defaults of the workspace do.`,
    }
  }
  const suggestion = deciding.find(reason => reason.param === param)?.suggestion
  return suggestion === undefined ? {} : { suggestion }
}
