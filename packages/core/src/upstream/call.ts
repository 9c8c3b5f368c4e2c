import type { RouterAttempt, RouterChoice, TrackedOffer } from '@signalbox/router'
import type { UsedSettings } from '../dialects/used-settings.ts'
import type { Warning } from '../protocol/response.ts'
import type { Candidate } from '../routing/plan.ts'
import type { Cancellation } from '../runtime/cancellation.ts'
import type { Answer } from './attempt.ts'

/** A candidate that is to be called now. */
export interface SelectedOffer {
  readonly candidate: Candidate
  /** What the router knows of it. */
  readonly contender: TrackedOffer
  readonly choice: RouterChoice
}

/** One call to one candidate. */
export interface UpstreamCall {
  readonly selected: SelectedOffer
  /** Without the reasoning state of the conversation. */
  readonly isStateless: boolean
  readonly ceilingMs: number
  readonly cancellation: Cancellation
  /** When it was sent, in monotonic milliseconds. */
  sentAt?: number
  /** The tier that the headers of the answer named. */
  statedTier?: string
  /** The router's attempt, from when the call is sent until its outcome is reported. */
  underway?: RouterAttempt | undefined
}

/** The call whose answer reaches the client. */
export interface CommittedCall {
  readonly call: UpstreamCall
  readonly candidate: Candidate
  readonly answer: Answer
  readonly warnings: readonly Warning[]
  readonly used?: UsedSettings | undefined
}
