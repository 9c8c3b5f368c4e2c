import { checkInput } from '@signalbox/core/resources'
import { actorOf } from '../authorize.ts'
import { withIdempotencyKey } from '../idempotency.ts'
import { createMatcher } from '../match.ts'
import type { ManagementTable } from '../route.ts'
import { managementRoutes } from './routes.ts'

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
