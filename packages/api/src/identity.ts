import { callerBudgetFields, profileOf, toReply } from '@signalbox/core/resources'
import { budgetHeaders } from '@signalbox/dialects/errors'
import type { Caller } from '@signalbox/gateway'
import type { ApiReply } from './api.ts'
import { json } from './json-reply.ts'
import type { Call } from './route.ts'

export async function me({ gateway }: Call, authenticated: Caller): Promise<ApiReply> {
  const { caller, limits, budgets, budget } = await gateway.identity(authenticated)
  const view = {
    credential_type: caller.isEndUser ? 'user' : 'api_key',
    status: 'active',
    profile: profileOf(caller.scopes),
    key_id: caller.keyId,
    key_prefix: caller.keyPrefix,
    key_name: caller.keyName,
    workspace: { id: caller.workspaceId, name: caller.workspaceName },
    scopes: [...caller.scopes].sort(),
    rate_limits: {
      inference_rpm: limits.inferenceRpm,
      management_reads_rpm: limits.managementReadsRpm,
      management_writes_rpm: limits.managementWritesRpm,
    },
    budgets: budgets.map(each => toReply(callerBudgetFields, each)),
    expires_at: caller.expiresAt === undefined ? null : new Date(caller.expiresAt).toISOString(),
    created_at: new Date(caller.createdAt).toISOString(),
  }
  return json(view, { headers: budgetHeaders(budget) })
}
