import type { BudgetBody } from './kinds.ts'
import type { Kept } from './records.ts'
import type { Terms } from './terms.ts'

// Whatever limits spending is an account of the one ledger: prepaid credit, budgets, and the number of requests with
// credentials of one's own. So all of them are held, or none is, in one step.

/** The ledger account that holds a workspace's prepaid credit. */
export const creditAccount = (workspaceId: string): string => `credit:${workspaceId}`

/** A budget begins anew with each period, under another account. */
export const budgetAccount = (budgetId: string, { start }: Period): string =>
  `budget:${budgetId}${start === undefined ? '' : `:${new Date(start).toISOString().slice(0, 10)}`}`

/** Counts requests, not money. */
export const byokAccount = (workspaceId: string, at: number): string => `byok:${workspaceId}:${new Date(at).toISOString().slice(0, 7)}`

export interface Period {
  /** Absent: it has always been. */
  readonly start?: number
  /** When the next begins. Absent: never. */
  readonly end?: number
}

const dayMs = 86_400_000

/** The period of UTC that a moment lies in; weeks begin on Monday. */
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

/** A key, and the keys above it. */
export interface KeyLine {
  readonly keyId: string
  readonly ancestors?: readonly { readonly keyId: string }[]
}

/** The budgets that a call with this key counts against: of its workspace, its own, and those of the keys above it. */
export const budgetsOf = ({ budgets }: Pick<Terms, 'budgets'>, line: KeyLine): readonly Kept<'budget'>[] =>
  budgets.length === 0 ? budgets : budgets.filter(({ body }) => body.scope === 'workspace' || isOfLine(body, line))

/** Whether the budget is of the key, or of one above it. */
const isOfLine = ({ apiKeyId }: Pick<BudgetBody, 'apiKeyId'>, { keyId, ancestors }: KeyLine): boolean =>
  apiKeyId !== undefined && (apiKeyId === keyId || ancestors?.some(above => above.keyId === apiKeyId) === true)
