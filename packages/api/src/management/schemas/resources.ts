import {
  acceptanceFields,
  apiKeyFields,
  autoReloadFields,
  budgetFields,
  byokKeyFields,
  creditFields,
  inviteFields,
  ledgerEntryFields,
  memberFields,
  rotateKeyFields,
  routingDefaultsFields,
  sessionFields,
  settingsFields,
  subscriptionFields,
} from '@signalbox/core/resources'
import * as z from 'zod/v4'
import { textField } from '../../schema-fields.ts'
import { pageSchema } from './page.ts'
import { resourceSchema } from './resource.ts'

/** Bodies and replies derived from the tables of fields, with additional fields of replies. */
export const resourceSchemas = () => ({
  ...keySchemas(),
  ...byokKeySchemas(),
  ...accessSchemas(),
  CreateBudget: resourceSchema(budgetFields, 'create'),
  UpdateBudget: resourceSchema(budgetFields, 'update'),
  Budget: resourceSchema(budgetFields, 'reply'),
  BudgetList: pageSchema(resourceSchema(budgetFields, 'reply')),
  CreateCredit: resourceSchema(creditFields, 'create'),
  UpdateAutoReload: resourceSchema(autoReloadFields, 'update'),
  LedgerEntryList: pageSchema(resourceSchema(ledgerEntryFields, 'reply')),
  Subscription: resourceSchema(subscriptionFields, 'reply'),
  UpdateSettings: resourceSchema(settingsFields, 'update'),
  Settings: resourceSchema(settingsFields, 'reply').extend({ warnings: nameWarnings() }),
  UpdateRoutingDefaults: resourceSchema(routingDefaultsFields, 'update'),
  RoutingDefaults: resourceSchema(routingDefaultsFields, 'reply').extend({ warnings: nameWarnings() }),
})

function keySchemas() {
  const profile = z
    .enum(['inference', 'management', 'mixed'])
    .meta({ description: 'The kind of scopes that the key has.', example: 'inference' })
  const apiKey = resourceSchema(apiKeyFields, 'reply').extend({ profile })
  return {
    CreateApiKey: resourceSchema(apiKeyFields, 'create'),
    UpdateApiKey: resourceSchema(apiKeyFields, 'update'),
    RotateApiKey: resourceSchema(rotateKeyFields, 'create'),
    ApiKey: apiKey,
    CreatedApiKey: apiKey.extend({
      api_key: textField('The secret. It is returned only in this response.', 'ak_Zx81kQ2pF7…'),
      propagation_status: propagationStatus(),
    }),
    ApiKeyList: pageSchema(apiKey),
  }
}

function byokKeySchemas() {
  const byokKey = resourceSchema(byokKeyFields, 'reply').extend({ propagation_status: propagationStatus() })
  return {
    CreateByokKey: resourceSchema(byokKeyFields, 'create'),
    UpdateByokKey: resourceSchema(byokKeyFields, 'update'),
    ByokKey: byokKey,
    ByokKeyList: pageSchema(byokKey),
  }
}

function accessSchemas() {
  const session = resourceSchema(sessionFields, 'reply')
  const invite = resourceSchema(inviteFields, 'reply')
  const member = resourceSchema(memberFields, 'reply')
  return {
    CreateSession: resourceSchema(sessionFields, 'create'),
    CreatedSession: session.extend({
      token: textField('The token. It is returned only in this response.', 'st_Zx81kQ2pF7…'),
    }),
    SessionList: pageSchema(session),
    UpdateMember: resourceSchema(memberFields, 'update'),
    Member: member,
    MemberList: pageSchema(member),
    CreateInvite: resourceSchema(inviteFields, 'create'),
    Invite: invite,
    CreatedInvite: invite.extend({
      token: textField('The token that accepts the invite. It is returned only in this response.', 'inv_Jf0…'),
    }),
    InviteList: pageSchema(invite),
    AcceptInvite: resourceSchema(acceptanceFields, 'create'),
    AcceptedInvite: member.extend({
      workspace_id: textField('Id of the workspace that was joined.', 'acme'),
    }),
  }
}

const propagationStatus = () =>
  z.literal('pending').nullable().meta({
    description: '`pending` if other processes may take up to 30 seconds to apply the change; null if it applies everywhere.',
    example: null,
  })

const nameWarnings = () =>
  z
    .array(
      z.object({
        code: z
          .literal('unknown_name')
          .meta({ description: 'Code of the warning. `unknown_name` is the only one.', example: 'unknown_name' }),
        message: textField('What is wrong.', 'This gateway no longer has the provider "exmaple".'),
        param: textField('Path of the entry.', 'blocked_providers[0]'),
      }),
    )
    .optional()
    .meta({ description: 'Names in the lists that the gateway no longer knows. Absent if it knows all of them.', example: [] })
