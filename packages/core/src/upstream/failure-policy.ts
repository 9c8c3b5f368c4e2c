import type { ErrorCode } from '@signalbox/dialects/errors'
import type { FailureKind } from '@signalbox/dialects/protocol'
import type { AttemptFailure } from '@signalbox/router'

interface FailurePolicy {
  /**
   * `retry`: the same candidate may be tried again. `next`: only other candidates. `stop`: none, because the request itself is at fault.
   * `strip`: the same candidate at once, without the reasoning state that it could not use.
   */
  readonly action: 'retry' | 'next' | 'stop' | 'strip'
  /** The error code if this failure is reported to the client. */
  readonly code: ErrorCode
  /** What follows the gateway's message: the provider's message, a detail of the gateway, or nothing because it concerns the operator. */
  readonly detail: 'provider' | 'gateway' | 'none'
  /** How the router records it. `left`: not at all, because the cause is not the provider. */
  readonly recordedAs: AttemptFailure['kind'] | 'left'
}

/** Most informative first: if several candidates fail, the client gets the first of these. docs/errors.md is generated from this table. */
export const failurePolicies: Readonly<Record<FailureKind, FailurePolicy>> = {
  client_left: { action: 'stop', code: 'client_disconnected', detail: 'gateway', recordedAs: 'left' },
  shut_down: { action: 'stop', code: 'service_unavailable', detail: 'gateway', recordedAs: 'left' },
  no_memory: { action: 'stop', code: 'concurrent_requests_exceeded', detail: 'gateway', recordedAs: 'left' },
  out_of_credit: { action: 'stop', code: 'insufficient_credits', detail: 'gateway', recordedAs: 'left' },
  out_of_budget: { action: 'stop', code: 'budget_exceeded', detail: 'gateway', recordedAs: 'left' },
  rejected: { action: 'stop', code: 'invalid_parameter_value', detail: 'provider', recordedAs: 'refused' },
  policy: { action: 'stop', code: 'content_policy_violation', detail: 'provider', recordedAs: 'refused' },
  too_long: { action: 'next', code: 'context_length_exceeded', detail: 'provider', recordedAs: 'refused' },
  unsupported: { action: 'next', code: 'capability_mismatch', detail: 'provider', recordedAs: 'refused' },
  rate_limited: { action: 'retry', code: 'rate_limit_exceeded', detail: 'provider', recordedAs: 'rate_limited' },
  deadline: { action: 'stop', code: 'deadline_exceeded', detail: 'gateway', recordedAs: 'left' },
  timed_out: { action: 'next', code: 'provider_timeout', detail: 'gateway', recordedAs: 'timeout' },
  overloaded: { action: 'retry', code: 'server_is_overloaded', detail: 'provider', recordedAs: 'error' },
  server_error: { action: 'retry', code: 'provider_error', detail: 'provider', recordedAs: 'error' },
  unreadable: { action: 'next', code: 'provider_error', detail: 'gateway', recordedAs: 'error' },
  unreachable: { action: 'retry', code: 'provider_error', detail: 'gateway', recordedAs: 'error' },
  // May be about one file, object or model, or a firewall's dislike of the content: it pauses nothing.
  forbidden: { action: 'next', code: 'provider_error', detail: 'none', recordedAs: 'refused' },
  out_of_quota: { action: 'next', code: 'provider_error', detail: 'none', recordedAs: 'credential' },
  bad_credential: { action: 'next', code: 'provider_error', detail: 'none', recordedAs: 'credential' },
  unknown_model: { action: 'next', code: 'provider_error', detail: 'none', recordedAs: 'error' },
  unknown_address: { action: 'next', code: 'provider_error', detail: 'none', recordedAs: 'error' },
  // Retried without the state; the provider's message is reported if that fails too.
  stale_state: { action: 'strip', code: 'invalid_parameter_value', detail: 'provider', recordedAs: 'refused' },
}

const order = Object.keys(failurePolicies)

/** Index of the failure that is reported to the client. */
export const mostInformative = (failures: readonly { readonly kind: FailureKind }[]): number =>
  failures.reduce((best, failure, at) => (order.indexOf(failure.kind) < order.indexOf(failures[best]?.kind ?? '') ? at : best), 0)
