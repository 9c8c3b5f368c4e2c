import { fnv1a } from '@signalbox/dialects/common'
import {
  checkEvidence,
  decisionLogLimits,
  type Evidence,
  type Exclusion,
  evidenceOf,
  routingSummary,
  type Trace,
} from '@signalbox/router/decision-log'
import type { UsageResult } from '@signalbox/storage'

/** Version of the evidence text in usage rows. Other versions are not read. */
const textVersion = 2

/** The inputs that determine how much evidence a usage row keeps. */
export interface EvidenceChoice {
  readonly requestId: string
  /** The share kept of requests that succeeded with one attempt. */
  readonly share: number
  readonly attempts: number
  readonly result: UsageResult
}

/**
 * Whether a usage row keeps full evidence: always if the request failed or needed another attempt, otherwise for a share of the
 * requests, chosen by id so that every process chooses the same ones.
 */
export const keepsFullEvidence = ({ requestId, share, attempts, result }: EvidenceChoice): boolean =>
  share > 0 && (attempts !== 1 || (result !== 'ok' && result !== 'incomplete') || share >= 1 || fractionOf(requestId) < share)

function fractionOf(text: string): number {
  const sum = fnv1a(text)
  return (Math.imul(sum ^ (sum >>> 15), 0x2c1b3c6d) >>> 0) / 2 ** 32
}

/** The routing data of one request. */
interface RoutedRequest {
  readonly trace: Trace
  readonly excluded: readonly Exclusion[]
  /** Strategy name from the plan. */
  readonly strategy: string
}

/** The evidence text of a usage row, within `decisionLogLimits`. Undefined if even the summary is too long. */
export function evidenceText({ trace, excluded, strategy }: RoutedRequest, isFull: boolean): string | undefined {
  const full = isFull && textWithinLimit(withinRowLimits(evidenceOf(trace, excluded, strategy)))
  return full || textWithinLimit({ detail: 'summary', ...routingSummary(attemptsWithinLimit(trace), excluded, strategy) })
}

const attemptsWithinLimit = (trace: Trace): Trace =>
  trace.decisions.length <= decisionLogLimits.rowAttempts
    ? trace
    : { ...trace, decisions: trace.decisions.slice(0, decisionLogLimits.rowAttempts) }

function textWithinLimit(kept: Partial<Evidence>): string | undefined {
  const text = JSON.stringify({ version: textVersion, ...kept })
  return text.length <= decisionLogLimits.rowText ? text : undefined
}

/** Keeps the first decision, and later ones until the limit on candidates is reached. */
function withinRowLimits(evidence: Evidence): Evidence {
  const { rowCandidates, rowAttempts, rowExclusions, rowReason } = decisionLogLimits
  let candidates = 0
  return {
    ...evidence,
    excluded: evidence.excluded.slice(0, rowExclusions).map(each => ({ ...each, reason: each.reason.slice(0, rowReason) })),
    decisions: evidence.decisions.filter((decision, index) => {
      candidates += decision.candidates.length
      return index === 0 || candidates <= rowCandidates
    }),
    attempts: evidence.attempts.slice(0, rowAttempts),
  }
}

/** Values for fields that a summary does not keep. */
const notKept = { prices: null, request: null, excluded: [], decisions: [], counterfactuals: null } as const

/**
 * The evidence in `UsageRow.routing`. Undefined if the row has none or its version is unknown.
 *
 * @example evidenceFrom(row.routing)?.counterfactuals?.cheapest
 */
export function evidenceFrom(text: string | undefined): Evidence | undefined {
  if (text === undefined) return undefined
  try {
    const { version, ...kept } = JSON.parse(text)
    const evidence: unknown = { ...notKept, ...kept }
    checkEvidence(evidence, 'routing')
    return version === textVersion ? evidence : undefined
  } catch {
    return undefined
  }
}
