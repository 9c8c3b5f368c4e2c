import type { UsageResult } from '@signalbox/storage'
import { countsOf, type Evidence, type Exclusion, evidenceOf, evidenceOfSummary } from '../../brain/evidence.ts'
import type { FlightSummary } from '../../brain/flight-summary.ts'
import { decodeTrace } from '../../brain/trace.ts'
import { fnv1a } from '../../runtime/fnv.ts'

// The routing of one request as a usage row keeps it: whoever reads the row, in whatever process, can be told why.

/** Bytes of decisions that a row keeps: the first, and more while they fit in. */
const mostTrace = 1_024
const mostExcluded = 6
const mostReason = 120

export interface Keeping {
  readonly requestId: string
  /** Of requests that went as most do. */
  readonly share: number
  readonly attempts: number
  readonly result: UsageResult
}

/** Whether a row keeps all numbers: of what went another way than most, and of the others where the id says so, the same in whatever process. */
export const keepsEvidence = ({ requestId, share, attempts, result }: Keeping): boolean =>
  share > 0 && (attempts !== 1 || (result !== 'ok' && result !== 'incomplete') || share >= 1 || fractionOf(requestId) < share)

function fractionOf(text: string): number {
  const sum = fnv1a(text)
  return (Math.imul(sum ^ (sum >>> 15), 0x2c1b3c6d) >>> 0) / 2 ** 32
}

/** About 2 kB at the most. `trace`: the decisions as text, in at most so many bytes. */
export const evidenceText = (trace: (most: number) => string, excluded: readonly Exclusion[]): string =>
  JSON.stringify({
    trace: trace(mostTrace),
    excluded: excluded.slice(0, mostExcluded).map(each => ({ ...each, reason: each.reason.slice(0, mostReason) })),
  })

/** About 300 bytes: the order, the attempts and how many were left out by code, kept of every request. */
export const summaryText = (summary: FlightSummary, excluded: readonly Exclusion[]): string =>
  JSON.stringify({ summary, excluded: countsOf(excluded) })

/**
 * What `UsageRow.routing` tells: the evidence as `gateway.flights.of` gives it. Nothing where the row keeps none, or none that can
 * be read here. `strategy`: as the row names it.
 *
 * @example evidenceFrom(row.routing, row.strategy)?.counterfactuals?.cheapest
 */
export function evidenceFrom(text: string | undefined, strategy?: string): Evidence | undefined {
  if (text === undefined) return undefined
  try {
    const { trace, summary, excluded } = JSON.parse(text)
    if (summary) return evidenceOfSummary(summary, excluded, strategy)
    return evidenceOf(decodeTrace(trace), excluded, strategy)
  } catch {
    return undefined
  }
}
