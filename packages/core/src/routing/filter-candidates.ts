import { append } from '@signalbox/dialects/protocol'
import { type ExclusionRule, exclusionRules, isExcludedBy, type SoftFilter, softFilters } from './exclusion-rules.ts'
import type { RoutingQuery } from './needs.ts'
import type { Candidate, Excluded } from './plan.ts'

export interface FilteredCandidates {
  readonly eligible: readonly Candidate[]
  readonly excluded: readonly Excluded[]
}

/**
 * Splits candidates into those that can serve the request, in the given order, and those that cannot, each with a reason. `lacks`: by
 * index, the needs that a candidate may not meet.
 */
export function filterCandidates(candidates: readonly Candidate[], lacks: readonly number[], query: RoutingQuery): FilteredCandidates {
  const excluded: Excluded[] = []
  let eligible: readonly Candidate[] = []
  let lackedByEligible = 0
  for (let index = 0; index < candidates.length; index++) {
    const candidate = candidates[index] as Candidate
    const lacked = (lacks[index] as number) & query.bits
    const rule = lacked === 0 ? undefined : exclusionRules.find(each => (each.need & lacked) !== 0 && isExcludedBy(each, candidate, query))
    if (rule) excluded.push(excludedBy(rule, candidate, query))
    else {
      eligible = append(eligible, candidate)
      lackedByEligible |= lacked
    }
  }
  if (lackedByEligible === 0) return { eligible, excluded }
  for (const rule of softFilters) {
    if (eligible.length < 2 || (rule.need & lackedByEligible) === 0) continue
    const dropped = excludedSoftly(rule, eligible, query)
    if (dropped.size === 0) continue
    for (const candidate of dropped) excluded.push(excludedBy(rule, candidate, query))
    eligible = eligible.filter(candidate => !dropped.has(candidate))
  }
  return { eligible, excluded }
}

/** Whether a candidate could serve the request with some account at its provider. */
export const suitsSomeAccount = (candidate: Candidate, query: RoutingQuery): boolean =>
  !exclusionRules.some(rule => rule.dependsOnAccount !== true && (rule.need & query.bits) !== 0 && isExcludedBy(rule, candidate, query))

function excludedSoftly(rule: SoftFilter, able: readonly Candidate[], query: RoutingQuery): ReadonlySet<Candidate> {
  const failing = new Set(able.filter(candidate => isExcludedBy(rule, candidate, query)))
  if (failing.size === 0) return failing
  const better = able.filter(candidate => !failing.has(candidate))
  if (rule.unlessLast === 'any') return better.length > 0 ? failing : new Set()
  return new Set([...failing].filter(({ model }) => better.some(other => other.model === model)))
}

function excludedBy(rule: ExclusionRule, candidate: Candidate, query: RoutingQuery): Excluded {
  const { code } = rule
  const resolve = <T>(value: T | ((candidate: Candidate, query: RoutingQuery) => T)): T =>
    value instanceof Function ? value(candidate, query) : value
  const words = resolve(rule.reason)
  const param = resolve(rule.param)
  const suggestion = resolve(rule.suggestion)
  const { owner, id } = candidate.credential
  const isForAccount = rule.dependsOnAccount === true && suitsSomeAccount(candidate, query)
  const field = param?.startsWith(routingPath) ? param.slice(routingPath.length) : undefined
  const isDefault = field !== undefined && query.defaulted?.has(field) === true
  return {
    model: candidate.model.id,
    provider: candidate.provider.id,
    provider_model_id: candidate.offer.model,
    code,
    // A field that comes from the workspace's defaults is attributed to them, not to the request.
    reason: isDefault ? words.replaceAll(`\`${param}\``, `\`${field}\` of the workspace's routing defaults`) : words,
    param: param !== undefined && !isDefault ? param : undefined,
    suggestion,
    byok_key_id: isForAccount ? (owner === 'workspace' ? id : null) : undefined,
  }
}

const routingPath = 'gateway.routing.'
