import { type ClaimMemory, passToWaitUntil, runSteps, type Step, wait } from '@signalbox/core/runtime'
import { GatewayError } from '@signalbox/dialects/errors'
import type { Caller, Gateway } from '@signalbox/gateway'
import { isPromise } from '@signalbox/storage/awaitable'
import type { Api, ApiContext, ApiReply, ApiRequest } from './api.ts'
import { authorize } from './authorize.ts'
import { codingOf, isLargeText, parseBody, readBody } from './body.ts'
import { withCacheHeaders } from './cache-headers.ts'
import { corsHeaders, preflightHeaders } from './cors.ts'
import { asGatewayError, errorReply } from './error-reply.ts'
import { cleanHeaders, commonHeaders, type Headers, idHeaders } from './headers.ts'
import { createMatcher, isManagement, nearestRow } from './match.ts'
import { readQuery } from './query.ts'
import { type RequestLog, startRequestLog } from './request-log.ts'
import type { Match, Matcher, RequestInput, Route, Site } from './route.ts'
import { refusesUnknownParameters } from './route.ts'
import type { Upload } from './uploads.ts'
import { isWebSocketUpgrade, offerWebSocket } from './websocket/upgrade.ts'

/** Creates the request handler: match, authenticate, authorize, limit, read, run, reply. */
export function createHandler(gateway: Gateway, site: Site): Api {
  const match = createMatcher(site.routes, site.settings.basePath)
  const { onRequest, cors } = site.settings

  const handle: Api = (request, context) => {
    // Never the client's: the hold, the ledger entry and the usage row share it, which makes each of them happen once. A second request
    // with a chosen id would be settled as the first.
    const requestId = gateway.ids.uuid()
    const log = startRequestLog(gateway, request, { requestId, onRequest })
    const ids = { ...commonHeaders, ...idHeaders(requestId, request) }
    const common = cors === undefined && request.header('origin') === undefined ? ids : { ...ids, ...corsHeaders(cors, request) }
    const state: HandledRequest = {
      api: handle,
      gateway,
      site,
      request,
      requestId,
      log,
      context,
      common,
      row: undefined,
      upload: undefined,
      headers: undefined,
      close: false,
    }
    const reply = runSteps(answer(state, match))
    if (!isPromise(reply)) return Promise.resolve(reply)
    // Workers drop the work of a request whose client disconnects, but it must be settled, and others may wait for it.
    if (context?.waitUntil)
      passToWaitUntil(
        context.waitUntil,
        reply.then(() => undefined),
        { requestId, logger: gateway.logger },
      )
    return reply
  }
  return handle
}

/** Turns every error of a request into a reply. */
function* answer(state: HandledRequest, match: Matcher): Step<ApiReply> {
  const { gateway, site, request, requestId, log } = state
  try {
    const find = isManagement(request.path, site.settings.basePath) ? (yield* wait(site.management())).match : match
    const found = find(request.method, request.path)
    if (found.kind === 'row') return finish(state, yield* run(found, state))
    const upgradable = isWebSocketUpgrade(request) ? nearestRow(site.routes, site.settings.basePath, request.path) : undefined
    if (!upgradable?.webSocket) log.note({ path: loggedPath(request) })
    if (!upgradable?.webSocket) return finish(state, withoutRow(found, state))
    state.row = upgradable
    log.note({ route: upgradable.path })
    return finish(state, yield* offerWebSocket(upgradable, { ...state, params: {} }))
  } catch (thrown) {
    const error = asGatewayError(thrown, { gateway, site, requestId })
    log.note({ code: error.code, path: state.row === undefined ? loggedPath(request) : undefined })
    state.row ??= nearestRow(site.routes, site.settings.basePath, request.path)
    if (lacksDialect(state.row, site)) yield* wait(site.loadDialect(state.row.dialect))
    return finish(state, errorReply(error, { ...state, dialect: state.row?.dialect ?? 'responses' }))
  } finally {
    // A stream whose reply begins before its first content may still need the body for a fallback, and releases it itself.
    if (!state.keepsUpload) {
      state.isReleased = true
      state.upload?.release()
    }
  }
}

/** In characters, because a path may have any length. */
const maxLoggedPath = 200
const loggedPath = ({ path }: ApiRequest): string => path.slice(0, maxLoggedPath)

/** The state of one request. `headers` and `close` apply to the reply if it fails. */
interface HandledRequest {
  readonly api: Api
  readonly gateway: Gateway
  readonly site: Site
  readonly request: ApiRequest
  readonly requestId: string
  readonly log: RequestLog
  readonly context: ApiContext | undefined
  /** Headers of every reply. */
  readonly common: Headers
  row: Route | undefined
  /** The body, while it is uploaded or in use. */
  upload: Upload | undefined
  /** Whether the body stays in use after the reply has begun. */
  keepsUpload?: boolean
  /** Whether the memory of the request was released. What is claimed afterwards is refused: nothing would release it. */
  isReleased?: boolean
  headers: Headers | undefined
  /** Whether bytes of the body were left unread. */
  close: boolean
}

function* run({ row, params }: Extract<Match, { kind: 'row' }>, state: HandledRequest): Step<ApiReply> {
  state.row = row
  state.log.note({ route: row.path })
  const { gateway, site, request, requestId, log, context } = state
  if (lacksDialect(row, site)) yield* wait(site.loadDialect(row.dialect))
  const seen = { gateway, site, request, requestId, log, context, params }
  if (row.needs === 'nothing') {
    if (isComing(row, request)) state.upload = site.uploads.open(undefined)
    return yield* wait(row.handler({ ...seen, ...(yield* read(row, state)) }))
  }
  const caller = yield* authorize(row, seen)
  if ('status' in caller) {
    // The reply comes from the app, so the row's own rules, such as caching, do not apply to it.
    state.row = undefined
    return caller
  }
  if (isComing(row, request)) state.upload = site.uploads.open(caller)
  const isLong = state.upload !== undefined || (request.turn?.bytes ?? 0) > heavyBytes
  const admission = isLong && row.rate === 'inference' ? yield* wait(gateway.admitEarly(caller, requestId)) : undefined
  try {
    const { text, query, body, isLarge } = yield* read(row, state)
    // Only lists of items refer to stored ones. Images and files at URLs are in lists of items or messages.
    const mayRefer = Array.isArray(body.input) || request.turn !== undefined
    const claimMemory = mayRefer || row.rate === 'inference' ? claimsOf(state, caller) : undefined
    const keepBody = state.upload || claimMemory ? uploadKeeperOf(state) : undefined
    const call = { gateway, site, request, requestId, log, context, params, query, body, isLarge, admission, claimMemory, keepBody }
    if (row.of === undefined) return yield* wait(row.handler(call, caller))
    const management = yield* wait(site.management())
    return yield* wait(management.answer({ row, call, caller, text }))
  } catch (error) {
    if (admission) yield* wait(admission.leave())
    throw error
  }
}

/** Whether the body will take more memory: bytes of it have not arrived, or it has to be decompressed. */
const isComing = (row: Route, request: ApiRequest): boolean =>
  row.body !== undefined && (request.arrived?.() !== true || codingOf(request) !== undefined)

/** Whether the dialect of the row must be loaded first. */
const lacksDialect = (row: Route | undefined, { dialects }: Site): row is Route & { readonly dialect: string } =>
  row?.dialect !== undefined && dialects[row.dialect] === undefined

/** WebSocket messages of more bytes count against the rate limit before they are parsed. */
const heavyBytes = 65_536

/** Counts further memory of a request, in addition to its body. */
const claimsOf =
  (state: HandledRequest, caller: Caller): ClaimMemory =>
  bytes => {
    state.upload ??= state.site.uploads.open(caller)
    if (state.isReleased) state.upload.release()
    return state.upload.claimMore(bytes)
  }

/** Counts the body of a request as in memory until the returned function is called. */
const uploadKeeperOf = (state: HandledRequest) => (): (() => void) => {
  state.keepsUpload = true
  return () => {
    state.isReleased = true
    state.upload?.release()
  }
}

function* read(row: Route, state: HandledRequest): Step<RequestInput & { readonly text: string }> {
  const query = readQuery(row.query, state.request.query, !refusesUnknownParameters(row))
  if (row.body === undefined) return { query, body: {}, text: '', isLarge: false }
  const text = yield* readBody(state)
  const isLarge = isLargeText(text)
  if (isLarge) yield* wait(state.site.nextTurn())
  const body = parseBody(text)
  if (isLarge) yield* wait(state.site.nextTurn())
  if (row.input) (yield* wait(state.site.management())).checkBody(row.input, body)
  // The text is only kept if an idempotency key may compare it with a later one.
  return { query, body, text: row.of === 'workspace' ? text : '', isLarge }
}

function withoutRow(found: Exclude<Match, { kind: 'row' }>, state: HandledRequest): ApiReply {
  state.headers = { allow: found.allow }
  const { cors, basePath } = state.site.settings
  if (found.kind === 'options') {
    return {
      status: 204,
      headers: {
        allow: found.allow,
        ...preflightHeaders(state.request, { cors, allow: found.allow, isManagement: isManagement(state.request.path, basePath) }),
      },
      body: '',
    }
  }
  throw new GatewayError('method_not_allowed', {
    message: `${state.request.method.slice(0, 20)} is not allowed for this path. Allowed: ${found.allow}.`,
  })
}

function finish({ gateway, row, request, requestId, log, common }: HandledRequest, answer: ApiReply): ApiReply {
  const reply = row?.cache === undefined ? answer : withCacheHeaders(answer, row.cache, request)
  log.note({ status: reply.status })
  // A stream ends its log entry itself, with its last event.
  if (typeof reply.body === 'string') log.end()
  const whole = request.method === 'HEAD' ? bodiless(reply) : reply
  const named = row?.idHeader === undefined ? common : { ...common, [row.idHeader]: requestId }
  // Responses about a workspace may contain secrets that are shown once, so they must not be cached.
  const keeping = row?.of === 'workspace' ? { 'cache-control': 'no-store' } : undefined
  const headers = cleanHeaders({ ...whole.headers, ...keeping, ...named })
  // A load balancer that kept the connection would go on to send here.
  const close = whole.close || gateway.isClosing()
  if (whole.webSocket || whole.cookies) return close ? { ...whole, headers, close } : { ...whole, headers }
  return close ? { status: whole.status, headers, body: whole.body, close: true } : { status: whole.status, headers, body: whole.body }
}

/** The reply to HEAD: that of GET without its body. A 304 has no body and no length. */
function bodiless(reply: ApiReply): ApiReply {
  if (typeof reply.body !== 'string' || reply.status === 304) return reply
  return { ...reply, headers: { ...reply.headers, 'content-length': String(new TextEncoder().encode(reply.body).length) }, body: '' }
}
