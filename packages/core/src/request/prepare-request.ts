import type { InferenceRequest } from '@signalbox/dialects/protocol'
import type { Caller } from '../access/caller.ts'
import type { WorkspacePolicy } from '../access/workspace-policy.ts'
import { makePlan } from '../routing/make-plan.ts'
import type { Plan } from '../routing/plan.ts'
import type { ClaimMemory } from '../runtime/ports.ts'
import { type Step, wait } from '../runtime/steps.ts'
import type { Limits, Timeouts } from '../upstream/limits.ts'
import type { AdmissionWatch } from './admission-watch.ts'
import { type CacheKeyInput, cacheKeyOf } from './attempts/cache-key.ts'
import { hedges } from './attempts/hedging.ts'
import { checkContent } from './check-content.ts'
import { applyPolicy, type PolicyPorts } from './policy/apply-policy.ts'
import { MoneyBounds } from './policy/money-bounds.ts'
import { type Carried, openCarried } from './reasoning-state/open-state.ts'

/** A request that can be admitted: its workspace's policy is applied, its reasoning state is open, and its candidates are known. */
export interface PreparedRequest {
  readonly policy: WorkspacePolicy
  readonly request: InferenceRequest
  /** Whether later requests may refer to the items of its response. */
  readonly keepsItems: boolean
  /** Maximum cost of a hedged call in USD. */
  readonly maxHedgeCost: number
  readonly bounds: MoneyBounds
  /** Estimated. */
  readonly inputTokens: number
  /** The reasoning state of the conversation, if it has any. */
  readonly carried: Carried | undefined
  readonly plan: Plan
  /** Whether two providers may be called in parallel. */
  readonly hedge: boolean
  /** The same for all requests of one conversation. Undefined if no provider would cache the prompt. */
  readonly cacheKey: string | undefined
}

export interface PreparePorts extends PolicyPorts {
  readonly limits: Limits
  readonly timeouts: Timeouts
  /** Whether requests may be hedged if they do not specify it. */
  readonly hedge: boolean
}

interface PrepareOptions {
  readonly caller: Caller
  readonly claimMemory?: ClaimMemory | undefined
  readonly header?: CacheKeyInput['header']
  /** Gets the deadline of the request once the defaults of its workspace are known. */
  readonly admissionWatch?: AdmissionWatch | undefined
  /**
   * Whether only its input tokens are counted. It may then be without content, and is planned as a stream without input tokens, so that
   * prompts too long for every context window and stream-only offers can be counted.
   */
  readonly isCount?: boolean
}

/**
 * Prepares a request: policy, content, reasoning state, plan. Changes nothing that outlives the request.
 *
 * @throws 400 or 404 if the request is invalid, or no provider can serve it
 */
export function* prepareRequest(ports: PreparePorts, originalRequest: InferenceRequest, options: PrepareOptions): Step<PreparedRequest> {
  const { caller, admissionWatch, isCount = false } = options
  const { policy, request, defaulted, maxHedgeCost, keepsItems } = yield* applyPolicy(ports, originalRequest, options)
  if (admissionWatch) admissionWatch.deadlineMs = request.routing.deadline_ms ?? ports.timeouts.deadlineMs
  if (!isCount) checkContent(request.prompt)
  const carried = yield* wait(openCarried(request, caller, ports.ring))
  const bounds = new MoneyBounds(policy, caller, request.prompt, ports.limits.maxOutputTokens)
  const inputTokens = isCount ? 0 : bounds.size.likely
  const planned: InferenceRequest = isCount ? { ...request, delivery: 'stream' } : request
  const plan = makePlan(ports.planning, planned, inputTokens, { policy, caller, defaulted, lastMade: carried?.lastMade })
  const cacheKey = cacheKeyOf({ request, plan, inputTokens, workspaceId: caller.workspaceId, header: options.header })
  return { policy, request, keepsItems, maxHedgeCost, bounds, inputTokens, carried, plan, hedge: hedges(ports, request), cacheKey }
}
