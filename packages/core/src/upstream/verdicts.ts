import type { AttemptFailure } from '@signalbox/router'
import type { ErrorCode } from '../errors/codes.ts'
import type { FailureKind } from '../protocol/failure.ts'

interface Verdict {
  /**
   * `retry`: the same candidate may be tried again. `next`: only others. `stop`: none, because the request is at fault. `strip`: the
   * same candidate at once, without the reasoning state that it could not use.
   */
  readonly then: 'retry' | 'next' | 'stop' | 'strip'
  /** The error code if this failure is reported to the client. */
  readonly code: ErrorCode
  /** What follows our message: the provider's message, a detail of our own, or nothing because it concerns the operator. */
  readonly words: 'theirs' | 'ours' | 'none'
  /** What the router learns of it. `left`: the call was ended for a reason that is not its provider's. */
  readonly teaches: AttemptFailure['kind'] | 'left'
}

/** Most informative first: if several candidates failed, the client gets the topmost. docs/errors.md is generated from this table. */
export const verdicts: Readonly<Record<FailureKind, Verdict>> = {
  client_left: { then: 'stop', code: 'client_disconnected', words: 'ours', teaches: 'left' },
  shut_down: { then: 'stop', code: 'service_unavailable', words: 'ours', teaches: 'left' },
  out_of_credit: { then: 'stop', code: 'insufficient_credits', words: 'ours', teaches: 'left' },
  out_of_budget: { then: 'stop', code: 'budget_exceeded', words: 'ours', teaches: 'left' },
  rejected: { then: 'stop', code: 'invalid_parameter_value', words: 'theirs', teaches: 'refused' },
  policy: { then: 'stop', code: 'content_policy_violation', words: 'theirs', teaches: 'refused' },
  too_long: { then: 'next', code: 'context_length_exceeded', words: 'theirs', teaches: 'refused' },
  unsupported: { then: 'next', code: 'capability_mismatch', words: 'theirs', teaches: 'refused' },
  rate_limited: { then: 'retry', code: 'rate_limit_exceeded', words: 'theirs', teaches: 'rate_limited' },
  deadline: { then: 'stop', code: 'deadline_exceeded', words: 'ours', teaches: 'left' },
  timed_out: { then: 'next', code: 'provider_timeout', words: 'ours', teaches: 'timeout' },
  overloaded: { then: 'retry', code: 'server_is_overloaded', words: 'theirs', teaches: 'error' },
  server_error: { then: 'retry', code: 'provider_error', words: 'theirs', teaches: 'error' },
  unreadable: { then: 'next', code: 'provider_error', words: 'ours', teaches: 'error' },
  unreachable: { then: 'retry', code: 'provider_error', words: 'ours', teaches: 'error' },
  out_of_quota: { then: 'next', code: 'provider_error', words: 'none', teaches: 'credential' },
  bad_credential: { then: 'next', code: 'provider_error', words: 'none', teaches: 'credential' },
  unknown_model: { then: 'next', code: 'provider_error', words: 'none', teaches: 'error' },
  // Asked again without the state, its maker has the last word.
  stale_state: { then: 'strip', code: 'invalid_parameter_value', words: 'theirs', teaches: 'refused' },
}

const order = Object.keys(verdicts)

/** Index of the failure that is reported to the client. */
export const mostInformative = (failures: readonly { readonly kind: FailureKind }[]): number =>
  failures.reduce((best, failure, at) => (order.indexOf(failure.kind) < order.indexOf(failures[best]?.kind ?? '') ? at : best), 0)
