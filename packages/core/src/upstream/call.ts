import type { UsedSettings } from '@signalbox/dialects/common'
import type { Warning } from '@signalbox/dialects/protocol'
import type { RouterAttempt, RouterChoice, TrackedOffer } from '@signalbox/router'
import type { Candidate } from '../routing/plan.ts'
import type { Cancellation } from '../runtime/cancellation.ts'
import type { Answer } from './attempt.ts'

/** The candidate selected for the next call. */
export interface SelectedOffer {
  readonly candidate: Candidate
  /** The router's view of the offer. */
  readonly contender: TrackedOffer
  readonly choice: RouterChoice
}

/** One call to one candidate. */
export interface UpstreamCall {
  readonly selected: SelectedOffer
  /** Whether the conversation's reasoning state is left out. */
  readonly isStateless: boolean
  readonly ceilingMs: number
  readonly cancellation: Cancellation
  /** When the call was sent, in monotonic milliseconds. */
  sentAt?: number
  /** The tier named in the response headers. */
  statedTier?: string
  /** The router's attempt, from sending the call until its outcome is reported. */
  underway?: RouterAttempt | undefined
}

/** The call whose response reaches the client. */
export interface CommittedCall {
  readonly call: UpstreamCall
  readonly candidate: Candidate
  readonly answer: Answer
  readonly warnings: readonly Warning[]
  readonly used?: UsedSettings | undefined
}
