import type { Candidate, Excluded, Plan } from './plan.ts'

/** The plan without some of its candidates, listed with the reason. Undefined if none would be left. */
export function restrictPlan(plan: Plan, leavesOut: (candidate: Candidate) => boolean, reason: string): Plan | undefined {
  const { candidates, excluded, ranks, pinned } = plan
  const [first, ...others] = candidates.filter(candidate => !leavesOut(candidate))
  if (!first) return undefined
  return {
    ...plan,
    candidates: [first, ...others],
    excluded: [...excluded, ...candidates.filter(leavesOut).map(candidate => excludedFor(candidate, reason))],
    ...(ranks && { ranks: ranks.filter((_, at) => !leavesOut(candidates[at] as Candidate)) }),
    ...(pinned && { pinned: pinned.filter(candidate => !leavesOut(candidate)) }),
  }
}

const excludedFor = ({ model, provider, offer, credential }: Candidate, reason: string): Excluded => ({
  model: model.id,
  provider: provider.id,
  provider_model_id: offer.model,
  code: 'routing_failed',
  reason,
  ...(credential.owner === 'workspace' && { byok_key_id: credential.id }),
})
