import type { Route } from '../route.ts'
import { analyticsRoutes } from './analytics.ts'
import { apiKeyRoutes } from './api-keys.ts'
import { auditEventRoutes } from './audit-events.ts'
import { billingRoutes } from './billing.ts'
import { budgetRoutes } from './budgets.ts'
import { byokKeyRoutes } from './byok-keys.ts'
import { acceptInviteRoute, inviteRoutes } from './invites.ts'
import { keyUsageRoutes } from './key-usage.ts'
import { memberRoutes } from './members.ts'
import { requestRoutes } from './requests.ts'
import { routingDefaultsRoutes } from './routing-defaults.ts'
import { sessionRoutes } from './sessions.ts'
import { settingsRoutes } from './settings.ts'
import { subscriptionRoutes } from './subscription.ts'

/**
 * The routes of workspaces. There is one file for each resource, with its rows and handlers; start with `api-keys.ts`. The rules of a row are
 * applied before its handler runs:
 *
 * - `...reading` and `...writing(method)` are rows of the key's own workspace. Another workspace is 404. Then the scope (403), the rate limit
 *   (429), the query (400 `unknown_parameter`) and the body (400, by the fields in `input`) are checked.
 * - A handler gets the call and the workspace of core, which acts for the key. `fromWire(input, call.body)` is the body with core's names;
 *   `json(view)` replies to a read, `accepted(view)` to a write, `listed(call, { list, toView })` with a page.
 * - The JSON and the OpenAPI schema of a reply come from one table: `toReply(fields, record)` for a resource of core, `replyOf(table, row)`
 *   for the tables in `replies`. An absent value is null if its `reply` is `nullable`, and absent if it is `optional`.
 * - A change without fields changes nothing and returns the record.
 * - The `Idempotency-Key` of a POST is stored in the commit of its change, so a handler must result in exactly one `commitWithAudit` with a
 *   change. Set `secret: true` if the reply contains a secret.
 */
export const managementRoutes: readonly Route[] = [
  ...apiKeyRoutes,
  ...keyUsageRoutes,
  ...budgetRoutes,
  ...billingRoutes,
  ...subscriptionRoutes,
  ...byokKeyRoutes,
  ...sessionRoutes,
  ...settingsRoutes,
  ...routingDefaultsRoutes,
  ...memberRoutes,
  ...inviteRoutes,
  acceptInviteRoute,
  ...auditEventRoutes,
  ...analyticsRoutes,
  ...requestRoutes,
]
