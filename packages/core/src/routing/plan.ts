import { type SoldOffer, soldOffer } from '@signalbox/dialects/common'
import type { Credential, Model, Offer, Provider, Rates } from '@signalbox/dialects/protocol'
import type { TrackedOffer } from '@signalbox/router'
import type { ResolvedStrategy } from './strategies.ts'

/** The parts of a candidate. */
interface CandidateParts {
  readonly model: Model
  readonly offer: Offer
  readonly provider: Provider
  readonly credential: Credential
}

/** The properties of a request for which the router tracks a candidate as a separate offer. */
export interface OfferVariant {
  /** The rates that this request pays. */
  readonly rates: Rates
  /** Whether the model reasons before it answers, during which it may be silent. */
  readonly thinking: boolean
}

/** A way to serve a request: an offer of a model and the credential to use, with the facts that calls depend on. */
export interface Candidate extends CandidateParts, SoldOffer {
  /** The router's offers for it. */
  readonly tracked: (OfferVariant & { readonly tracked: TrackedOffer })[]
}

/** A candidate with its facts, which are found here once. */
export const makeCandidate = (parts: CandidateParts): Candidate => ({ ...parts, ...soldOffer(parts), tracked: [] })

/** The candidates of a request, their ranks, and the excluded offers with reasons. */
export interface Plan {
  /** In the order in which models, offers and credentials are listed. */
  readonly candidates: readonly [Candidate, ...Candidate[]]
  readonly excluded: readonly Excluded[]
  /** The name of the strategy. */
  readonly strategy: string
  readonly ruling: ResolvedStrategy
  /** A rank for each candidate that takes precedence over the strategy: lower goes first. Absent if all are equal. */
  readonly ranks?: readonly number[]
  /** Candidates that created reasoning state of the conversation. They go first, and the others continue without it. */
  readonly pinned?: readonly Candidate[]
}

/** An offer that cannot serve a request, with the reason. */
export interface Excluded {
  readonly model: string
  readonly provider: string
  readonly provider_model_id: string
  /** The error code if no candidate is left. */
  readonly code: ExclusionCode
  readonly reason: string
  /** The field of the request that caused it. */
  readonly param?: string
  /** What the caller can do about it, unless the reason says it. */
  readonly suggestion?: string
  /**
   * Set if another key for the provider could serve the request: the id of the BYOK key that could not, or null if the operator has no
   * credential that can.
   */
  readonly byok_key_id?: string | null
}

export type ExclusionCode =
  | 'routing_constraint_unsatisfiable'
  | 'capability_mismatch'
  | 'context_length_exceeded'
  | 'non_streaming_not_supported'
  | 'tool_choice_required_not_supported'
  | 'input_requires_responses_endpoint'
  | 'response_api_only'
  | 'operation_not_allowed'
  | 'routing_failed'
