import { budgetsOf, byokAccount, creditAccount } from '../../access/accounts.ts'
import { budgetAccountAt } from '../../access/budget-facts.ts'
import type { WorkspacePolicy } from '../../access/workspace-policy.ts'
import type { Microdollars } from '../../metering/money.ts'
import type { Candidate } from '../../routing/plan.ts'
import type { CallFacts } from '../../runtime/ports.ts'

/** Whether calls to a candidate use a BYOK key. */
export const usesByokKey = ({ credential }: Candidate): boolean => credential.owner === 'workspace'

/** The cost of a request: what the workspace is charged, and what it owes providers for calls with BYOK keys. */
export interface Bill {
  /** What the workspace is charged. */
  readonly cost: Microdollars
  /** The list price of calls with BYOK keys, which the workspace pays to its provider. */
  readonly byokCost: Microdollars
  /** Whether a call used a BYOK key. */
  readonly isByok: boolean
}

export const noBill: Bill = { cost: 0, byokCost: 0, isByok: false }

export const addToBill = ({ cost, byokCost, isByok }: Bill, payee: Candidate, amount: Microdollars): Bill =>
  usesByokKey(payee) ? { cost, byokCost: byokCost + amount, isByok: true } : { cost: cost + amount, byokCost, isByok }

export interface BillContext {
  readonly facts: CallFacts
  readonly policy: WorkspacePolicy
  /** Admission time in Unix milliseconds, which determines the budget periods that the request counts in. */
  readonly at: number
}

/** Microdollars, or requests with BYOK keys, by account. */
export type AccountAmounts = Readonly<Record<string, number>>

/** The amount for each account: the credit of the workspace and each budget. */
export function amountsOf({ cost, byokCost, isByok }: Bill, { facts, policy, at }: BillContext): AccountAmounts {
  const amounts: Record<string, number> = {}
  if (cost > 0) amounts[creditAccount(facts.workspaceId)] = cost
  if (isByok) amounts[byokAccount(facts.workspaceId, at)] = 1
  for (const budget of budgetsOf(policy, facts)) {
    const amount = budget.body.includeByok ? cost + byokCost : cost
    if (amount > 0) amounts[budgetAccountAt(budget, at)] = amount
  }
  return amounts
}
