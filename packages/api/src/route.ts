import type { EarlyAdmission } from '@signalbox/core/request'
import type { InputSpec, Scope } from '@signalbox/core/resources'
import type { ClaimMemory } from '@signalbox/core/runtime'
import type { ErrorCode } from '@signalbox/dialects/errors'
import type { ClientDialect, JsonObject } from '@signalbox/dialects/protocol'
import type { Caller, Gateway, Workspace } from '@signalbox/gateway'
import type { Awaitable } from '@signalbox/storage'
import type { ApiContext, ApiReply, ApiRequest } from './api.ts'
import type { CacheScope } from './cache-headers.ts'
import type { View, Views } from './catalog/views.ts'
import type { OutageLog } from './outage-log.ts'
import type { QueryParameter } from './query.ts'
import type { RequestHeaderName } from './request-headers.ts'
import type { RequestLog } from './request-log.ts'
import type { HeaderName } from './response-headers.ts'
import type { Settings } from './settings.ts'
import type { TurnQueue } from './turn-queue.ts'
import type { Uploads } from './uploads.ts'
import type { WebSocketCounts } from './websocket/connections.ts'

/** The input of a request, which is read after its key was checked. */
export interface RequestInput {
  readonly query: Readonly<Record<string, string>>
  readonly body: JsonObject
  /** Whether the text of the body is large (`largeBody`). */
  readonly isLarge: boolean
}

/** A request whose input has not been read. */
export type UnreadCall = Omit<Call, keyof RequestInput>

/** A request as the handler of a route receives it, already checked. */
export interface Call extends RequestInput {
  readonly gateway: Gateway
  readonly site: Site
  readonly request: ApiRequest
  readonly requestId: string
  readonly params: Readonly<Record<string, string>>
  readonly log: RequestLog
  readonly context: ApiContext | undefined
  /** The rate limit and slot that an inference request took before its body was read. */
  readonly admission?: EarlyAdmission | undefined
  /** Counts memory that the request uses in addition to its body, and for as long. Throws 429 or 503. */
  readonly claimMemory?: ClaimMemory | undefined
  /** Counts the body as in memory until the returned function is called. Without this call, it counts until the reply begins. */
  readonly keepBody?: (() => () => void) | undefined
}

/** The state shared by all requests to one API. */
export interface Site {
  readonly routes: readonly Route[]
  readonly settings: Settings
  /** The client dialects of the available rows. `loadDialect` adds to them. */
  readonly dialects: Readonly<Record<string, ClientDialect>>
  /** Loads a dialect of rows on first use and adds it to `dialects`. */
  readonly loadDialect: (name: string) => Promise<void>
  /** Names of the available inference endpoints, as in `supported_endpoints`. */
  readonly endpoints: readonly string[]
  /** The rows of workspaces. Loaded once, on first use. */
  readonly management: () => Promise<ManagementTable>
  /** The OpenAPI document for clients at a mount point. Created once, on first request. */
  readonly document: (mount?: string) => Promise<View>
  readonly views: Views
  /** Unix seconds. */
  readonly startedAt: number
  /** The request bodies in memory. */
  readonly uploads: Uploads
  readonly webSockets: WebSocketCounts
  /** Gives turns for heavy work, such as parsing large bodies. */
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
  /** Name of its method in `@signalbox/client`, the same as that of the in-process resource if there is one: `apiKeys.create`. */
  readonly client?: string
  /** The dialect of its errors. Default: `responses`. */
  readonly dialect?: string
  /** A header that may contain the key instead of `Authorization`. */
  readonly keyHeader?: 'x-api-key'
  /** An additional header with the value of `x-request-id`, which its clients read. */
  readonly idHeader?: 'request-id'
  /** Name of an inference endpoint in `supported_endpoints`. */
  readonly endpoint?: string
  /** Set if a WebSocket can be opened at its path. */
  readonly webSocket?: true
  /** Its query parameters. Others are refused, or ignored by inference routes. Absent: no parameter is read. */
  readonly query?: readonly QueryParameter[]
  /** Request headers specific to the route. */
  readonly headers?: readonly RequestHeaderName[]
  /** Name of the schema of the JSON body, if it has one. */
  readonly body?: string | undefined
  /** The fields of its body, which are checked before the handler runs. Absent: the dialect parses the body. */
  readonly input?: InputSpec | undefined
  readonly reply: string
  /** Schema of the data of a server-sent event, if it can stream. */
  readonly stream?: string
  /** Status of success. Default: 200. */
  readonly status?: 202 | undefined
  /** Status of a reply with the same shape that is not a success. */
  readonly orStatus?: 503
  /** Media type of success. Default: `application/json`. */
  readonly media?: 'text/csv'
  /** Set if the reply contains a secret, which is shown once and not stored. */
  readonly secret?: true | undefined
  /** Which caches may keep the reply, which has an `ETag`. */
  readonly cache?: CacheScope
  /** Response headers specific to the route. */
  readonly replyHeaders?: readonly HeaderName[]
  /** Its errors, in addition to those that follow from its other facts. */
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

/** A route that needs a key of any workspace. */
export interface KeyedRoute extends RouteFacts {
  readonly of?: undefined
  /** A list means any one of these scopes. */
  readonly needs: 'any key' | readonly string[]
  readonly handler: (call: Call, caller: Caller) => Awaitable<ApiReply>
}

/** A route of a workspace. `:workspace_id` in its path must be that of the key, otherwise the reply is 404. */
export interface WorkspaceRoute extends RouteFacts {
  readonly of: 'workspace'
  readonly client: string
  /** Any one of these scopes. */
  readonly needs: readonly Scope[]
  /** Receives the workspace with the rights of the key. */
  readonly handler: (call: Call, workspace: Workspace) => Awaitable<ApiReply>
}

/** A row of the route table: a method and a path, its rules, and its handler. */
export type Route = PublicRoute | KeyedRoute | WorkspaceRoute

/** The row of a method and a path, with its parameters. */
export type Match =
  | { readonly kind: 'row'; readonly row: Route; readonly params: Readonly<Record<string, string>>; readonly head: boolean }
  | { readonly kind: 'options' | 'wrong_method'; readonly allow: string }

/** Finds the row of a method and a path. Throws if the path does not exist. */
export type Matcher = (method: string, path: string) => Match

/** A request to a workspace row. */
export interface IdempotentRequest {
  readonly row: WorkspaceRoute
  readonly call: Call
  readonly caller: Caller
  /** The body as received. */
  readonly text: string
}

/** The workspace rows, with the check of their bodies. */
export interface ManagementTable {
  readonly match: Matcher
  /** Throws for the first field of a body that is invalid for its row. */
  readonly checkBody: (input: InputSpec, body: JsonObject) => void
  /** Handles a request to a workspace row, once for each `Idempotency-Key`. */
  readonly answer: (request: IdempotentRequest) => Promise<ApiReply>
}

// Facts of a row that both the server and the OpenAPI document follow.

/**
 * Whether a route refuses query parameters that it does not have. SDKs, proxies and frameworks add their own parameters to inference
 * requests, and providers accept them.
 */
export function refusesUnknownParameters({ query, rate }: Pick<Route, 'query' | 'rate'>): boolean {
  return query !== undefined && rate !== 'inference'
}

/** Whether a route accepts an `Idempotency-Key`. */
export const takesIdempotencyKey = ({ of, method }: Route): boolean => of === 'workspace' && method === 'POST'
