import type { Caller, Gateway } from '@signalbox/core'
import type { ErrorCode } from '@signalbox/core/errors'
import type { JsonObject } from '@signalbox/core/protocol'
import { getModel, listModels } from './catalog/models.ts'
import type { ApiContext, ApiReply, ApiRequest } from './exchange.ts'
import { alive, ready } from './health.ts'
import { me } from './identity.ts'
import { infer } from './inference/infer.ts'
import type { Line } from './line.ts'
import { openapi } from './openapi.ts'
import type { QueryParameter } from './query.ts'
import type { SchemaName } from './schemas.ts'
import type { Settings } from './settings.ts'

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
}

/** What all calls of one API share. */
export interface Site {
  readonly routes: readonly Route[]
  readonly settings: Settings
  /** Names of the inference endpoints that are served, as in `supported_endpoints`. */
  readonly endpoints: readonly string[]
  /** The OpenAPI document as JSON text; made once, when first asked for. */
  readonly document: () => string
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
  /** Name of an inference endpoint in `supported_endpoints`. */
  readonly endpoint?: string
  /** The query parameters that it knows; others are refused. Absent: none is looked at. */
  readonly query?: readonly QueryParameter[]
  /** Schema of the JSON body, where it takes one. */
  readonly body?: SchemaName
  readonly reply: SchemaName
  /** Its errors beside those that every row of its kind may have. */
  readonly errors: readonly ErrorCode[]
  /** ISO dates: when the deprecation takes effect, and when the row may go. */
  readonly deprecated?: { readonly from: string; readonly removal: string }
}

export interface PublicRoute extends RouteFacts {
  readonly needs: 'nothing'
  readonly handler: (call: Call) => ApiReply | Promise<ApiReply>
}

export interface KeyedRoute extends RouteFacts {
  /** A list: any one of these scopes. */
  readonly needs: 'any key' | readonly string[]
  readonly handler: (call: Call, caller: Caller) => ApiReply | Promise<ApiReply>
}

export type Route = PublicRoute | KeyedRoute

const endpointFilter: QueryParameter = {
  name: 'endpoint',
  description: 'Only models that this endpoint serves.',
  values: ['responses', 'chat_completions', 'messages'],
}

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
    body: 'CreateResponse',
    reply: 'Response',
    errors: [
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
      'non_streaming_not_supported',
      'tool_choice_required_not_supported',
      'insufficient_credits',
      'model_not_found',
      'request_too_large',
      'unsupported_media_type',
      'concurrent_requests_exceeded',
      'rate_limit_exceeded',
      'provider_error',
      'routing_failed',
      'server_is_overloaded',
      'service_unavailable',
      'provider_timeout',
      'deadline_exceeded',
    ],
    handler: infer('responses'),
  },
  {
    method: 'GET',
    path: '/v1/models',
    needs: 'any key',
    rate: 'reads',
    tier: 'stable',
    summary: 'List the models that can be called.',
    query: [endpointFilter],
    reply: 'ModelList',
    errors: ['unknown_parameter', 'invalid_parameter_value'],
    handler: listModels,
  },
  {
    method: 'GET',
    path: '/v1/models/:model_id+',
    needs: 'any key',
    rate: 'reads',
    tier: 'stable',
    summary: 'Look up one model by its id or an alias. Ids may hold slashes.',
    query: [],
    reply: 'Model',
    errors: ['unknown_parameter', 'model_not_found'],
    handler: getModel,
  },
  {
    method: 'GET',
    path: '/v1/me',
    needs: 'any key',
    rate: 'reads',
    tier: 'preview',
    summary: 'Tell what the key in use is and may do.',
    query: [],
    reply: 'Identity',
    errors: ['unknown_parameter'],
    handler: me,
  },
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
    errors: [],
    handler: ready,
  },
]
