import type { Gateway } from '@signalbox/core'
import { GatewayError } from '@signalbox/core/errors'
import { isPromise, runSteps, type Step, wait } from '@signalbox/core/runtime'
import { actorOf, admit } from './admit.ts'
import { isHeavy, parseBody, readBody } from './body.ts'
import { kept } from './cache.ts'
import { checkFields } from './check-fields.ts'
import { corsHeaders, preflightHeaders } from './cors.ts'
import type { Api, ApiContext, ApiReply, ApiRequest } from './exchange.ts'
import { asGatewayError, failure } from './fail.ts'
import { cleanHeaders, commonHeaders, type Headers, idHeaders } from './headers.ts'
import { type Line, startLine } from './line.ts'
import { createMatcher, type Match, type Matcher, nearestRow } from './match.ts'
import { onlyOnce } from './once.ts'
import { readQuery } from './query.ts'
import type { Call, Route, Site } from './routes.ts'
import type { Upload } from './uploads.ts'

/** One request, in order: match, authenticate, scope, limit, read, run, answer. */
export function createHandler(gateway: Gateway, site: Site): Api {
  const match = createMatcher(site.routes, site.settings.basePath)
  const { onRequest, cors } = site.settings

  return (request, context) => {
    const requestId = gateway.ids.uuid()
    const line = startLine(gateway, request, { requestId, onRequest })
    const ids = { ...commonHeaders, ...idHeaders(requestId, request) }
    const common = cors === undefined ? ids : { ...ids, ...corsHeaders(cors, request) }
    const visit: Visit = {
      gateway,
      site,
      request,
      requestId,
      line,
      context,
      row: undefined,
      upload: undefined,
      headers: undefined,
      close: false,
    }
    const answering = runSteps(answer(visit, match, common))
    return isPromise(answering) ? answering : Promise.resolve(answering)
  }
}

/** Every error of a request becomes a reply here. */
function* answer(visit: Visit, match: Matcher, common: Headers): Step<ApiReply> {
  const { gateway, site, request, requestId, line } = visit
  const answered = (reply: ApiReply): ApiReply => finish(reply, { common, line, row: visit.row, requestId, request })
  try {
    const found = match(request.method, request.path)
    return answered(found.kind === 'row' ? yield* run(found, visit) : withoutRow(found, visit))
  } catch (thrown) {
    const error = asGatewayError(thrown, { gateway, site, requestId })
    line.note({ code: error.code })
    visit.row ??= nearestRow(site.routes, site.settings.basePath, request.path)
    return answered(failure(error, { ...visit, dialect: visit.row?.dialect ?? 'responses' }))
  } finally {
    // An answer has begun, so the provider has the request; until then the body is kept for the next one.
    visit.upload?.release()
  }
}

/** One request on its way. The last two say how it is to be answered if it fails from here on. */
interface Visit {
  readonly gateway: Gateway
  readonly site: Site
  readonly request: ApiRequest
  readonly requestId: string
  readonly line: Line
  readonly context: ApiContext | undefined
  row: Route | undefined
  /** The body, as long as it comes or is worked with. */
  upload: Upload | undefined
  headers: Headers | undefined
  /** Bytes of the body were left unread. */
  close: boolean
}

function* run({ row, params }: Extract<Match, { kind: 'row' }>, visit: Visit): Step<ApiReply> {
  visit.row = row
  visit.line.note({ route: row.path })
  const { gateway, site, request, requestId, line, context } = visit
  const seen = { gateway, site, request, requestId, line, context, params }
  const coming = (): boolean => row.body !== undefined && request.arrived?.() !== true
  if (row.needs === 'nothing') {
    if (coming()) visit.upload = site.uploads.open(undefined)
    return yield* wait(row.handler({ ...seen, ...(yield* read(row, visit)) }))
  }
  const caller = yield* admit(row, seen)
  if (coming()) visit.upload = site.uploads.open(caller.keyId)
  const admission = visit.upload && row.rate === 'inference' ? yield* wait(gateway.admit(caller, requestId)) : undefined
  try {
    const { text, ...asked } = yield* read(row, visit)
    const call = { ...seen, ...asked, admission }
    if (row.of === undefined) return yield* wait(row.handler(call, caller))
    const actor = actorOf(caller, call)
    const managed = onlyOnce({ row, call, caller, text }, once =>
      row.handler(call, gateway.workspaces(caller.workspaceId, once === undefined ? actor : { ...actor, once })),
    )
    return yield* wait(managed)
  } catch (error) {
    if (admission) yield* wait(admission.leave())
    throw error
  }
}

function* read(row: Route, visit: Visit): Step<Pick<Call, 'query' | 'body'> & { readonly text: string }> {
  // SDKs, proxies and frameworks add parameters of their own to calls of models, and no provider minds.
  const query = readQuery(row.query, visit.request.query, row.rate === 'inference')
  if (row.body === undefined) return { query, body: {}, text: '' }
  const text = yield* readBody(visit)
  const heavy = isHeavy(text)
  if (heavy) yield* wait(visit.site.heavySteps())
  const body = parseBody(text)
  if (heavy) yield* wait(visit.site.heavySteps())
  if (row.strict) checkFields(visit.site.schemas()[row.body], body, row.immutable)
  // Only what may have to be compared with a later request is kept beside what was made of it.
  return { query, body, text: row.of === 'workspace' ? text : '' }
}

function withoutRow(found: Exclude<Match, { kind: 'row' }>, visit: Visit): ApiReply {
  visit.headers = { allow: found.allow }
  if (found.kind === 'options') {
    return {
      status: 204,
      headers: { allow: found.allow, ...preflightHeaders(visit.site.settings.cors, visit.request, found.allow) },
      body: '',
    }
  }
  throw new GatewayError('method_not_allowed', {
    message: `${visit.request.method.slice(0, 20)} is not possible here. Allowed: ${found.allow}.`,
  })
}

interface Finishing {
  readonly common: Headers
  readonly line: Line
  readonly row: Route | undefined
  readonly requestId: string
  readonly request: ApiRequest
}

function finish(answer: ApiReply, { common, line, row, requestId, request }: Finishing): ApiReply {
  const reply = row?.cache === undefined ? answer : kept(answer, row.cache, request)
  line.note({ status: reply.status })
  // A stream is over when its last event is out; it ends its line itself.
  if (typeof reply.body === 'string') line.end()
  const whole = request.method === 'HEAD' ? bodiless(reply) : reply
  const named = row?.idHeader === undefined ? common : { ...common, [row.idHeader]: requestId }
  // Answers about a workspace may hold secrets that are shown once: they must not be cached.
  const keeping = row?.of === 'workspace' ? { 'cache-control': 'no-store' } : undefined
  const headers = cleanHeaders({ ...whole.headers, ...keeping, ...named })
  return whole.close
    ? { status: whole.status, headers, body: whole.body, close: true }
    : { status: whole.status, headers, body: whole.body }
}

/** HEAD: what GET would answer, without saying it. What is still as it was has no body either way, and no length of its own. */
function bodiless(reply: ApiReply): ApiReply {
  if (typeof reply.body !== 'string' || reply.status === 304) return reply
  return { ...reply, headers: { ...reply.headers, 'content-length': String(new TextEncoder().encode(reply.body).length) }, body: '' }
}
