import type { Credential, InferenceRequest } from '@signalbox/dialects/protocol'
import type { Candidate, Plan } from '../../routing/plan.ts'
import type { Cancellation } from '../../runtime/cancellation.ts'
import type { CallFacts, Hooks } from '../../runtime/ports.ts'
import type { AttemptedRequest, UpstreamEngine } from '../../upstream/attempt.ts'
import type { MoneyBounds } from '../policy/money-bounds.ts'
import type { Carried } from '../reasoning-state/open-state.ts'
import type { ByokWarningContext } from './byok-warnings.ts'

/** The parts of the gateway that the attempts of a request use. */
export interface AttemptEngine extends UpstreamEngine {
  readonly hooks: Hooks
  /** Called when a provider refuses a BYOK key, with the status of its response. */
  readonly onCredentialRefused?: ((workspaceId: string, credential: Credential, status: number | undefined) => void) | undefined
}

/** The request of all its attempts. */
export interface AttemptContext extends AttemptedRequest {
  readonly engine: AttemptEngine
  readonly facts: CallFacts
  readonly request: InferenceRequest
  readonly plan: Plan
  readonly bounds: Pick<MoneyBounds, 'capped'>
  /** The reasoning state of the conversation, if it has any. */
  readonly carried: Carried | undefined
  readonly cancellation: Cancellation
  /** Maximum number of calls for the request in total. */
  readonly maxCalls: number
  /** Maximum milliseconds for one attempt. */
  readonly ceilingMs: number
  /** Whether the client set a time limit shorter than the gateway's. */
  readonly isCeilingChosen: boolean
  /** Monotonic milliseconds. */
  readonly startedAt: number
  /** Maximum cost of a hedged call in USD. */
  readonly maxHedgeCost: number
  /** The policy of the workspace. */
  readonly policy: ByokWarningContext['policy']
  readonly attempts: Attempts
}

/** The record of a request's attempts, needed for settlement even if none succeeds. */
export interface Attempts {
  count: number
  /** Candidates that had accepted the request when it was cancelled there: they may bill it. */
  readonly discarded: Candidate[]
}
