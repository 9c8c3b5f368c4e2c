import type { InferenceRequest, Prompt } from '@signalbox/dialects/protocol'
import { budgetsOf, type KeyWithAncestors } from '../../access/accounts.ts'
import { isPrepaid, type WorkspacePolicy } from '../../access/workspace-policy.ts'
import { acceptsOutputCap, maxOutput, namedCap, type OutputCapOptions, outputCap, withOutputCap } from '../../metering/output-cap.ts'
import { type PromptSize, sizeOfPrompt } from '../../metering/prompt-size.ts'
import type { Candidate } from '../../routing/plan.ts'

/** Whether credit or budgets limit the cost of a request, and the output cap that is sent because of it. */
export class MoneyBounds {
  readonly size: PromptSize
  readonly #prompt: Prompt
  readonly #capping: OutputCapOptions
  /** Whether money limits calls with a platform key: credit, or an enforced budget. */
  readonly #limitsPlatform: boolean
  /** Whether money limits calls with a BYOK key: an enforced budget that includes them. */
  readonly #limitsByok: boolean

  /** `usualOutput`: expected output tokens of a request without a cap. */
  constructor(policy: WorkspacePolicy, caller: KeyWithAncestors, prompt: Prompt, usualOutput: number) {
    const enforced = budgetsOf(policy, caller).filter(({ body }) => body.enforce)
    this.#limitsPlatform = isPrepaid(policy.workspace.body) || enforced.length > 0
    this.#limitsByok = enforced.some(({ body }) => body.includeByok)
    this.#prompt = prompt
    this.size = sizeOfPrompt(prompt, this.#limitsPlatform || this.#limitsByok)
    this.#capping = { usual: usualOutput, inputTokens: this.size.likely }
  }

  /** Maximum output tokens of a response from this candidate. */
  maxOutput(candidate: Candidate): number {
    return maxOutput(candidate, this.#prompt, this.#capping)
  }

  /** The output cap to send to this candidate. Undefined if none is sent. */
  sentCap(candidate: Candidate): number | undefined {
    const prompt = this.#prompt
    if (prompt.max_output_tokens !== undefined) return namedCap(candidate, prompt.max_output_tokens)
    const isLimited = candidate.credential.owner === 'workspace' ? this.#limitsByok : this.#limitsPlatform
    return isLimited && acceptsOutputCap(candidate, prompt) ? outputCap(candidate, prompt, this.#capping) : undefined
  }

  /** The request with the cap for this candidate. */
  capped(request: InferenceRequest, candidate: Candidate): InferenceRequest {
    const cap = this.sentCap(candidate)
    return cap === undefined ? request : withOutputCap(request, cap)
  }
}
