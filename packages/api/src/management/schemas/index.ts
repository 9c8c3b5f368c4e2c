import { auditVerificationFields } from '@signalbox/core/resources'
import * as z from 'zod/v4'
import { closedObject, textField } from '../../schema-fields.ts'
import { auditEventReply } from '../replies/audit-event.ts'
import { balanceReply } from '../replies/balance.ts'
import { keyUsageReply } from '../replies/key-usage.ts'
import { analyticsSchemas } from './analytics.ts'
import { pageSchema } from './page.ts'
import { resourceSchema } from './resource.ts'
import { resourceSchemas } from './resources.ts'

/** The schemas of the workspace routes, for the OpenAPI document. Requests do not load them. */
export const managementSchemas = () => ({
  ...resourceSchemas(),
  ...analyticsSchemas(),
  ApiKeyUsage: resourceSchema(keyUsageReply, 'reply').describe('Usage of an API key in a period.'),
  Balance: resourceSchema(balanceReply, 'reply').describe('Credit of a workspace.'),
  AuditEventList: pageSchema(resourceSchema(auditEventReply, 'reply')),
  AuditVerification: resourceSchema(auditVerificationFields, 'reply').describe('Whether the audit log is unchanged.'),
  Acknowledgement: acknowledgement(),
})

const acknowledgement = () =>
  closedObject('Confirmation of a change.', {
    id: textField('Id of the resource that was changed.', '01a1fd6c-4db3-76f2-bb09-734d779bb6f4'),
    propagation_status: z
      .literal('pending')
      .nullable()
      .describe('`pending` if other processes may take up to 30 seconds to apply the change; otherwise null.'),
    message: textField('What was done.', 'The key was revoked.'),
  })
