import type { Contender } from '../brain/belief.ts'
import type { Attempt, Choice } from '../brain/port.ts'
import type { Warning } from '../protocol/response.ts'
import type { Candidate } from '../routing/plan.ts'
import type { Ending } from '../runtime/ending.ts'
import type { Answer } from './attempt.ts'

/** A candidate that is to be called now. */
export interface SelectedOffer {
  readonly candidate: Candidate
  /** What the router knows of it. */
  readonly contender: Contender
  readonly choice: Choice
}

/** One call to one candidate. */
export interface UpstreamCall {
  readonly selected: SelectedOffer
  /** Without the reasoning state of the conversation. */
  readonly isStateless: boolean
  readonly ceilingMs: number
  readonly ending: Ending
  /** When it went out, in monotonic milliseconds. */
  sentAt?: number
  /** As the router knows it, from when it goes out until it was told how the call ended. */
  underway?: Attempt | undefined
}

/** The call whose answer reaches the client. */
export interface CommittedCall {
  readonly call: UpstreamCall
  readonly candidate: Candidate
  readonly answer: Answer
  readonly warnings: readonly Warning[]
}
