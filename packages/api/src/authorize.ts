import { type Step, wait } from '@signalbox/core/runtime'
import { GatewayError } from '@signalbox/dialects/errors'
import type { Caller } from '@signalbox/gateway'
import type { Actor } from '@signalbox/workspaces'
import type { ApiReply, ApiRequest } from './api.ts'
import { checkSite, hostOf } from './origin.ts'
import type { KeyedRoute, UnreadCall, WorkspaceRoute } from './route.ts'
import { secretOf } from './secret.ts'
import { askSignIn } from './sign-in.ts'
import type { WebSocketTurn } from './websocket/port.ts'

/**
 * Authenticates a request by the sign-in of the app or by an API key, then checks its workspace, its scopes and the rate limit of
 * management calls. Returns the reply of the app's sign-in if there is one.
 */
export function* authorize(row: KeyedRoute | WorkspaceRoute, call: UnreadCall): Step<Caller | ApiReply> {
  const { gateway, request, log, params } = call
  const { needs, rate, keyHeader } = row
  const { signedIn, signal, turn } = request
  const { clock } = gateway
  const { authenticateMs } = call.site.settings
  const known = signedIn && (yield* wait(askSignIn({ signedIn, signal }, { clock, authenticateMs })))
  if (known && 'reply' in known) {
    // A message of a WebSocket cannot be answered with a reply of the app.
    if (turn) throw otherUserError()
    return known.reply
  }
  const user = known?.user
  if (user) checkSite(request, call.site.settings.cors, 'sign-in')
  const caller = yield* wait(gateway.authenticate(user ?? secretOf(request, keyHeader)))
  log.note({ keyId: caller.keyId, workspaceId: caller.workspaceId })
  if (turn && !isSameCaller(turn.caller, caller)) throw otherUserError()
  if (caller.session) checkSession(row, request, caller.session)
  if (row.of === 'workspace' && params.workspace_id !== caller.workspaceId) throw noWorkspaceError(params.workspace_id ?? '', caller)
  if (needs !== 'any key' && !needs.some(scope => caller.scopes.has(scope))) {
    throw new GatewayError('operation_not_allowed', {
      message: `This ${caller.isEndUser ? 'user' : 'key'} lacks the scope ${needs.map(scope => `"${scope}"`).join(' or ')}.`,
    })
  }
  if (rate === 'reads' || rate === 'writes') yield* wait(gateway.countManagement(caller, rate))
  return caller
}

/** A session token is only valid for inference and the lists of models, and for pages of its origins. */
function checkSession(row: KeyedRoute | WorkspaceRoute, request: ApiRequest, { origins }: NonNullable<Caller['session']>): void {
  if (row.rate !== 'inference' && row.cache === undefined)
    throw new GatewayError('operation_not_allowed', {
      message: 'A session token can call models and list them, and nothing else. Use an API key here, and never in a browser.',
    })
  if (origins === undefined) return
  const origin = request.header('origin')
  // Browsers send no `Origin` with a GET to the page's own host.
  const host = request.header('sec-fetch-site') === 'same-origin' ? request.header('host')?.toLowerCase() : undefined
  if (origin === undefined ? host !== undefined && origins.some(each => hostOf(each) === host) : origins.includes(origin)) return
  throw new GatewayError('operation_not_allowed', {
    message: `This session token is not for ${origin === undefined ? 'requests without `Origin`' : `pages of ${origin.slice(0, 100)}`}. Name the origin in \`origins\` when the session is created.`,
  })
}

/** Whether a message of a WebSocket comes from the caller that opened it, which owns the conversation that it may continue. */
const isSameCaller = (opened: WebSocketTurn['caller'], { workspaceId, keyId }: Caller): boolean =>
  opened.workspaceId === workspaceId && opened.keyId === keyId

const otherUserError = (): GatewayError =>
  new GatewayError('invalid_api_key', {
    message: 'The user of this connection is no longer signed in. Sign in and open a new connection.',
  })

/** The same error for another workspace as for one that does not exist. */
const noWorkspaceError = (id: string, { isEndUser }: Caller): GatewayError =>
  new GatewayError('resource_not_found', { message: `There is no workspace "${id.slice(0, 100)}" for this ${isEndUser ? 'user' : 'key'}.` })

/** The actor of an audit event. */
export const actorOf = (
  { keyId, keyName, keyPrefix, scopes, isEndUser, limits, budgets }: Caller,
  { request, requestId }: UnreadCall,
): Actor => ({
  key: { id: keyId, name: keyName, prefix: keyPrefix, scopes, isBounded: isEndUser === true && (limits ?? budgets) !== undefined },
  nameStyle: 'json',
  requestId,
  ip: request.ip,
})
