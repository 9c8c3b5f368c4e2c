import type { Caller, EarlyAdmission, Gateway, Scope, Workspace } from '@signalbox/core'
import type { ErrorCode } from '@signalbox/core/errors'
import type { JsonObject } from '@signalbox/core/protocol'
import type { Awaitable } from '@signalbox/core/runtime'
import type { Keeping } from './cache.ts'
import { catalogRoutes } from './catalog/routes.ts'
import type { Views } from './catalog/views.ts'
import type { ApiContext, ApiReply, ApiRequest } from './exchange.ts'
import type { Outages } from './fail.ts'
import { alive, ready } from './health.ts'
import type { HeavySteps } from './heavy-steps.ts'
import { me } from './identity.ts'
import { countTokens } from './inference/count.ts'
import { infer } from './inference/infer.ts'
import type { Line } from './line.ts'
import { managementRoutes } from './management/routes.ts'
import { openapi } from './openapi.ts'
import { beta, type QueryParameter } from './query.ts'
import type { SchemaName, Schemas } from './schemas.ts'
import type { Settings } from './settings.ts'
import type { Uploads } from './uploads.ts'

/** What a row's handler receives: everything already checked. */
export interface Call {
  readonly gateway: Gateway
  readonly site: Site
  readonly request: ApiRequest
  readonly requestId: string
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  readonly body: JsonObject
  readonly line: Line
  readonly context: ApiContext | undefined
  /** Of a call of a model whose body had not arrived: its rate and its slot, taken before the body was read. */
  readonly admission?: EarlyAdmission | undefined
}

/** What all calls of one API share. */
export interface Site {
  readonly routes: readonly Route[]
  readonly settings: Settings
  /** Names of the inference endpoints that are served, as in `supported_endpoints`. */
  readonly endpoints: readonly string[]
  /** Every body that is taken or given; made once, when first asked for. */
  readonly schemas: () => Schemas
  /** The OpenAPI document as JSON text; made once, when first asked for. */
  readonly document: () => string
  readonly views: Views
  /** The bodies that are under way. */
  readonly uploads: Uploads
  /** Large bodies are worked with one after the other. */
  readonly heavySteps: HeavySteps
  /** Outages of the storage that were logged. */
  readonly outages: Outages
}

interface RouteFacts {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  /** The class that a call counts against. `inference` is counted by the gateway itself, once the model is known. */
  readonly rate: 'none' | 'inference' | 'reads' | 'writes'
  readonly tier: 'stable' | 'preview'
  readonly summary: string
  /** In whose shape its errors are told. Default: `responses`. */
  readonly dialect?: string
  /** Where else than in `Authorization` its clients send their key. */
  readonly keyHeader?: 'x-api-key'
  /** What its clients call `x-request-id`; sent beside it. */
  readonly idHeader?: 'request-id'
  /** Name of an inference endpoint in `supported_endpoints`. */
  readonly endpoint?: string
  /** The query parameters that it knows; others are refused, but for calls of models, which ignore them. Absent: none is looked at. */
  readonly query?: readonly QueryParameter[]
  /** Schema of the JSON body, where it takes one. */
  readonly body?: SchemaName
  /** Its body is held to the schema at the door, field by field. Elsewhere the language of the row reads it. */
  readonly strict?: true
  /** Fields of the record that no change may name. */
  readonly immutable?: readonly string[]
  readonly reply: SchemaName
  /** Of a good answer. Default: 200. */
  readonly status?: 202
  /** Of an answer in the same shape that is no good one. */
  readonly orStatus?: 503
  /** What a good answer is written in. Default: `application/json`. */
  readonly media?: 'text/csv'
  /** A good answer holds a secret: it is said once, and kept nowhere. */
  readonly secret?: true
  /** A good answer has an `ETag`, may be kept by these, and is not sent again to who has it. */
  readonly cache?: Keeping
  /** Headers of its own that a good answer may have. */
  readonly replyHeaders?: readonly string[]
  /** Its errors beside those that every row of its kind may have. */
  readonly errors: readonly ErrorCode[]
  /** ISO dates: when the deprecation takes effect, and when the row may go. */
  readonly deprecated?: { readonly from: string; readonly removal: string }
}

export interface PublicRoute extends RouteFacts {
  readonly of?: undefined
  readonly needs: 'nothing'
  readonly handler: (call: Call) => Awaitable<ApiReply>
}

export interface KeyedRoute extends RouteFacts {
  readonly of?: undefined
  /** A list: any one of these scopes. */
  readonly needs: 'any key' | readonly string[]
  readonly handler: (call: Call, caller: Caller) => Awaitable<ApiReply>
}

/** A row of one workspace, that of the key: `:workspace_id` in its path. For a key of another one there is nothing here. */
export interface WorkspaceRoute extends RouteFacts {
  readonly of: 'workspace'
  /** Any one of these. */
  readonly needs: readonly Scope[]
  /** The workspace as the key may see and change it. */
  readonly handler: (call: Call, workspace: Workspace) => Awaitable<ApiReply>
}

export type Route = PublicRoute | KeyedRoute | WorkspaceRoute

/** What every call of a model may end in. */
const inferenceErrors = [
  'invalid_request',
  'invalid_parameter_value',
  'missing_required_parameter',
  'unknown_parameter',
  'unknown_field',
  'capability_mismatch',
  'context_length_exceeded',
  'content_policy_violation',
  'routing_constraint_unsatisfiable',
  'input_requires_responses_endpoint',
  'response_api_only',
  'non_streaming_not_supported',
  'tool_choice_required_not_supported',
  'insufficient_credits',
  'budget_exceeded',
  'model_not_found',
  'request_too_large',
  'unsupported_media_type',
  'tokens_per_min_exceeded',
  'concurrent_requests_exceeded',
  'rate_limit_exceeded',
  'provider_error',
  'routing_failed',
  'server_is_overloaded',
  'service_unavailable',
  'provider_timeout',
  'deadline_exceeded',
] as const satisfies readonly ErrorCode[]

/** Errors of token counting, which needs no answer of a provider and costs nothing. */
const countingErrors = [
  'invalid_request',
  'invalid_parameter_value',
  'missing_required_parameter',
  'unknown_parameter',
  'unknown_field',
  'capability_mismatch',
  'routing_constraint_unsatisfiable',
  'input_requires_responses_endpoint',
  'response_api_only',
  'non_streaming_not_supported',
  'tool_choice_required_not_supported',
  'model_not_found',
  'request_too_large',
  'unsupported_media_type',
  'concurrent_requests_exceeded',
  'routing_failed',
  'service_unavailable',
] as const satisfies readonly ErrorCode[]

/** How clients of the Messages language go about things, whatever they call. */
const messagesManners = { dialect: 'messages', keyHeader: 'x-api-key', idHeader: 'request-id', query: [beta] } as const

/** The whole API, one row per endpoint. The OpenAPI document and docs/api.md are written from this table. */
export const routes: readonly Route[] = [
  {
    method: 'POST',
    path: '/v1/responses',
    needs: ['inference:invoke'],
    rate: 'inference',
    tier: 'preview',
    summary: 'Create a response, whole or streamed.',
    dialect: 'responses',
    endpoint: 'responses',
    query: [],
    body: 'CreateResponse',
    reply: 'Response',
    errors: inferenceErrors,
    handler: infer('responses'),
  },
  {
    method: 'POST',
    path: '/v1/chat/completions',
    needs: ['inference:invoke'],
    rate: 'inference',
    tier: 'stable',
    summary: 'Create a chat completion, whole or streamed.',
    dialect: 'chat',
    endpoint: 'chat_completions',
    query: [],
    body: 'CreateChatCompletion',
    reply: 'ChatCompletion',
    errors: inferenceErrors,
    handler: infer('chat'),
  },
  {
    ...messagesManners,
    method: 'POST',
    path: '/v1/messages',
    needs: ['inference:invoke'],
    rate: 'inference',
    tier: 'preview',
    summary: 'Create a message, whole or streamed.',
    endpoint: 'messages',
    body: 'CreateMessage',
    reply: 'Message',
    errors: inferenceErrors,
    handler: infer('messages'),
  },
  {
    ...messagesManners,
    method: 'POST',
    path: '/v1/messages/count_tokens',
    needs: ['inference:invoke'],
    rate: 'inference',
    tier: 'preview',
    summary:
      'Count the input tokens of a message without creating it: by the counter of its provider, else by an estimate, which `X-Token-Count: estimated` tells.',
    body: 'CountTokens',
    reply: 'TokenCount',
    replyHeaders: ['X-Token-Count'],
    errors: countingErrors,
    handler: countTokens('messages'),
  },
  ...catalogRoutes,
  {
    method: 'GET',
    path: '/v1/me',
    needs: 'any key',
    rate: 'reads',
    tier: 'preview',
    summary: 'Tell what the key in use is and may do.',
    query: [],
    reply: 'Identity',
    replyHeaders: ['X-Budget-Limit-USD', 'X-Budget-Used-USD', 'X-Budget-Remaining-USD', 'X-Budget-Reset'],
    errors: ['unknown_parameter', 'service_unavailable'],
    handler: me,
  },
  ...managementRoutes,
  {
    method: 'GET',
    path: '/v1/openapi.json',
    needs: 'nothing',
    rate: 'none',
    tier: 'stable',
    summary: 'This document.',
    query: [],
    reply: 'OpenApi',
    errors: ['unknown_parameter'],
    handler: openapi,
  },
  {
    method: 'GET',
    path: '/healthz',
    needs: 'nothing',
    rate: 'none',
    tier: 'stable',
    summary: 'Tell that the process answers.',
    reply: 'Health',
    errors: [],
    handler: alive,
  },
  {
    method: 'GET',
    path: '/readyz',
    needs: 'nothing',
    rate: 'none',
    tier: 'stable',
    summary: 'Tell whether requests can be served; 503 with what is not ready.',
    reply: 'Health',
    orStatus: 503,
    errors: [],
    handler: ready,
  },
]
