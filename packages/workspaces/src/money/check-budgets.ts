import type { Records, TypedRecord } from '@signalbox/core/access'
import { isActive, maxRecordsOfKind, maxRecordsRead } from '@signalbox/core/access'
import type { BudgetBody, BudgetChange, NewBudget } from '@signalbox/core/resources'
import { invalidValue } from '@signalbox/core/resources'
import { GatewayError } from '@signalbox/dialects/errors'
import { absent } from '../check.ts'
import type { ManagementPorts } from '../ports.ts'
import { defined } from '../wire-names.ts'

/** A new budget with its defaults. */
export function createBudgetBody({ scope, ...input }: NewBudget): BudgetBody {
  const { apiKeyId } = input
  const counted = scope ?? (apiKeyId === undefined ? 'workspace' : 'api_key')
  if (counted === 'workspace' && apiKeyId !== undefined)
    throw invalidValue('apiKeyId', apiKeyId, 'nothing where `scope` is "workspace"; of one key, `scope` is "api_key"')
  if (counted === 'api_key' && apiKeyId === undefined)
    throw new GatewayError('missing_required_parameter', {
      message: '`apiKeyId` is missing. A budget whose `scope` is "api_key" names the key that it counts.',
      param: 'apiKeyId',
    })
  return changeBudgetBody({ period: 'month', enforce: true, includeByok: false, alertAt: [], ...defined(input), scope: counted }, {})
}

/** A budget after a change. */
export function changeBudgetBody(body: BudgetBody, change: BudgetChange): BudgetBody {
  const next = { ...body, ...defined(change) }
  return { ...next, alertAt: [...new Set(next.alertAt)].sort((a, b) => a - b) }
}

/** All budgets of a workspace. */
export const budgetsIn = async (records: Records, workspaceId: string): Promise<readonly TypedRecord<'budget'>[]> =>
  records.list('budget', { workspaceId, limit: maxRecordsRead })

/** Throws `state_precondition_failed` if the workspace has the maximum number of budgets, unless `setup` adds one. */
export function checkRoom({ isForSetup }: Pick<ManagementPorts, 'isForSetup'>, there: readonly TypedRecord<'budget'>[]): void {
  if (there.length >= maxRecordsOfKind && !isForSetup)
    throw new GatewayError('state_precondition_failed', {
      message: `This workspace has ${maxRecordsOfKind} budgets, the maximum. Delete one first.`,
    })
}

/** Throws if the workspace has no such key, or if the key is revoked or has expired, which for `setup` is no error. */
export async function checkKey({ records, clock, isForSetup }: ManagementPorts, workspaceId: string, id: string): Promise<void> {
  const key = await records.find('key', workspaceId, id)
  if (!key || key.group === 'system') throw absent('API key', id)
  if (!isActive(key.body, clock.now()) && !isForSetup)
    throw new GatewayError('state_precondition_failed', {
      message: `The API key "${id}" is revoked or has expired, so it cannot have a budget. Use an active key.`,
      param: 'apiKeyId',
    })
}
