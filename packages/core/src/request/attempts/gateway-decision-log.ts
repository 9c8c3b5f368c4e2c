import { requestIdOf } from '@signalbox/dialects/common'
import { countsOf, decisionLogLimits, type Evidence, type Exclusion, evidenceOf, type Trace } from '@signalbox/router/decision-log'

/** The routing decisions of the most recent requests, in memory. */
export interface GatewayDecisionLog {
  /**
   * Explains how a request was routed: every candidate with its estimates, the excluded offers with reasons, each attempt, and the
   * cheapest, fastest and most reliable choices. Undefined if it was not recorded or is no longer kept.
   *
   * @example gateway.decisionLog.of(response.id)?.counterfactuals?.cheapest // or by `x-request-id`
   */
  of(requestOrAnswerId: string): Evidence | undefined
  /** All kept decisions, for `replay` or to be stored with `encodeTrace`. */
  trace(): Trace
}

/** The decisions of one request. */
interface RoutedRequest {
  readonly trace: () => Trace
  readonly excluded: readonly Exclusion[]
  /** Strategy name from the plan. */
  readonly strategy: string
  /** Counts of all exclusions. Undefined if `excluded` is complete. */
  readonly counts?: Evidence['excluded_counts']
}

/** A decision log to which requests can be added. */
export interface RequestDecisionLog extends GatewayDecisionLog {
  keep(requestId: string, routed: RoutedRequest): void
}

/** `maxRequests`: the oldest request is removed first. */
export function createGatewayDecisionLog(maxRequests: number, trace: () => Trace): RequestDecisionLog {
  const requests = new Map<string, RoutedRequest>()
  // One iterator for all removals: a new one would have to skip the slots of all removed entries.
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
