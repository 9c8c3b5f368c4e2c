/** The ways a provider call can fail. Failures are expected, so they are values; upstream/failure-policy.ts defines what follows. */
export type FailureKind =
  | 'client_left'
  | 'shut_down'
  | 'no_memory'
  | 'out_of_credit'
  | 'out_of_budget'
  | 'stale_state'
  | 'rejected'
  | 'policy'
  | 'too_long'
  | 'unsupported'
  | 'rate_limited'
  | 'out_of_quota'
  | 'timed_out'
  | 'deadline'
  | 'overloaded'
  | 'server_error'
  | 'unreadable'
  | 'unreachable'
  | 'bad_credential'
  | 'forbidden'
  | 'unknown_model'
  | 'unknown_address'

/** Why a provider call failed. */
export interface Failure {
  readonly kind: FailureKind
  /** Redacted and capped; safe to show to a client. */
  readonly message: string
  /** The provider's message, redacted and capped, if it is only for the operator's log. */
  readonly hiddenText?: string
  /** The provider's own error code, if any. */
  readonly code?: string
  readonly type?: string
  readonly param?: string
  /** The HTTP status of the provider's response. */
  readonly status?: number
  /** How long the provider asked the gateway to wait. */
  readonly retryAfterMs?: number
  readonly provider?: string
  /** The id of the rejected credential, if it belongs to the client's workspace. */
  readonly credential?: string
  /** Set if `message` is already written for the client and must not be rewritten. */
  readonly isForClient?: boolean
}
