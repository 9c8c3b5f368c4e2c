import { providerDialects, responsesClient } from '@signalbox/dialects'
import { namedModels } from '@signalbox/dialects/common'
import type { InferenceRequest, JsonObject, Model, Offer, Provider } from '@signalbox/dialects/protocol'
import { directoryOf } from '@signalbox/workspaces'
import { lacksOf } from '../../src/routing/exclusion-rules.ts'
import { type FilteredCandidates, filterCandidates } from '../../src/routing/filter-candidates.ts'
import { Lanes } from '../../src/routing/lanes.ts'
import { makePlan, type PlanInput, type PlanScope } from '../../src/routing/make-plan.ts'
import { bitsOf, needsOf, type RoutingQuery } from '../../src/routing/needs.ts'
import { type Candidate, makeCandidate, type Plan } from '../../src/routing/plan.ts'
import { strategies } from '../../src/routing/strategies.ts'

// Requests and those who may serve them, as routing sees them.

export const price = { input: 1_000_000, output: 1_000_000 }

/** Somebody of whom nothing is known but a price. */
export const candidateOf = (offer: Partial<Offer>, provider: Partial<Provider> = {}): Candidate => {
  const sold: Offer = { provider: 'p', model: 'm', api: 'chat', price, ...offer }
  return makeCandidate({
    model: { id: 'm', offers: [sold] },
    offer: sold,
    provider: { id: sold.provider, dialects: [], endpoint: () => '', authorize: () => {}, ...provider },
    credential: { id: 'c', owner: 'platform', secret: '' },
  })
}

/** As a caller of POST /v1/responses says it. */
export const asking = (fields: JsonObject): InferenceRequest => responsesClient.decodeRequest({ model: 'm', input: 'Hi', ...fields })

export const questionOf = (
  request: InferenceRequest,
  more: Partial<RoutingQuery> & { readonly inputTokens?: number } = {},
): RoutingQuery => {
  const query = {
    needs: needsOf(request, more.inputTokens ?? 1),
    routing: request.routing,
    demands: {},
    readsMedia: false,
    responsesOnly: new Set<Model>(),
    toolModels: namedModels(request.prompt),
    find: () => undefined,
    ...more,
  }
  return { ...query, bits: bitsOf(query, 0) }
}

/** Which of these can serve the request. */
export const filtered = (candidates: readonly Candidate[], query: RoutingQuery): FilteredCandidates =>
  filterCandidates(
    candidates,
    candidates.map(each => lacksOf(each, query.demands)),
    query,
  )

export interface Selling {
  readonly providers: readonly Provider[]
  readonly models: readonly Model[]
}

/** The plan of a request, as the gateway makes it. */
export function planOf(
  request: InferenceRequest,
  { providers, models }: Selling,
  { inputTokens = 1, readsMedia, ...scope }: PlanScope & Pick<PlanInput, 'readsMedia'> & { readonly inputTokens?: number | undefined } = {},
): Plan {
  const { find, similarNames } = directoryOf(models, providers, { clock: { now: () => 0 } })
  const byId = new Map(providers.map(each => [each.id, each]))
  const planning = { providers: byId, lanes: new Lanes(byId), find, similarNames, strategies, strategy: 'order', readsMedia }
  return makePlan(planning, request, inputTokens, scope)
}

/** A provider that supports every dialect, with a platform credential. */
export const providerOf = (id: string, more: Partial<Provider> = {}): Provider => ({
  id,
  dialects: Object.values(providerDialects),
  credential: { id: `${id}-ours`, owner: 'platform', secret: 's' },
  endpoint: () => '',
  authorize: () => {},
  ...more,
})

export const offerOf = (provider: string, more: Partial<Offer> = {}): Offer => ({
  provider,
  model: `${provider}-m`,
  api: 'chat',
  price,
  ...more,
})

/** Who goes before whom, whatever the strategy: equals in the order given. */
export const inOrder = ({ candidates, ranks }: Plan): readonly Candidate[] =>
  candidates
    .map((candidate, at) => ({ candidate, rank: ranks?.[at] ?? 0 }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ candidate }) => candidate)

/** The same, as `provider for model`. */
export const orderOf = (plan: Plan): readonly string[] => inOrder(plan).map(({ provider, model }) => `${provider.id} for ${model.id}`)
