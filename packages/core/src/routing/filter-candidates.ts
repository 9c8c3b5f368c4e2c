import { append } from '@signalbox/dialects/protocol'
import { type ExclusionRule, exclusionRules } from './exclusion-rules.ts'
import type { RoutingQuery } from './needs.ts'
import type { Candidate, Excluded, ExclusionCode } from './plan.ts'
import { type SoftFilter, softFilters } from './soft-filters.ts'

export interface FilteredCandidates {
  readonly eligible: readonly Candidate[]
  readonly excluded: readonly Excluded[]
}

/** Splits candidates into those that can serve the request, in the given order, and those that cannot, each with a reason. */
export function filterCandidates(candidates: readonly Candidate[], query: RoutingQuery): FilteredCandidates {
  const excluded: Excluded[] = []
  let eligible: readonly Candidate[] = []
  const rules = exclusionRules.filter(rule => rule.applies(query))
  for (const candidate of candidates) {
    const rule = firstExcluding(rules, candidate, query)
    if (rule) excluded.push(excludedBy(rule, candidate, query))
    else eligible = append(eligible, candidate)
  }
  for (const rule of softFilters) {
    if (eligible.length < 2 || !rule.applies(query)) continue
    const dropped = excludedSoftly(rule, eligible, query)
    if (dropped.size === 0) continue
    for (const candidate of dropped) excluded.push(excludedBy(rule, candidate, query))
    eligible = eligible.filter(candidate => !dropped.has(candidate))
  }
  return { eligible, excluded }
}

/** Whether a candidate has a price and the workspace's settings allow it, regardless of the needs of the request. */
export const isCallable = (candidate: Candidate, query: RoutingQuery): boolean =>
  !exclusionRules.some(rule => ofEveryRequest.has(rule.code) && rule.applies(query) && rule.excludes(candidate, query))

/** Whether a candidate could serve the request with some account at its provider. */
export const suitsSomeAccount = (candidate: Candidate, query: RoutingQuery): boolean =>
  !exclusionRules.some(rule => rule.dependsOnAccount !== true && rule.applies(query) && rule.excludes(candidate, query))

const ofEveryRequest: ReadonlySet<ExclusionCode> = new Set(['routing_constraint_unsatisfiable', 'routing_failed'])

/** On the hot path, so it allocates no closure. */
function firstExcluding(rules: readonly ExclusionRule[], candidate: Candidate, query: RoutingQuery): ExclusionRule | undefined {
  for (const rule of rules) if (rule.excludes(candidate, query)) return rule
  return undefined
}

function excludedSoftly({ unlessLast, excludes }: SoftFilter, able: readonly Candidate[], query: RoutingQuery): ReadonlySet<Candidate> {
  const failing = new Set(able.filter(candidate => excludes(candidate, query)))
  if (failing.size === 0) return failing
  const better = able.filter(candidate => !failing.has(candidate))
  if (unlessLast === 'any') return better.length > 0 ? failing : new Set()
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
    ...(param !== undefined && !isDefault && { param }),
    ...(suggestion !== undefined && { suggestion }),
    ...(isForAccount && { byok_key_id: owner === 'workspace' ? id : null }),
  }
}

const routingPath = 'gateway.routing.'
