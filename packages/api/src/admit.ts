import type { Actor, Caller } from '@signalbox/core'
import { GatewayError } from '@signalbox/core/errors'
import { type Step, wait } from '@signalbox/core/runtime'
import type { Call, KeyedRoute, WorkspaceRoute } from './routes.ts'
import { secretOf } from './secret.ts'

/** Authenticates the caller, then checks workspace, scopes and the rate limit of management calls. */
export function* admit(row: KeyedRoute | WorkspaceRoute, { gateway, request, line, params }: Omit<Call, 'query' | 'body'>): Step<Caller> {
  const { needs, rate, keyHeader } = row
  const caller = yield* wait(gateway.authenticate(secretOf(request, keyHeader)))
  line.note({ keyId: caller.keyId, workspaceId: caller.workspaceId })
  if (row.of === 'workspace' && params.workspace_id !== caller.workspaceId) throw absent(params.workspace_id ?? '')
  if (needs !== 'any key' && !needs.some(scope => caller.scopes.has(scope))) {
    throw new GatewayError('operation_not_allowed', {
      message: `This key lacks the scope ${needs.map(scope => `"${scope}"`).join(' or ')}.`,
    })
  }
  if (rate === 'reads' || rate === 'writes') yield* wait(gateway.countManagement(caller, rate))
  return caller
}

/** The same for one of somebody else and for none at all. */
const absent = (id: string): GatewayError =>
  new GatewayError('resource_not_found', { message: `There is no workspace "${id.slice(0, 100)}" for this key.` })

/** Who changes or reads something, as the audit will tell. */
export const actorOf = ({ keyId, keyName, scopes }: Caller, { request, requestId }: Call): Actor => ({
  key: { id: keyId, name: keyName, scopes },
  requestId,
  ...(request.ip !== undefined && { ip: request.ip }),
})
