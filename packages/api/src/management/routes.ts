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
 * The routes of workspaces: one file for each resource, with its rows and handlers (`api-keys.ts` is the one to read). What a row states is
 * done before its handler runs:
 *
 * - `...reading`, `...writing(method)`: a row of the key's own workspace. Another workspace is 404; then come the scope (403), the rate
 *   limit (429), the query (400 `unknown_parameter`) and the body (400), which is checked by the table of fields in `input`.
 * - A handler gets the call and the workspace of core, which acts for the key. `fromWire(input, call.body)` is the body with core's names;
 *   `json(view)` replies to a read, `accepted(view)` to a write, `listed(call, { list, toView })` with a page.
 * - JSON and OpenAPI schema of a reply come from one table: `toReply(fields, record)` for a resource of core, `replyOf(table, row)` for
 *   the tables in `replies`. A field without a value is null where its `reply` is `nullable`, and absent where it is `optional`.
 * - A change without fields changes nothing and returns the record.
 * - A POST with an `Idempotency-Key` is noted in the commit of its change, so its handler leads to exactly one `commitWithAudit` that
 *   changes something. `secret: true` if the reply contains a secret.
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
