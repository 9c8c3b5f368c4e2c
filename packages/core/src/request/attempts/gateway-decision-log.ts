import { countsOf, decisionLogLimits, type Evidence, type Exclusion, evidenceOf, type Trace } from '@signalbox/router/decision-log'
import { requestIdOf } from '../../dialects/ids.ts'

/** The decisions of the last requests, in memory. */
export interface GatewayDecisionLog {
  /**
   * Why a request was routed as it was: every candidate with its estimates, the excluded offers and why, each attempt, and the cheapest,
   * the fastest and the most reliable choice. Undefined if it was not recorded, or is no longer kept.
   *
   * @example gateway.decisionLog.of(response.id)?.counterfactuals?.cheapest // or by `x-request-id`
   */
  of(requestOrAnswerId: string): Evidence | undefined
  /** Every decision that is kept: for `replay`, or to be stored with `encodeTrace`. */
  trace(): Trace
}

/** The decisions of one request. */
interface RoutedRequest {
  readonly trace: () => Trace
  readonly excluded: readonly Exclusion[]
  /** As the plan names it. */
  readonly strategy: string
  /** Of all exclusions. Absent: they are all there. */
  readonly counts?: Evidence['excluded_counts']
}

/** A decision log that takes requests. */
export interface RequestDecisionLog extends GatewayDecisionLog {
  keep(requestId: string, routed: RoutedRequest): void
}

/** `maxRequests`: the oldest one goes first. */
export function createGatewayDecisionLog(maxRequests: number, trace: () => Trace): RequestDecisionLog {
  const requests = new Map<string, RoutedRequest>()
  // One iterator for all removals: a new one would pass over the places of all requests that were removed before.
  const oldestFirst = requests.keys()
  return {
    keep(requestId, routed) {
      if (maxRequests <= 0) return
      const { length } = routed.excluded
      requests.set(requestId, length > decisionLogLimits.exclusions ? withFewerExclusions(routed) : routed)
      if (requests.size > maxRequests) requests.delete(oldestFirst.next().value as string)
    },
    of(requestId) {
      const routed = requests.get(requestId) ?? requests.get(requestIdOf({ id: requestId }))
      if (!routed) return undefined
      const evidence = evidenceOf(routed.trace(), routed.excluded, routed.strategy)
      return routed.counts ? { ...evidence, excluded_counts: routed.counts } : evidence
    },
    trace,
  }
}

const withFewerExclusions = (routed: RoutedRequest): RoutedRequest => ({
  ...routed,
  excluded: routed.excluded.slice(0, decisionLogLimits.exclusions),
  counts: countsOf(routed.excluded),
})
