import { budgetAccountAt, budgetFacts, changedRecord, newRecord, recordRemoval, type TypedRecord } from '@signalbox/core/access'
import { type Budget, type BudgetChange, budgetFields, type NewBudget, toWire } from '@signalbox/core/resources'
import { orStoreDown } from '@signalbox/core/runtime'
import { absent } from '../check.ts'
import { findWorkspace } from '../find-workspace.ts'
import type { WorkspaceContext } from '../ports.ts'
import { budgetsIn, changeBudgetBody, checkKey, checkRoom, createBudgetBody } from './check-budgets.ts'

/** The budgets of a workspace and of its keys. Amounts are microdollars: `usd(50)`. */
export interface Budgets {
  /**
   * Creates a budget. A workspace has at most 200. Earlier spending does not count.
   *
   * @example await gateway.workspaces(id).budgets.create({ name: 'monthly', period: 'month', limit: usd(50) })
   *
   * @throws `invalid_parameter_value`, `resource_not_found` (the key), `state_precondition_failed` (200 budgets, or a revoked key)
   */
  create(input: NewBudget): Promise<Budget>
  /** In order of creation. */
  list(options?: { readonly after?: string; readonly limit?: number }): Promise<readonly Budget[]>
  /** @throws `resource_not_found` */
  get(id: string): Promise<Budget>
  /** Changes a budget. The used amount stays. */
  update(id: string, input: BudgetChange): Promise<Budget>
  /** Deletes a budget and returns its last state. */
  delete(id: string): Promise<Budget>
}

export const budgetsOf = ({ ports, workspaceId, actor }: WorkspaceContext): Budgets => {
  const { storage, records, commitWithAudit, clock, ids } = ports
  const findBudget = async (id: string): Promise<TypedRecord<'budget'>> => {
    const budget = await records.find('budget', workspaceId, id)
    if (!budget) throw absent('budget', id)
    return budget
  }
  const recordOf = async (budget: TypedRecord<'budget'>): Promise<Budget> => {
    const at = clock.now()
    const { spent, credited } = await orStoreDown(() => storage.ledger.balance(budgetAccountAt(budget, at)))
    const { id, body, createdAt } = budget
    return { ...body, id, workspaceId, createdAt, ...budgetFacts(body, { used: spent - credited, at }) }
  }
  return {
    async create(input) {
      const body = createBudgetBody(input)
      const id = ids.uuid()
      const budget = await commitWithAudit(workspaceId, actor, async () => {
        await findWorkspace(records, workspaceId)
        const all = await budgetsIn(records, workspaceId)
        const old = ports.isForSetup && all.find(each => each.body.name === body.name && each.body.apiKeyId === body.apiKeyId)
        if (old) return { events: [], result: old }
        checkRoom(ports, all)
        if (body.apiKeyId !== undefined) await checkKey(ports, workspaceId, body.apiKeyId)
        const record = { id, workspaceId, createdAt: clock.now(), body }
        return {
          puts: [newRecord('budget', record)],
          events: [{ event: 'budget.created', subject: { type: 'budget', id }, changes: toWire(budgetFields, input) }],
          result: { ...record, kind: 'budget' as const, version: 1 },
        }
      })
      return recordOf(budget)
    },
    list: async ({ after, limit = 100 } = {}) =>
      Promise.all((await records.list('budget', { workspaceId, limit, ...(after !== undefined && { after }) })).map(recordOf)),
    get: async id => recordOf(await findBudget(id)),
    async update(id, input) {
      const updated = await commitWithAudit(workspaceId, actor, async () => {
        const budget = await findBudget(id)
        if (Object.keys(input).length === 0) return { events: [], result: budget }
        const body = changeBudgetBody(budget.body, input)
        return {
          puts: [changedRecord(budget, { body })],
          events: [{ event: 'budget.updated', subject: { type: 'budget', id }, changes: toWire(budgetFields, input) }],
          result: { ...budget, body },
        }
      })
      return recordOf(updated)
    },
    async delete(id) {
      const gone = await commitWithAudit(workspaceId, actor, async () => {
        const budget = await findBudget(id)
        return {
          removals: [recordRemoval(budget)],
          events: [{ event: 'budget.deleted', subject: { type: 'budget', id } }],
          result: budget,
        }
      })
      return recordOf(gone)
    },
  }
}
