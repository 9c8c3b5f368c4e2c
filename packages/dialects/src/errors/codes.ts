/** An error code: its HTTP status and type, and whether a client may send the same request again. */
export interface ErrorCodeRow {
  readonly status: number
  readonly type: string
  /** Sending the same request again cannot help. `shouldRetry` of an error overrides it. */
  readonly retry?: false
  /** Part of the public contract, but not thrown by any route of this version. */
  readonly reserved?: true
}

/** The error codes. docs/errors.md is generated from this table. */
export const codes = {
  invalid_request: { status: 400, type: 'invalid_request_error' },
  unknown_parameter: { status: 400, type: 'invalid_request_error' },
  unknown_field: { status: 400, type: 'invalid_request_error' },
  missing_required_parameter: { status: 400, type: 'invalid_request_error' },
  invalid_parameter_value: { status: 400, type: 'invalid_request_error' },
  field_immutable: { status: 400, type: 'invalid_request_error' },
  capability_mismatch: { status: 400, type: 'invalid_request_error' },
  context_length_exceeded: { status: 400, type: 'invalid_request_error' },
  content_policy_violation: { status: 400, type: 'invalid_request_error' },
  routing_constraint_unsatisfiable: { status: 400, type: 'invalid_request_error' },
  response_api_only: { status: 400, type: 'invalid_request_error' },
  input_requires_responses_endpoint: { status: 400, type: 'invalid_request_error' },
  non_streaming_not_supported: { status: 400, type: 'invalid_request_error' },
  tool_choice_required_not_supported: { status: 400, type: 'invalid_request_error' },
  previous_response_not_found: { status: 400, type: 'invalid_request_error' },
  websocket_connection_limit_reached: { status: 400, type: 'invalid_request_error' },
  invalid_recovery_code: { status: 400, type: 'invalid_request_error', reserved: true },
  invalid_api_key: { status: 401, type: 'authentication_error' },
  mfa_verification_failed: { status: 401, type: 'authentication_error', reserved: true },
  insufficient_credits: { status: 402, type: 'billing_error', retry: false },
  budget_exceeded: { status: 402, type: 'billing_error', retry: false },
  operation_not_allowed: { status: 403, type: 'permission_error' },
  resource_not_found: { status: 404, type: 'not_found_error' },
  routing_evidence_not_kept: { status: 404, type: 'not_found_error' },
  model_not_found: { status: 404, type: 'not_found_error' },
  method_not_allowed: { status: 405, type: 'invalid_request_error' },
  duplicate_resource: { status: 409, type: 'conflict_error', retry: false },
  state_precondition_failed: { status: 409, type: 'conflict_error', retry: false },
  idempotency_replay_unavailable: { status: 409, type: 'conflict_error', retry: false },
  request_too_large: { status: 413, type: 'invalid_request_error' },
  unsupported_media_type: { status: 415, type: 'invalid_request_error' },
  upgrade_required: { status: 426, type: 'invalid_request_error' },
  requests_per_min_exceeded: { status: 429, type: 'rate_limit_error' },
  tokens_per_min_exceeded: { status: 429, type: 'rate_limit_error' },
  concurrent_requests_exceeded: { status: 429, type: 'rate_limit_error' },
  rate_limit_exceeded: { status: 429, type: 'rate_limit_error' },
  client_disconnected: { status: 499, type: 'client_error' },
  internal_error: { status: 500, type: 'server_error' },
  provider_error: { status: 502, type: 'provider_error', retry: false },
  routing_failed: { status: 503, type: 'routing_error', retry: false },
  server_is_overloaded: { status: 503, type: 'provider_error' },
  service_unavailable: { status: 503, type: 'server_error' },
  provider_timeout: { status: 504, type: 'provider_error', retry: false },
  deadline_exceeded: { status: 504, type: 'provider_error', retry: false },
} as const satisfies Readonly<Record<string, ErrorCodeRow>>

/** The code of a GatewayError, as in `error.code` of an error response. */
export type ErrorCode = keyof typeof codes

/** The row of a code, typed with the optional fields. */
export const codeRow = (code: ErrorCode): ErrorCodeRow => codes[code]
