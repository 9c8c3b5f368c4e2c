import * as z from 'zod/v4'
import { analyticsSchemas } from './analytics.ts'
import { auditEventSchemas } from './audit-events.ts'
import { balance } from './balance.ts'
import { keyUsageSchemas } from './key-usage.ts'
import { requestSchemas } from './requests.ts'
import { resourceSchemas } from './resources.ts'

/** The bodies and replies of the routes of workspaces, for the OpenAPI document. No request loads them. */
export const managementSchemas = () => ({
  ...resourceSchemas(),
  ...keyUsageSchemas(),
  Balance: balance(),
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
