import type { KeyBody } from '@signalbox/core/access'
import { changedRecord, isActive, newRecord, recordRemoval, type TypedRecord } from '@signalbox/core/access'
import { budgetFields, type KeyBudgetChange, toWire } from '@signalbox/core/resources'
import { GatewayError } from '@signalbox/dialects/errors'
import type { Draft } from '../change.ts'
import type { ManagementPorts } from '../ports.ts'
import { budgetsIn, changeBudgetBody, checkRoom, createBudgetBody } from './check-budgets.ts'

/** The budget changes that a change of a key requires, to be committed with it. */
export type BudgetPart = Required<Pick<Draft<unknown>, 'puts' | 'removals' | 'events'>>

export const noBudgetPart: BudgetPart = { puts: [], removals: [], events: [] }

interface Owner {
  readonly id: string
  readonly workspaceId: string
  readonly body: Pick<KeyBody, 'name' | 'revokedAt' | 'expiresAt'>
}

/** The change of a key's budget. Absent fields of an existing budget stay; `null` removes the budget. */
export async function keyBudget(ports: ManagementPorts, key: Owner, budget: KeyBudgetChange | null): Promise<BudgetPart> {
  const { records } = ports
  const old = await records.findByName('budget', keyBudgetName(key.id))
  if (budget === null) return old ? withoutBudgets([old]) : noBudgetPart
  if (!isActive(key.body, ports.clock.now())) {
    if (ports.isForSetup) return noBudgetPart
    throw new GatewayError('state_precondition_failed', {
      message: `The API key "${key.id}" is revoked or has expired, so it cannot have a budget.`,
      param: 'budget',
    })
  }
  if (!old) return newBudget(ports, key, budget)
  return {
    ...noBudgetPart,
    puts: [changedRecord(old, { body: changeBudgetBody(old.body, budget) })],
    events: [{ event: 'budget.updated', subject: { type: 'budget', id: old.id }, changes: toWire(budgetFields, budget) }],
  }
}

async function newBudget(ports: ManagementPorts, key: Owner, budget: KeyBudgetChange): Promise<BudgetPart> {
  const { records, clock, ids, isForSetup, logger } = ports
  const { limit } = budget
  // The holder of a key can delete its budget.
  if (limit === undefined && isForSetup) {
    logger.warn(
      { workspaceId: key.workspaceId, id: key.id },
      'The budget of an API key that `setup` changes does not exist, so nothing limits what the key spends. Pass `budget.limit` too, which makes it again.',
    )
    return noBudgetPart
  }
  if (limit === undefined)
    throw new GatewayError('missing_required_parameter', {
      message: '`budget.limit` is missing.',
      param: 'budget.limit',
    })
  checkRoom(ports, await budgetsIn(records, key.workspaceId))
  const input = { ...budget, limit, name: key.body.name, apiKeyId: key.id, period: 'total' } as const
  const id = ids.uuid()
  const record = { id, workspaceId: key.workspaceId, name: keyBudgetName(key.id), createdAt: clock.now(), body: createBudgetBody(input) }
  return {
    ...noBudgetPart,
    puts: [newRecord('budget', record)],
    events: [{ event: 'budget.created', subject: { type: 'budget', id }, changes: toWire(budgetFields, input) }],
  }
}

/** Removes the budgets of a revoked key. */
export async function budgetsGone({ records }: ManagementPorts, { id, workspaceId }: Owner): Promise<BudgetPart> {
  const all = await budgetsIn(records, workspaceId)
  return withoutBudgets(all.filter(({ body }) => body.apiKeyId === id))
}

const withoutBudgets = (budgets: readonly TypedRecord<'budget'>[]): BudgetPart => ({
  ...noBudgetPart,
  removals: budgets.map(recordRemoval),
  events: budgets.map(({ id }) => ({ event: 'budget.deleted', subject: { type: 'budget', id } })),
})

const keyBudgetName = (keyId: string): string => `key:${keyId}`
