import type { Model, Offer } from '@signalbox/dialects/protocol'
import type { Caller } from '../../access/caller.ts'
import { isNamedIn } from '../../routing/exclusion-rules.ts'
import { demandsFor } from '../../routing/make-plan.ts'
import { need } from '../../routing/needs.ts'
import { runSteps } from '../../runtime/steps.ts'
import { type PolicyPorts, policyFor } from '../policy/apply-policy.ts'

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
  const lanes = ports.planning.lanes.under(policy)
  return {
    key: JSON.stringify([demandsFor(lanes.demands, caller), [...policy.credentials.keys()].sort()]),
    of(model) {
      if (!isNamedIn(model, caller.models)) return []
      const { candidates, lacks } = lanes.of(model)
      const allowed = candidates.filter((_, index) => ((lacks[index] as number) & need.allowance) === 0)
      return [...new Set(allowed.map(({ offer }) => offer))]
    },
  }
}
