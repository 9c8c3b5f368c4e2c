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
 * What workspaces own: one file per resource (`api-keys.ts` is the one to read), each with its rows, its handlers and its view;
 * their schemas are in `schemas`, which only the OpenAPI document needs. What is common to them is done before a handler runs, as facts of the row:
 *
 * - `...reading`, `...writing(method)`: a row of the workspace of the key. For another workspace there is nothing (404), then the
 *   scope (403), the rate class, the query (400 `unknown_parameter`), the body (400 by the table of fields in `input`).
 * - A handler gets the call and the workspace of core, with the actor in it. `bodyOf<typeof schema>(call)` is the body in the
 *   spelling of core; `json(view)` answers a read, `accepted(view)` a write, `listed(call, { list, view })` a page.
 * - A view is the one place that knows both spellings; it names each field. A field that is absent is undefined there and not
 *   sent; it is null where the contract says "or null".
 * - A change that names no field changes nothing and answers the record; the resource in core sees to it.
 * - A POST may be asked with an `Idempotency-Key`: it is noted with the change that `commitWithAudit` commits, so a handler leads to
 *   one `commitWithAudit` that changes something, and no more. `secret: true` where the answer holds one.
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
