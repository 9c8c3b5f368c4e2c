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
import { sessionSchemas } from './sessions.ts'
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
  ...sessionSchemas(),
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
  z
    .object({
      id: z.string().meta({ description: 'Id of what was changed.', example: '01a1fd6c-4db3-76f2-bb09-734d779bb6f4' }),
      propagation_status: z.literal('pending').nullable().describe('`pending` while other processes may not know the change; null after.'),
      message: z.string().meta({ description: 'What was done, in words.', example: 'The key is revoked.' }),
    })
    .describe('A change that was made.')
