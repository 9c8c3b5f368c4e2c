import { aiSdkClient } from '@signalbox/ai-sdk/dialect'
import { messagesClient, responsesClient } from '@signalbox/dialects'
import { type ErrorCode, errorBody, GatewayError } from '@signalbox/dialects/errors'
import type { ClientDialect } from '@signalbox/dialects/protocol'

interface ErrorExample {
  readonly message: string
  readonly param?: string
  readonly suggestion?: string
  readonly provider?: string
}

/** A typical error for each code that a response can have. */
const errorExamples: Readonly<Partial<Record<ErrorCode, ErrorExample>>> = {
  invalid_request: { message: 'The request body is not valid JSON.' },
  unknown_parameter: { message: 'Unknown query parameter "pages".', param: 'pages' },
  unknown_field: { message: 'There is no field `nmae` here. Did you mean "name"?', param: 'nmae', suggestion: 'Did you mean "name"?' },
  missing_required_parameter: { message: '`input` is required.', param: 'input' },
  invalid_parameter_value: { message: '`temperature` must be a number from 0 to 2, got 3.', param: 'temperature' },
  field_immutable: {
    message: '`scopes` cannot be changed after creation. Create a new resource instead.',
    param: 'scopes',
  },
  capability_mismatch: { message: 'No provider of "gpt-5-mini" supports audio.', param: 'input[0].content[1]' },
  context_length_exceeded: { message: 'The input has more tokens than the context window of the model.', provider: 'groq' },
  content_policy_violation: { message: 'The provider rejected the content of the request.', provider: 'groq' },
  routing_constraint_unsatisfiable: { message: 'No provider fits `gateway.routing.only`.', param: 'gateway.routing.only' },
  response_api_only: { message: 'This model is only offered through /v1/responses.', suggestion: 'Call POST /v1/responses.' },
  input_requires_responses_endpoint: { message: 'No provider of this model supports stored files.', param: 'input[0].content[0]' },
  non_streaming_not_supported: { message: 'The providers of this model support streaming only. Set `stream: true`.', param: 'stream' },
  tool_choice_required_not_supported: { message: 'No provider of this model supports `tool_choice: required`.', param: 'tool_choice' },
  previous_response_not_found: { message: "Previous response with id 'resp_1' not found.", param: 'previous_response_id' },
  websocket_connection_limit_reached: {
    message: 'Responses websocket connection limit reached (60 minutes). Create a new websocket connection to continue.',
  },
  invalid_api_key: { message: 'The API key is missing or not valid.' },
  insufficient_credits: { message: 'The credit of the workspace does not cover this request.' },
  budget_exceeded: { message: 'The budget of this key is used up until 2030-02-01T00:00:00.000Z.' },
  operation_not_allowed: { message: 'This key lacks the scope "keys:write".' },
  resource_not_found: { message: 'There is no API key "01a1fd6c-4db3-76f2-bb09-734d779bb6f4" in this workspace.' },
  routing_evidence_not_kept: { message: 'The routing evidence of this request is no longer stored.' },
  model_not_found: {
    message: 'Model "gpt-5-mni" does not exist. Did you mean "gpt-5-mini"?',
    param: 'model',
    suggestion: 'Did you mean "gpt-5-mini"?',
  },
  method_not_allowed: { message: 'PUT is not allowed for this path. Allowed: GET, HEAD, OPTIONS.' },
  upgrade_required: {
    message: 'WebSocket is not available on this endpoint. Send the request with POST; `stream: true` streams the response.',
  },
  duplicate_resource: { message: 'A budget with this name already exists.', param: 'name' },
  state_precondition_failed: { message: 'The last owner of a workspace cannot be removed.' },
  idempotency_replay_unavailable: {
    message:
      'A request with this Idempotency-Key has already completed, and its response is no longer stored. Read the resource, or use another key.',
  },
  request_too_large: { message: 'The request body is larger than the limit of 33554432 bytes.' },
  unsupported_media_type: { message: 'The body must be JSON. Send Content-Type: application/json.' },
  requests_per_min_exceeded: { message: 'Rate limit reached for this key: 600 requests per minute. Try again in 12 s.' },
  tokens_per_min_exceeded: {
    message:
      'Token limit reached for this key: fewer tokens are left in this minute than the request may use (900; the limit is 20000 per minute). Try again in 12 s, or lower `max_output_tokens`.',
  },
  concurrent_requests_exceeded: { message: 'This key has reached its limit of 10 concurrent requests. Wait for one to finish.' },
  rate_limit_exceeded: { message: 'The provider rate limited the request. Try again in 2 s.', provider: 'groq' },
  internal_error: { message: 'Internal error. Please report request 01a1fd6c-4db3-76f2-bb09-734d779bb6f4.' },
  provider_error: { message: 'The provider failed with status 500.', provider: 'groq' },
  routing_failed: { message: 'No provider could be called.' },
  server_is_overloaded: { message: 'The provider is overloaded.', provider: 'groq' },
  service_unavailable: { message: 'The storage of the gateway is unavailable. Try again in a moment.' },
  provider_timeout: { message: 'The provider did not respond in time.', provider: 'groq' },
  deadline_exceeded: { message: 'The request exceeded its deadline.' },
}

/** Dialects with their own error shape. The others use that of the Responses API. */
const errorDialects: ReadonlyMap<string | undefined, ClientDialect> = new Map([messagesClient, aiSdkClient].map(each => [each.name, each]))

const clientOf = (dialect: string | undefined): ClientDialect => errorDialects.get(dialect) ?? responsesClient

/** The name of a code's example in the document, for endpoints of `dialect`. */
export const errorExampleName = (code: ErrorCode, dialect: string | undefined): string =>
  clientOf(dialect) === responsesClient ? code : `${dialect}.${code}`

/** The example of a code in the shape of `dialect`. */
export function errorExample(code: ErrorCode, dialect: string | undefined): object {
  const { encodeError } = clientOf(dialect)
  const error = new GatewayError(code, errorExamples[code] ?? { message: code })
  return { summary: error.message, value: encodeError({ ...errorBody(error), request_id: '01a1fd6c-4db3-76f2-bb09-734d779bb6f4' }) }
}
