import { GatewayError } from '../errors/gateway-error.ts'
import type { Model } from '../protocol/model.ts'
import { originalOf } from '../protocol/original.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import { isObject } from '../protocol/wire.ts'
import { type Candidates, candidatesOf, type Sources } from './candidates.ts'
import { checkRouting, quoted, unknownStrategy } from './check-routing.ts'
import { type Demands, needsOf, type Question } from './needs.ts'
import { nobodyLeft } from './nobody-left.ts'
import type { Candidate, Plan } from './plan.ts'
import { ranksOf } from './rank.ts'
import { sift } from './sift.ts'
import { type Ruling, strategyNamed } from './strategies.ts'
import { farthest, wishOf } from './wish.ts'

export interface Planning extends Sources {
  readonly find: (idOrAlias: string) => Model | undefined
  readonly nearest: (name: string) => readonly string[]
  readonly strategies: Readonly<Record<string, Ruling>>
  /** Of requests that name none. */
  readonly strategy: string
  /** Of the caller's workspace, beside what the request says itself. */
  readonly demands?: Demands | undefined
  /** Fields of `routing` that come from the routing defaults of the caller's workspace, not from the request. */
  readonly defaulted?: ReadonlySet<string> | undefined
  /** Images and files at addresses can be read for providers that take bytes only. */
  readonly readsMedia?: boolean
  /** Where in the conversation the candidate's own reasoning state stands last; nothing where it made none. */
  readonly lastMade?: (candidate: Candidate) => number | undefined
}

/** needs → candidates → exclude → who goes before whom, whatever the strategy. Throws where a name is wrong or nobody is left. */
export function makePlan(request: InferenceRequest, inputTokens: number, planning: Planning): Plan {
  const { routing } = request
  const { strategies, providers, lastMade } = planning
  checkRouting(routing, providers)
  const name = routing.strategy ?? planning.strategy
  const ruling = strategyNamed(name, strategies)
  if (ruling === undefined) throw unknownStrategy(name, Object.keys(strategies), planning.defaulted?.has('strategy'))
  const models = modelsOf(request, planning)
  const found = models.map(model => candidatesOf(model, planning))
  const question: Question = {
    needs: needsOf(request, inputTokens),
    routing,
    demands: planning.demands ?? {},
    defaulted: planning.defaulted,
    readsMedia: planning.readsMedia ?? false,
    responsesOnly: new Set(models.filter((_, at) => found[at]?.responsesOnly)),
  }
  const { able, excluded: sifted } = sift(allOf(found), question)
  const excluded = [...found.flatMap(({ missing }) => missing), ...sifted]
  const [first, ...rest] = able
  if (!first) throw nobodyLeft(models, excluded)
  const asGiven = ruling === 'order'
  const ranks = ranksOf(able, { order: routing.order, wish: wishIn(asGiven ? models : [], question), lastMade, asGiven })
  const pinned = lastMade ? able.filter(candidate => lastMade(candidate) !== undefined) : []
  return {
    candidates: [first, ...rest],
    excluded,
    strategy: name,
    ruling,
    ...(ranks && { ranks }),
    ...(pinned.length > 0 && { pinned }),
  }
}

/** Those named, each once: an alias beside its model asks for nothing more. */
function modelsOf(request: InferenceRequest, planning: Planning): readonly Model[] {
  const { models } = request.routing
  const inPool = models.length > 1 || namesPool(request)
  return [...new Set(models.map((name, at) => modelNamed(name, inPool ? `gateway.models[${at}]` : 'model', planning)))]
}

/** A pool of one is still named where its caller wrote it. */
function namesPool(request: InferenceRequest): boolean {
  const gateway = originalOf(request)?.body.gateway
  return isObject(gateway) && Array.isArray(gateway.models)
}

function modelNamed(name: string, param: string, { find, nearest }: Planning): Model {
  const model = find(name)
  if (model) return model
  const close = nearest(name)
  throw new GatewayError('model_not_found', {
    message: `The model ${quoted(name)} does not exist.${close[0] === undefined ? '' : ` Did you mean "${close[0]}"?`}`,
    param,
    ...(close.length > 0 && { suggestion: `Similar models: ${close.join(', ')}.` }),
  })
}

const allOf = (found: readonly Candidates[]): readonly Candidate[] =>
  found.length === 1 && found[0] ? found[0].all : found.flatMap(({ all }) => all)

/** What the caller wishes for; of models in an order of their own that order first. */
function wishIn(models: readonly Model[], question: Question): (candidate: Candidate) => number {
  const wish = wishOf(question)
  if (models.length < 2) return wish
  return candidate => models.indexOf(candidate.model) * farthest + wish(candidate)
}
