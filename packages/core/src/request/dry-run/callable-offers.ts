import type { InferenceRequest, Model, Offer } from '@signalbox/dialects/protocol'
import type { Caller } from '../../access/caller.ts'
import { candidatesOf } from '../../routing/candidates.ts'
import { isCallable } from '../../routing/filter-candidates.ts'
import { needsOf, type RoutingQuery } from '../../routing/needs.ts'
import { runSteps } from '../../runtime/steps.ts'
import { type PolicyPorts, planningUnder, policyFor } from '../policy/apply-policy.ts'

/** The offers that requests of a workspace can be sent to. */
export interface CallableOffers {
  /** The offers of one model that have a provider credential and a known price, and that the settings of the workspace allow. */
  of(model: Model): readonly Offer[]
  /** Cache key: equal for workspaces with the same settings and the same BYOK providers. */
  readonly key: string
}

/** The offers that a caller may be routed to, by the policy of its workspace. */
export async function callableOffers(ports: Pick<PolicyPorts, 'policies' | 'planning'>, caller: Caller): Promise<CallableOffers> {
  const policy = await runSteps(policyFor(ports, caller))
  const planning = planningUnder(ports.planning, policy, { caller })
  const demands = planning.demands ?? {}
  const query: RoutingQuery = {
    needs: needsOf(anyRequest, 0),
    routing: anyRequest.routing,
    demands,
    readsMedia: true,
    responsesOnly: new Set(),
    toolModels: [],
    find: planning.find,
  }
  return {
    key: JSON.stringify([demands, [...policy.credentials.keys()].sort()]),
    of(model) {
      const offers = candidatesOf(model, planning).all.filter(candidate => isCallable(candidate, query))
      return [...new Set(offers.map(({ offer }) => offer))]
    },
  }
}

/** A request without requirements. */
const anyRequest: InferenceRequest = { prompt: { input: [] }, routing: { models: [''], allow_fallbacks: true }, delivery: 'stream' }
