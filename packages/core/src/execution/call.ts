import type { Contender } from '../brain/belief.ts'
import type { Attempt, Choice } from '../brain/port.ts'
import type { Warning } from '../protocol/response.ts'
import type { Candidate } from '../routing/plan.ts'
import type { Ending } from '../runtime/ending.ts'
import type { Batches } from './commit.ts'
import type { Guarded } from './guard.ts'

/** Whose turn it is to be asked. */
export interface Turn {
  readonly candidate: Candidate
  /** As the brain knows it. */
  readonly contender: Contender
  readonly choice: Choice
}

/** One call to one candidate. */
export interface Call {
  readonly turn: Turn
  /** Without the reasoning state of the conversation. */
  readonly bare: boolean
  readonly ceilingMs: number
  readonly ending: Ending
  /** When it went out, in monotonic milliseconds. */
  sentAt?: number
  /** As the brain knows it, from when it goes out until it has been told how the call ended. */
  underway?: Attempt | undefined
}

/** The call that committed, its events, and what it took to get there. */
export interface Won {
  readonly call: Call
  readonly candidate: Candidate
  readonly events: Batches | Guarded
  readonly warnings: readonly Warning[]
}
