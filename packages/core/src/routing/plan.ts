import type { Model, Offer } from '../protocol/model.ts'
import type { Credential, Provider } from '../protocol/provider.ts'
import type { Ruling } from './strategies.ts'

/** One way to get the answer: a model as a provider sells it, and the credential to ask with. */
export interface Candidate {
  readonly model: Model
  readonly offer: Offer
  readonly provider: Provider
  readonly credential: Credential
}

/** Who may be asked, by what they are chosen, and who was left out, and why, in words. */
export interface Plan {
  /** In the order in which models, offers and credentials were given. */
  readonly candidates: readonly [Candidate, ...Candidate[]]
  readonly excluded: readonly Excluded[]
  /** By name. */
  readonly strategy: string
  readonly ruling: Ruling
  /** For each candidate what stands above the strategy: lower goes first, and the strategy decides among equals. Absent: among all. */
  readonly ranks?: readonly number[]
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
