import { dayMs } from '@signalbox/dialects/protocol'
import type { BudgetBody } from '../resources/budget.ts'
import type { CallerBudget } from '../runtime/ports.ts'
import type { WorkspacePolicy } from './workspace-policy.ts'

// Everything that limits spending is an account of one ledger: prepaid credit, budgets, and the number of requests with BYOK
// credentials. So a hold covers all of them in one step, or none.

/** The ledger account that holds a workspace's prepaid credit. */
export const creditAccount = (workspaceId: string): string => `credit:${workspaceId}`

/** The ledger account of a budget in a period: each period has its own. */
export const budgetAccount = (budgetId: string, { start }: Period): string =>
  `budget:${budgetId}${start === undefined ? '' : `:${new Date(start).toISOString().slice(0, 10)}`}`

/** The ledger account that counts the BYOK requests of a month. It counts requests, not money. */
export const byokAccount = (workspaceId: string, at: number): string => `byok:${workspaceId}:${new Date(at).toISOString().slice(0, 7)}`

export interface Period {
  /** Unix milliseconds. Absent: no start. */
  readonly start?: number
  /** Unix milliseconds at which the next period begins. Absent: never. */
  readonly end?: number
}

/** The UTC period that contains a time; weeks begin on Monday. */
export function periodOf(period: BudgetBody['period'], at: number): Period {
  if (period === 'total') return {}
  const date = new Date(at)
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
  if (period === 'month') return { start: Date.UTC(year, month), end: Date.UTC(year, month + 1) }
  const today = Date.UTC(year, month, date.getUTCDate())
  if (period === 'day') return { start: today, end: today + dayMs }
  const monday = today - ((date.getUTCDay() + 6) % 7) * dayMs
  return { start: monday, end: monday + 7 * dayMs }
}

/** A key and its ancestors. */
export interface KeyWithAncestors {
  readonly keyId: string
  readonly ancestors?: readonly { readonly keyId: string }[]
  /** Budgets of an end user. */
  readonly budgets?: readonly CallerBudget[]
}

/** The budgets that a request counts against: those of its workspace, of its key and the key's ancestors, and of its end user. */
export function budgetsOf({ budgets }: Pick<WorkspacePolicy, 'budgets'>, line: KeyWithAncestors): readonly CallerBudget[] {
  if (budgets.length === 0) return line.budgets ?? budgets
  const laidDown = budgets.filter(({ body }) => body.scope === 'workspace' || isBudgetOfKey(body, line))
  return line.budgets ? [...laidDown, ...line.budgets] : laidDown
}

/** Whether the budget belongs to the key or one of its ancestors. */
const isBudgetOfKey = ({ apiKeyId }: Pick<BudgetBody, 'apiKeyId'>, { keyId, ancestors }: KeyWithAncestors): boolean =>
  apiKeyId !== undefined && (apiKeyId === keyId || ancestors?.some(above => above.keyId === apiKeyId) === true)
