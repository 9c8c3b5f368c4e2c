import type { InferenceRequest, Prompt } from '@signalbox/dialects/protocol'
import { budgetsOf, type KeyWithAncestors } from '../../access/accounts.ts'
import { isPrepaid, type WorkspacePolicy } from '../../access/workspace-policy.ts'
import { acceptsOutputCap, maxOutput, namedCap, outputCap, withOutputCap } from '../../metering/output-cap.ts'
import { type PromptSize, sizeOfPrompt } from '../../metering/prompt-size.ts'
import type { Candidate } from '../../routing/plan.ts'

// Whether credit or budgets limit the cost of a request, and the output cap that is sent because of it.

/**
 * Whether money limits calls with a platform key and with a BYOK key. Credit limits only the former; budgets that include BYOK limit both.
 */
interface Bounded {
  readonly platform: boolean
  readonly byok: boolean
}

export interface MoneyBounds {
  readonly size: PromptSize
  /** Maximum output tokens of a response from this candidate. */
  readonly maxOutput: (candidate: Candidate) => number
  /** The output cap to send to this candidate. Undefined if none is sent. */
  readonly sentCap: (candidate: Candidate) => number | undefined
  /** The request with the cap for this candidate. */
  readonly capped: (request: InferenceRequest, candidate: Candidate) => InferenceRequest
}

export interface MoneyBoundsInput {
  readonly policy: WorkspacePolicy
  readonly caller: KeyWithAncestors
  readonly prompt: Prompt
  /** Expected output tokens of a request without a cap. */
  readonly usualOutput: number
}

export function moneyBounds({ policy, caller, prompt, usualOutput }: MoneyBoundsInput): MoneyBounds {
  const bounded = boundedBy(policy, caller)
  const size = sizeOfPrompt(prompt, bounded.platform || bounded.byok)
  const capping = { usual: usualOutput, inputTokens: size.likely }
  const sentCap = (candidate: Candidate): number | undefined => {
    if (prompt.max_output_tokens !== undefined) return namedCap(candidate, prompt.max_output_tokens)
    const isBounded = candidate.credential.owner === 'workspace' ? bounded.byok : bounded.platform
    return isBounded && acceptsOutputCap(candidate, prompt) ? outputCap(candidate, prompt, capping) : undefined
  }
  return {
    size,
    maxOutput: candidate => maxOutput(candidate, prompt, capping),
    sentCap,
    capped(request, candidate) {
      const cap = sentCap(candidate)
      return cap === undefined ? request : withOutputCap(request, cap)
    },
  }
}

function boundedBy(policy: WorkspacePolicy, caller: KeyWithAncestors): Bounded {
  const enforced = budgetsOf(policy, caller).filter(({ body }) => body.enforce)
  return {
    platform: isPrepaid(policy.workspace.body) || enforced.length > 0,
    byok: enforced.some(({ body }) => body.includeByok),
  }
}
