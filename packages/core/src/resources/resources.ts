import { own } from '@signalbox/dialects/protocol'
import { analyticsEndpoints } from './analytics.ts'
import { apiKeyEndpoints } from './api-key.ts'
import { auditEventEndpoints } from './audit-event.ts'
import { autoReloadEndpoints, billingEndpoints, subscriptionEndpoints } from './billing.ts'
import { budgetEndpoints } from './budget.ts'
import { byokKeyEndpoints } from './byok-key.ts'
import { inviteEndpoints, memberEndpoints } from './member.ts'
import { sessionEndpoints } from './session.ts'
import { routingDefaultsEndpoints, settingsEndpoints } from './settings.ts'
import { limitEndpoints } from './workspace.ts'

/** The resources of a workspace with their methods, by the names that programs call them by, in the order of the documentation. */
export const resources = {
  apiKeys: apiKeyEndpoints,
  budgets: budgetEndpoints,
  billing: billingEndpoints,
  'billing.autoReload': autoReloadEndpoints,
  subscription: subscriptionEndpoints,
  byokKeys: byokKeyEndpoints,
  sessions: sessionEndpoints,
  settings: settingsEndpoints,
  limits: limitEndpoints,
  routingDefaults: routingDefaultsEndpoints,
  members: memberEndpoints,
  invites: inviteEndpoints,
  auditEvents: auditEventEndpoints,
  analytics: analyticsEndpoints,
} as const

/** The name of a resource in a workspace, as in `billing.autoReload`. */
export type ResourcePath = keyof typeof resources

/** The resource of a workspace with this name. */
export const resourceAt = (workspace: object, path: string): object =>
  path.split('.').reduce((inner, name) => own(inner as Readonly<Record<string, object>>, name) ?? {}, workspace)
