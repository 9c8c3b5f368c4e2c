import type { Caller, Gateway, Workspace } from '@signalbox/core'
import type { ErrorCode } from '@signalbox/core/errors'
import type { ClientDialect, JsonObject } from '@signalbox/core/protocol'
import type { EarlyAdmission } from '@signalbox/core/request'
import type { InputSpec, Scope } from '@signalbox/core/resources'
import type { Awaitable } from '@signalbox/core/runtime'
import type { ApiContext, ApiReply, ApiRequest } from './api.ts'
import type { CacheScope } from './cache-headers.ts'
import type { View, Views } from './catalog/views.ts'
import type { OutageLog } from './error-reply.ts'
import type { QueryParameter } from './query.ts'
import type { RequestHeaderName } from './request-headers.ts'
import type { RequestLog } from './request-log.ts'
import type { HeaderName } from './response-headers.ts'
import type { SchemaName } from './schemas.ts'
import type { Settings } from './settings.ts'
import type { TurnQueue } from './turn-queue.ts'
import type { Uploads } from './uploads.ts'
import type { WebSocketCounts } from './websocket/connections.ts'

/** A request as the handler of a route receives it, already checked. */
export interface Call {
  readonly gateway: Gateway
  readonly site: Site
  readonly request: ApiRequest
  readonly requestId: string
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  readonly body: JsonObject
  readonly log: RequestLog
  readonly context: ApiContext | undefined
  /** The rate and the slot that an inference request took before its body was read. */
  readonly admission?: EarlyAdmission | undefined
  /** Counts memory that the request takes beside its body, until its reply begins. Throws 429 or 503. */
  readonly claimMemory?: ((bytes: number) => void) | undefined
}

/** What all requests to one API share. */
export interface Site {
  readonly routes: readonly Route[]
  readonly settings: Settings
  /** The client dialects of the rows that are there: those that `loadDialect` loads are added. */
  readonly dialects: Readonly<Record<string, ClientDialect>>
  /** Adds a dialect of rows that is loaded when first needed. */
  readonly loadDialect: (name: string) => Promise<void>
  /** Names of the inference endpoints that are served, as in `supported_endpoints`. */
  readonly endpoints: readonly string[]
  /** The rows of workspaces; loaded once, when first needed. */
  readonly management: () => Promise<ManagementTable>
  /** The OpenAPI document, as clients at one mount point see it; made once, when first requested. */
  readonly document: (mount?: string) => Promise<View>
  readonly views: Views
  /** Unix seconds. */
  readonly startedAt: number
  /** The bodies that are being uploaded. */
  readonly uploads: Uploads
  readonly webSockets: WebSocketCounts
  /** Turns for heavy work, such as parsing large bodies. */
  readonly nextTurn: TurnQueue
  /** Limits how often storage outages are logged. */
  readonly outageLog: OutageLog
}

interface RouteFacts {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  /** The class that a call counts against. `inference` is counted by the gateway itself, once the model is known. */
  readonly rate: 'none' | 'inference' | 'reads' | 'writes'
  readonly tier: 'stable' | 'preview'
  readonly summary: string
  /** Name of its method in `@signalbox/client`, as of the resource in process where there is one: `apiKeys.create`. */
  readonly client?: string
  /** The dialect of its errors. Default: `responses`. */
  readonly dialect?: string
  /** Header that may carry the key instead of `Authorization`. */
  readonly keyHeader?: 'x-api-key'
  /** Name under which its clients read `x-request-id`; sent beside it. */
  readonly idHeader?: 'request-id'
  /** Name of an inference endpoint in `supported_endpoints`. */
  readonly endpoint?: string
  /** Clients may ask for a WebSocket at its path. */
  readonly webSocket?: true
  /** Its query parameters. Others are refused, or ignored by inference routes. Absent: no parameter is read. */
  readonly query?: readonly QueryParameter[]
  /** Request headers of its own. */
  readonly headers?: readonly RequestHeaderName[]
  /** Schema of the JSON body, where it takes one. */
  readonly body?: SchemaName
  /** The fields of its body, which are checked before the handler runs. Absent: the dialect reads the body. */
  readonly input?: InputSpec
  readonly reply: SchemaName
  /** Schema of the data of a server-sent event, if it streams on request. */
  readonly stream?: SchemaName
  /** Status of success. Default: 200. */
  readonly status?: 202
  /** Status of a reply in the same shape that is not a success. */
  readonly orStatus?: 503
  /** Media type of success. Default: `application/json`. */
  readonly media?: 'text/csv'
  /** The reply contains a secret, which is shown once and not stored. */
  readonly secret?: true
  /** Which caches may keep the reply; it has an `ETag`. */
  readonly cache?: CacheScope
  /** Headers of its own that success may have. */
  readonly replyHeaders?: readonly HeaderName[]
  /** Its errors, besides those that follow from its other facts. */
  readonly errors: readonly ErrorCode[]
  /** ISO dates: when the deprecation takes effect, and when the route may be removed. */
  readonly deprecated?: { readonly from: string; readonly removal: string }
}

/** A route that needs no key. */
export interface PublicRoute extends RouteFacts {
  readonly of?: undefined
  readonly needs: 'nothing'
  readonly handler: (call: Call) => Awaitable<ApiReply>
}

/** A route that needs a key, of any workspace. */
export interface KeyedRoute extends RouteFacts {
  readonly of?: undefined
  /** A list: any one of these scopes. */
  readonly needs: 'any key' | readonly string[]
  readonly handler: (call: Call, caller: Caller) => Awaitable<ApiReply>
}

/** A route of a workspace: `:workspace_id` in its path must be that of the key, otherwise the reply is 404. */
export interface WorkspaceRoute extends RouteFacts {
  readonly of: 'workspace'
  readonly client: string
  /** Any one of these. */
  readonly needs: readonly Scope[]
  /** Its workspace, with the rights of the key. */
  readonly handler: (call: Call, workspace: Workspace) => Awaitable<ApiReply>
}

/** A row of the API's table: a method and a path, its rules, and the handler that answers it. */
export type Route = PublicRoute | KeyedRoute | WorkspaceRoute

/** What a method and a path lead to. */
export type Match =
  | { readonly kind: 'row'; readonly row: Route; readonly params: Readonly<Record<string, string>>; readonly head: boolean }
  | { readonly kind: 'options' | 'wrong_method'; readonly allow: string }

/** Throws where there is nothing at the path. */
export type Matcher = (method: string, path: string) => Match

/** A request of a workspace, which its row answers. */
export interface IdempotentRequest {
  readonly row: WorkspaceRoute
  readonly call: Call
  readonly caller: Caller
  /** The body as it arrived. */
  readonly text: string
}

/** The rows of workspaces with what checks their bodies. */
export interface ManagementTable {
  readonly match: Matcher
  /** Throws for the first field of a body that its row does not take. */
  readonly checkBody: (input: InputSpec, body: JsonObject) => void
  /** Answers a request of a workspace, once for each `Idempotency-Key`. */
  readonly answer: (request: IdempotentRequest) => Promise<ApiReply>
}
