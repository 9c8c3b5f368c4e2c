import type { ErrorCode } from '../errors/codes.ts'
import type { FailureKind } from '../protocol/failure.ts'

interface Verdict {
  /**
   * The same candidate may be asked again, only the others, or nobody: the request itself is at fault. `strip`: the same one at
   * once, without the state that it could not use.
   */
  readonly then: 'retry' | 'next' | 'stop' | 'strip'
  /** What the caller is told when this is the failure that we report. */
  readonly code: ErrorCode
  /** What is added to our sentence: the provider's words, a detail of our own, or nothing, since its words concern the operator. */
  readonly words: 'theirs' | 'ours' | 'none'
  /** How the candidate's health takes it. */
  readonly health: 'fault' | 'limited' | 'credential' | 'neutral'
}

/** Most telling first: when several candidates failed, the caller hears the topmost. docs/errors.md is written from this table. */
export const verdicts: Readonly<Record<FailureKind, Verdict>> = {
  client_left: { then: 'stop', code: 'client_disconnected', words: 'ours', health: 'neutral' },
  shut_down: { then: 'stop', code: 'service_unavailable', words: 'ours', health: 'neutral' },
  rejected: { then: 'stop', code: 'invalid_parameter_value', words: 'theirs', health: 'neutral' },
  policy: { then: 'stop', code: 'content_policy_violation', words: 'theirs', health: 'neutral' },
  too_long: { then: 'next', code: 'context_length_exceeded', words: 'theirs', health: 'neutral' },
  unsupported: { then: 'next', code: 'capability_mismatch', words: 'theirs', health: 'neutral' },
  rate_limited: { then: 'next', code: 'rate_limit_exceeded', words: 'theirs', health: 'limited' },
  deadline: { then: 'stop', code: 'deadline_exceeded', words: 'ours', health: 'neutral' },
  timed_out: { then: 'next', code: 'provider_timeout', words: 'ours', health: 'fault' },
  overloaded: { then: 'retry', code: 'server_is_overloaded', words: 'theirs', health: 'fault' },
  server_error: { then: 'retry', code: 'provider_error', words: 'theirs', health: 'fault' },
  unreadable: { then: 'next', code: 'provider_error', words: 'ours', health: 'fault' },
  unreachable: { then: 'retry', code: 'provider_error', words: 'ours', health: 'fault' },
  out_of_quota: { then: 'next', code: 'provider_error', words: 'none', health: 'credential' },
  bad_credential: { then: 'next', code: 'provider_error', words: 'none', health: 'credential' },
  unknown_model: { then: 'next', code: 'provider_error', words: 'none', health: 'fault' },
  // Asked again without the state, its maker has the last word.
  stale_state: { then: 'strip', code: 'invalid_parameter_value', words: 'theirs', health: 'neutral' },
}

const order = Object.keys(verdicts)

/** Index of the failure that the caller hears. */
export const mostTelling = (failures: readonly { readonly kind: FailureKind }[]): number =>
  failures.reduce((best, failure, at) => (order.indexOf(failure.kind) < order.indexOf(failures[best]?.kind ?? '') ? at : best), 0)
