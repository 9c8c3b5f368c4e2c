import { budgetAccountAt, budgetFacts } from '../../access/budget-facts.ts'
import type { BudgetBody } from '../../access/kinds.ts'
import { changed, type Kept, made, removed } from '../../access/records.ts'
import { orStoreDown } from '../../errors/gateway-error.ts'
import { absent } from '../check.ts'
import { ownWorkspace } from '../own.ts'
import type { Desk } from '../ports.ts'
import { wireNames } from '../wire-names.ts'
import { type BudgetChange, bodyOf, checkKey, checkRoom, type NewBudget, withChange } from './check-budgets.ts'

export interface Budgets {
  /**
   * A limit on what all keys of the workspace, or one of them, may spend in a period; at most 200 for a workspace. What was
   * spent before does not count.
   *
   * @example await gateway.workspaces(id).budgets.create({ name: 'monthly', period: 'month', limitUsd: 50 })
   */
  create(input: NewBudget): Promise<Budget>
  /** In the order of their making. */
  list(options?: { readonly after?: string; readonly limit?: number }): Promise<readonly Budget[]>
  /** Throws `resource_not_found`. */
  get(id: string): Promise<Budget>
  /** What was used stays used. */
  update(id: string, input: BudgetChange): Promise<Budget>
  /** What it was when it went. */
  delete(id: string): Promise<Budget>
}

export interface Budget extends Omit<BudgetBody, 'limit'> {
  readonly id: string
  readonly workspaceId: string
  readonly createdAt: number
  readonly limitUsd: number
  /** In the period that is now. */
  readonly usedUsd: number
  /** 0 where it is used up. */
  readonly remainingUsd: number
  /** Unix milliseconds: when the next period begins. Absent: never. */
  readonly resetsAt?: number
}

export const budgetsOf = ({ ports, workspaceId, actor }: Desk): Budgets => {
  const { storage, records, register, clock, ids } = ports
  const budgetOf = async (id: string): Promise<Kept<'budget'>> => {
    const budget = await records.find('budget', workspaceId, id)
    if (!budget) throw absent('budget', id)
    return budget
  }
  const told = async (budget: Kept<'budget'>): Promise<Budget> => {
    const at = clock.now()
    const balance = await orStoreDown(() => storage.ledger.balance(budgetAccountAt(budget, at)))
    const { limit, used, remaining, resetsAt } = budgetFacts(budget.body, { used: balance.spent - balance.credited, at })
    const { limit: _, ...body } = budget.body
    const { id, createdAt } = budget
    const amounts = { limitUsd: usdOf(limit), usedUsd: usdOf(used), remainingUsd: usdOf(remaining) }
    return { ...body, id, workspaceId, createdAt, ...amounts, ...(resetsAt !== undefined && { resetsAt }) }
  }
  return {
    async create(input) {
      const body = bodyOf(input)
      const id = ids.uuid()
      const budget = await register(workspaceId, actor, async () => {
        await ownWorkspace(records, workspaceId)
        await checkRoom(records, workspaceId)
        if (body.apiKeyId !== undefined) await checkKey(ports, workspaceId, body.apiKeyId)
        const record = { id, workspaceId, createdAt: clock.now(), body }
        return {
          puts: [made('budget', record)],
          events: [{ event: 'budget.created', subject: { type: 'budget', id }, changes: wireNames(input) }],
          result: { ...record, kind: 'budget' as const, version: 1 },
        }
      })
      return told(budget)
    },
    list: async ({ after, limit = 100 } = {}) =>
      Promise.all((await records.list('budget', { workspaceId, limit, ...(after !== undefined && { after }) })).map(told)),
    get: async id => told(await budgetOf(id)),
    async update(id, input) {
      const updated = await register(workspaceId, actor, async () => {
        const budget = await budgetOf(id)
        if (Object.keys(input).length === 0) return { events: [], result: budget }
        const body = withChange(budget.body, input)
        return {
          puts: [changed(budget, { body })],
          events: [{ event: 'budget.updated', subject: { type: 'budget', id }, changes: wireNames(input) }],
          result: { ...budget, body },
        }
      })
      return told(updated)
    },
    async delete(id) {
      const gone = await register(workspaceId, actor, async () => {
        const budget = await budgetOf(id)
        return {
          removals: [removed(budget)],
          events: [{ event: 'budget.deleted', subject: { type: 'budget', id } }],
          result: budget,
        }
      })
      return told(gone)
    },
  }
}

const usdOf = (amount: number): number => amount / 1_000_000
