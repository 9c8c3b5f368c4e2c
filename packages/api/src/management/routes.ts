import { acceptanceFields, checkInput, fromWire, type ResourcePath, resources } from '@signalbox/core/resources'
import { actorOf } from '../authorize.ts'
import { withIdempotencyKey } from '../idempotency.ts'
import { json } from '../json-reply.ts'
import { createMatcher } from '../match.ts'
import type { ManagementTable, PublicRoute, Route } from '../route.ts'
import { routesOf } from './endpoint-routes.ts'
import { exportRoute } from './export.ts'
import { acceptedInviteReply } from './replies/index.ts'
import { replyOf } from './replies/reply-table.ts'

const acceptance = { fields: acceptanceFields, mode: 'create' } as const

/** The token authorizes it, no key is needed. */
const acceptInviteRoute: PublicRoute = {
  method: 'POST',
  path: '/v1/invites/accept',
  client: 'invites.accept',
  needs: 'nothing',
  rate: 'none',
  tier: 'preview',
  summary: 'Accept an invite: the holder of its token becomes a member.',
  query: [],
  body: 'AcceptInvite',
  input: acceptance,
  status: 202,
  reply: 'AcceptedInvite',
  errors: ['resource_not_found', 'duplicate_resource', 'state_precondition_failed'],
  async handler(call) {
    const { requestId, request } = call
    const member = await call.gateway.workspaces.acceptInvite({ ...fromWire(acceptance, call.body), requestId, ip: request.ip })
    return json(replyOf(acceptedInviteReply, member, call), { status: 202 })
  },
}

/** Routes that are no method of a resource, by the resource that they follow. */
const otherRoutes: { readonly [Resource in ResourcePath]?: Route } = { invites: acceptInviteRoute, analytics: exportRoute }

/**
 * The routes of workspaces. Those of a resource are derived from its endpoints in `@signalbox/core/resources`, which state their paths, scopes
 * and fields, and from the tables of `replies`. The rules of a row are applied before its handler runs:
 *
 * - A row serves the key's own workspace. Another workspace is 404. Then the scope (403), the rate limit (429), the query (400
 *   `unknown_parameter`) and the body (400, by the fields in `input`) are checked.
 * - A handler calls the method of the workspace, which acts for the key, with the id of the path and the body or the query. A reply to a
 *   change has status 202.
 * - The JSON and the OpenAPI schema of a reply come from one table of fields. An absent value is null if its `reply` is `nullable`, and absent
 *   if it is `optional`.
 * - A change without fields changes nothing and returns the record.
 * - The `Idempotency-Key` of a POST is stored in the commit of its change, so a handler must result in exactly one `commitWithAudit` with a
 *   change. Set `secret: true` if the reply contains a secret.
 */
export const managementRoutes: readonly Route[] = (Object.keys(resources) as ResourcePath[]).flatMap((resource): readonly Route[] => {
  const other = otherRoutes[resource]
  return other ? [...routesOf(resource), other] : routesOf(resource)
})

// A row is served for the workspace of the key alone. Another id in its path gets the 404 of a workspace that does not exist, before its
// scope, rate or body is looked at, and a handler receives that workspace and nothing else. A test calls every row with every caller that
// must be refused.

/** Creates the table for one API. `managementTable('/api').match('GET', '/api/v1/workspaces/ws_1/settings')` */
export const managementTable = (basePath: string): ManagementTable => ({
  match: createMatcher(managementRoutes, basePath),
  checkBody: (input, body) => checkInput(input, body, 'json'),
  answer(request) {
    const { row, call, caller } = request
    const actor = actorOf(caller, call)
    return withIdempotencyKey(request, once =>
      row.handler(call, call.gateway.workspaces(caller.workspaceId, once === undefined ? actor : { ...actor, idempotency: once })),
    )
  },
})
