import type { Caller } from '@signalbox/core'
import { GatewayError } from '@signalbox/core/errors'
import type { Actor } from '@signalbox/core/management'
import { type Step, wait } from '@signalbox/core/runtime'
import type { ApiReply } from './api.ts'
import { hostOf } from './origin.ts'
import type { Call, KeyedRoute, WorkspaceRoute } from './route.ts'
import { secretOf } from './secret.ts'

/**
 * Authenticates a request, by the sign-in of the app or by an API key, then checks its workspace, its scopes and the rate limit of
 * management calls. Returns the reply of the app's sign-in where it gives one.
 */
export function* authorize(row: KeyedRoute | WorkspaceRoute, call: Omit<Call, 'query' | 'body'>): Step<Caller | ApiReply> {
  const { gateway, request, log, params } = call
  const { needs, rate, keyHeader } = row
  const user = request.signedIn && (yield* wait(request.signedIn()))
  if (user && 'status' in user) return user
  if (user) checkSite(call)
  const caller = yield* wait(gateway.authenticate(user ?? secretOf(request, keyHeader)))
  log.note({ keyId: caller.keyId, workspaceId: caller.workspaceId })
  if (row.of === 'workspace' && params.workspace_id !== caller.workspaceId) throw noWorkspace(params.workspace_id ?? '')
  if (needs !== 'any key' && !needs.some(scope => caller.scopes.has(scope))) {
    throw new GatewayError('operation_not_allowed', {
      message: `This ${user ? 'user' : 'key'} lacks the scope ${needs.map(scope => `"${scope}"`).join(' or ')}.`,
    })
  }
  if (rate === 'reads' || rate === 'writes') yield* wait(gateway.countManagement(caller, rate))
  return caller
}

/** A browser sends the cookies of a sign-in with requests of other sites too: those are refused, unless `cors` names the site. */
function checkSite({ request, site }: Pick<Call, 'request' | 'site'>): void {
  const origin = request.header('origin')
  if (
    origin === undefined ||
    request.header('sec-fetch-site') === 'same-origin' ||
    hostOf(origin) === request.header('host')?.toLowerCase()
  )
    return
  const origins = site.settings.cors?.origins ?? []
  // `*` is for keys, which no browser sends by itself.
  if (origins !== '*' && origins.includes(origin)) return
  throw new GatewayError('operation_not_allowed', {
    message: `Pages of ${origin.slice(0, 100)} may not act for a signed-in user here. Add the origin to \`cors.origins\`.`,
  })
}

/** Another workspace gets the same error as one that does not exist. */
const noWorkspace = (id: string): GatewayError =>
  new GatewayError('resource_not_found', { message: `There is no workspace "${id.slice(0, 100)}" for this key.` })

/** The actor of an audit event. */
export const actorOf = ({ keyId, keyName, scopes }: Caller, { request, requestId }: Call): Actor => ({
  key: { id: keyId, name: keyName, scopes },
  nameStyle: 'json',
  requestId,
  ...(request.ip !== undefined && { ip: request.ip }),
})
