import { namedModels } from '@signalbox/dialects/common'
import { GatewayError } from '@signalbox/dialects/errors'
import type { InferenceRequest, Model, Provider } from '@signalbox/dialects/protocol'
import { isObject, originalOf } from '@signalbox/dialects/protocol'
import { candidateRanks, maxDistance, preferenceDistance } from './candidate-ranks.ts'
import { checkRouting, quoted, unknownStrategyError } from './check-routing.ts'
import { exclusionRules } from './exclusion-rules.ts'
import { filterCandidates, suitsSomeAccount } from './filter-candidates.ts'
import type { Lane, LanePolicy, Lanes } from './lanes.ts'
import { bitsOf, type Demands, needsOf, type RoutingQuery } from './needs.ts'
import type { Candidate, Excluded, Plan } from './plan.ts'
import { type ResolvedStrategy, strategyNamed } from './strategies.ts'

/** What a gateway plans requests with. */
export interface PlanInput {
  readonly providers: ReadonlyMap<string, Provider>
  readonly lanes: Lanes
  readonly find: (idOrAlias: string) => Model | undefined
  readonly similarNames: (name: string) => readonly string[]
  readonly strategies: Readonly<Record<string, ResolvedStrategy>>
  /** The default strategy. */
  readonly strategy: string
  /** Whether images and files at URLs can be downloaded for providers that take only bytes. */
  readonly readsMedia?: boolean
}

/** The restrictions under which a request is planned. */
export interface PlanScope {
  readonly policy?: LanePolicy | undefined
  readonly caller?: Restricted | undefined
  /** Fields of `routing` that come from the routing defaults of the workspace, not from the request. */
  readonly defaulted?: ReadonlySet<string> | undefined
  /** Position in the conversation of the candidate's latest reasoning state. Undefined if it has none. */
  readonly lastMade?: ((candidate: Candidate) => number | undefined) | undefined
}

/** The fields of a caller that restrict its offers. */
interface Restricted {
  readonly models?: readonly string[] | undefined
  readonly isEndUser?: boolean | undefined
  readonly providerStorage?: boolean | undefined
}

/** What the workspace and the caller demand of every offer. */
export function demandsFor(demands: Demands, { models, isEndUser, providerStorage }: Restricted): Demands {
  const no_stored_fields = isEndUser === true && providerStorage !== true
  return models || no_stored_fields ? { ...demands, caller_models: models, no_stored_fields } : demands
}

/**
 * Plans a request: lanes → needs → filters → ranks. The router chooses among candidates of equal rank.
 *
 * @throws 400 or 404 for an unknown name, and the error of the first exclusion rule that applied if no candidate is left
 */
export function makePlan(planning: PlanInput, request: InferenceRequest, inputTokens: number, scope: PlanScope = {}): Plan {
  const { routing } = request
  const { policy, caller, defaulted, lastMade } = scope
  checkRouting(routing, planning.providers)
  const name = routing.strategy ?? planning.strategy
  const ruling = strategyNamed(name, planning.strategies)
  if (ruling === undefined) throw unknownStrategyError(name, Object.keys(planning.strategies), defaulted?.has('strategy'))
  const named = modelsOf(request, planning)
  const retired = named.some(isRetired) ? named.filter(isRetired) : noRetired
  const models = retired.length === 0 ? named : named.filter(model => !isRetired(model))
  if (models.length === 0 && retired[0]) throw retiredModelError(retired[0], paramOf(request, 0))
  const workspaceLanes = planning.lanes.under(policy)
  const demands = caller ? demandsFor(workspaceLanes.demands, caller) : workspaceLanes.demands
  const lanes = models.map(model => workspaceLanes.of(model))
  const lane = lanes.length === 1 ? (lanes[0] as Lane) : joined(lanes)
  const needs = needsOf(request, inputTokens)
  const asked = {
    needs,
    routing,
    demands,
    defaulted,
    readsMedia: planning.readsMedia ?? false,
    responsesOnly: needs.natives.length > 0 ? new Set(models.filter((_, index) => lanes[index]?.responsesOnly)) : noModels,
    toolModels: demands.allowed_models || demands.caller_models ? namedModels(request.prompt) : noToolModels,
    find: planning.find,
  }
  const query: RoutingQuery = { ...asked, bits: bitsOf(asked, lane.smallestInput) }
  const { eligible, excluded: filtered } = filterCandidates(lane.candidates, lane.lacks, query)
  const missing = missingOf(lane, query, policy?.unusableKeys)
  const excluded = retired.length + missing.length === 0 ? filtered : [...retired.map(retiredModel), ...missing, ...filtered]
  if (!isNonEmpty(eligible)) throw noCandidatesError(models, excluded)
  const keepsOrder = ruling === 'order'
  const ranks =
    eligible.length > 1
      ? candidateRanks(eligible, {
          order: routing.order,
          distance: distanceIn(keepsOrder ? models : [], query),
          lastMade,
          byok: policy !== undefined && policy.credentials.size > 0,
          keepsOrder,
        })
      : undefined
  const pinned = lastMade ? eligible.filter(candidate => lastMade(candidate) !== undefined) : []
  return { candidates: eligible, excluded, strategy: name, ruling, ranks, pinned: pinned.length > 0 ? pinned : undefined }
}

/** The lanes of a pool as one. */
const joined = (lanes: readonly Lane[]): Lane => ({
  candidates: lanes.flatMap(({ candidates }) => candidates),
  lacks: lanes.flatMap(({ lacks }) => lacks),
  smallestInput: Math.min(...lanes.map(({ smallestInput }) => smallestInput)),
  missing: lanes.flatMap(({ missing }) => missing),
  missingWithKey: lanes.flatMap(({ missingWithKey }) => missingWithKey),
  responsesOnly: lanes.every(({ responsesOnly }) => responsesOnly),
})

/** Offers without a credential, and whether an unusable key of the workspace is all that they lack. */
function missingOf({ missing, missingWithKey }: Lane, query: RoutingQuery, unusable: LanePolicy['unusableKeys']): readonly Excluded[] {
  if (!unusable) return missing
  return missing.map((each, index) => {
    const candidate = missingWithKey[index]
    const lacksOnlyKey = candidate !== undefined && unusable.has(candidate.provider.id) && suitsSomeAccount(candidate, query)
    return lacksOnlyKey ? { ...each, byok_key_id: null } : each
  })
}

const isRetired = ({ status }: Model): boolean => status === 'retired'
const noRetired: readonly Model[] = []

const noModels: ReadonlySet<Model> = new Set()
const noToolModels: RoutingQuery['toolModels'] = []

const isNonEmpty = (candidates: readonly Candidate[]): candidates is Plan['candidates'] => candidates.length > 0

/** The requested models without duplicates, such as an alias next to its model. */
function modelsOf(request: InferenceRequest, planning: PlanInput): readonly Model[] {
  const models = request.routing.models.map((name, index) => planning.find(name) ?? refuseModel(name, paramOf(request, index), planning))
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
    suggestion: model.successor === undefined ? undefined : `Use "${model.successor}" instead.`,
  })

function refuseModel(name: string, param: string, { similarNames }: PlanInput): never {
  const close = similarNames(name)
  throw new GatewayError('model_not_found', {
    message: `The model ${quoted(name)} does not exist.${close[0] === undefined ? '' : ` Did you mean "${close[0]}"?`}`,
    param,
    suggestion: close.length > 0 ? `Similar models: ${close.join(', ')}.` : undefined,
  })
}

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
