import type { Model, Offer } from '../protocol/model.ts'
import type { Credential, Provider } from '../protocol/provider.ts'

/** One way to get the answer: a model as a provider sells it, and the credential to ask with. */
export interface Candidate {
  readonly model: Model
  readonly offer: Offer
  readonly provider: Provider
  readonly credential: Credential
}

/** Who will be asked, in order, and who was left out, and why, in words. */
export interface Plan {
  readonly candidates: readonly [Candidate, ...Candidate[]]
  readonly excluded: readonly Excluded[]
  readonly strategy: string
  /** Those that made reasoning state of the conversation: they are asked first, and the others do without it. */
  readonly pinned?: readonly Candidate[]
}

export interface Excluded {
  readonly model: string
  readonly provider: string
  readonly provider_model_id: string
  /** Why, as the code that the caller hears when nobody is left. */
  readonly code: ExclusionCode
  readonly reason: string
  /** The field of the request that decided it. */
  readonly param?: string
}

export type ExclusionCode =
  | 'routing_constraint_unsatisfiable'
  | 'capability_mismatch'
  | 'context_length_exceeded'
  | 'non_streaming_not_supported'
  | 'tool_choice_required_not_supported'
  | 'input_requires_responses_endpoint'
  | 'response_api_only'
  | 'routing_failed'
