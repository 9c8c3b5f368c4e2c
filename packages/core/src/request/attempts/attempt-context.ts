import type { InferenceRequest } from '@signalbox/dialects/protocol'
import type { Candidate, Plan } from '../../routing/plan.ts'
import type { Cancellation } from '../../runtime/cancellation.ts'
import type { CallFacts } from '../../runtime/ports.ts'
import type { AttemptLimits, AttemptOptions } from '../../upstream/attempt.ts'
import type { MoneyBounds } from '../policy/money-bounds.ts'
import type { Carried } from '../reasoning-state/open-state.ts'
import type { ByokWarningContext } from './byok-warnings.ts'
import type { Selection } from './select-offers.ts'

/** Context shared by all attempts of one request. */
export interface AttemptContext {
  readonly facts: CallFacts
  readonly request: InferenceRequest
  readonly plan: Plan
  readonly selection: Selection
  readonly bounds: Pick<MoneyBounds, 'capped'>
  /** The reasoning state of the conversation, if it has any. */
  readonly carried: Carried | undefined
  readonly cancellation: Cancellation
  readonly limits: AttemptLimits
  /** Maximum number of calls for the request in total. */
  readonly maxCalls: number
  /** Whether the client set a time limit shorter than the gateway's. */
  readonly isCeilingChosen: boolean
  /** Monotonic milliseconds. */
  readonly startedAt: number
  /** Maximum cost of a hedged call in USD. */
  readonly maxHedgeCost: number
  /** The policy of the workspace. */
  readonly policy: ByokWarningContext['policy']
  /** Whether the request is encoded with few copies. */
  readonly isLarge: boolean
  readonly claimMemory?: AttemptOptions['claimMemory']
  readonly attempts: Attempts
}

/** The record of a request's attempts, needed for settlement even if none succeeds. */
export interface Attempts {
  count: number
  /** Candidates that had accepted the request when it was cancelled there: they may bill it. */
  readonly discarded: Candidate[]
  /** The last candidate called. */
  last?: Candidate
}

/** Records that the candidate had accepted the request. It is billed once. */
export function noteDiscarded({ discarded }: Attempts, candidate: Candidate): void {
  if (!discarded.includes(candidate)) discarded.push(candidate)
}
