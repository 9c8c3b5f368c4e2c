import type { UsageResult } from '@signalbox/storage'
import { type Evidence, type Exclusion, evidenceOf } from '../brain/evidence.ts'
import { decodeTrace } from '../brain/trace.ts'
import { fnv1a } from '../runtime/fnv.ts'

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

/** What went another way than most is what is asked about. Of the others those whose id says so: the same in whatever process. */
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

/**
 * What `UsageRow.routing` tells: the evidence as `gateway.flights.of` gives it. Nothing where the row keeps none, or none that can
 * be read here. `strategy`: as the row names it.
 *
 * @example evidenceFrom(row.routing, row.strategy)?.counterfactuals?.cheapest
 */
export function evidenceFrom(text: string | undefined, strategy?: string): Evidence | undefined {
  if (text === undefined) return undefined
  try {
    const { trace, excluded } = JSON.parse(text)
    return evidenceOf(decodeTrace(trace), excluded, strategy)
  } catch {
    return undefined
  }
}
