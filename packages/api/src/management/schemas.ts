import * as z from 'zod'
import { analyticsSchemas } from './analytics.ts'
import { apiKeySchemas } from './api-keys.ts'
import { auditEventSchemas } from './audit-events.ts'
import { billingSchemas } from './billing.ts'
import { budgetSchemas } from './budgets.ts'
import { byokKeySchemas } from './byok-keys.ts'
import { inviteSchemas } from './invites.ts'
import { keyUsageSchemas } from './key-usage.ts'
import { memberSchemas } from './members.ts'
import { requestSchemas } from './requests.ts'
import { routingDefaultsSchemas } from './routing-defaults.ts'
import { settingsSchemas } from './settings.ts'
import { subscriptionSchemas } from './subscription.ts'

/** What the rows of workspaces take and give. */
export const managementSchemas = () => ({
  ...apiKeySchemas(),
  ...keyUsageSchemas(),
  ...budgetSchemas(),
  ...billingSchemas(),
  ...subscriptionSchemas(),
  ...byokKeySchemas(),
  ...settingsSchemas(),
  ...routingDefaultsSchemas(),
  ...memberSchemas(),
  ...inviteSchemas(),
  ...auditEventSchemas(),
  ...analyticsSchemas(),
  ...requestSchemas(),
  Acknowledgement: acknowledgement(),
})

const acknowledgement = () =>
  z.object({
    id: z.string(),
    propagation_status: z.literal('pending').nullable(),
    message: z.string(),
  })
