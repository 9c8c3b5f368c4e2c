import * as z from 'zod'
import { apiKeySchemas } from './api-keys.ts'
import { auditEventSchemas } from './audit-events.ts'
import { inviteSchemas } from './invites.ts'
import { memberSchemas } from './members.ts'
import { routingDefaultsSchemas } from './routing-defaults.ts'
import { settingsSchemas } from './settings.ts'

/** What the rows of workspaces take and give. */
export const managementSchemas = () => ({
  ...apiKeySchemas(),
  ...settingsSchemas(),
  ...routingDefaultsSchemas(),
  ...memberSchemas(),
  ...inviteSchemas(),
  ...auditEventSchemas(),
  Acknowledgement: acknowledgement(),
})

const acknowledgement = () =>
  z.object({
    id: z.string(),
    propagation_status: z.literal('pending').nullable(),
    message: z.string(),
  })
