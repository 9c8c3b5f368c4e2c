import type { Storage } from '@signalbox/storage'
import { budgetsOf } from '../access/accounts.ts'
import { budgetAccountAt, budgetFacts, maySee, tightestOf } from '../access/budget-facts.ts'
import type { Caller } from '../access/caller.ts'
import type { WorkspacePolicies } from '../access/workspace-policy.ts'
import { type BudgetFacts, orStoreDown } from '../errors/gateway-error.ts'
import type { Clock } from '../runtime/ports.ts'
import type { Limits } from '../upstream/limits.ts'

/** The identity of a key, for `GET /v1/me`. */
export interface Identity {
  readonly caller: Caller
  readonly limits: { readonly inferenceRpm: number; readonly managementReadsRpm: number; readonly managementWritesRpm: number }
  /** The budget with the least left: of those that can refuse a call with this key, else of those that only watch. Of an end user: of its own. */
  readonly budget?: BudgetFacts
}

export interface IdentityPorts {
  readonly storage: Pick<Storage, 'ledger'>
  readonly terms: WorkspacePolicies
  readonly limits: Limits
  readonly clock: Clock
}

export async function identityOf({ storage, terms, limits, clock }: IdentityPorts, caller: Caller): Promise<Identity> {
  const { inferenceRpm, managementReadsRpm, managementWritesRpm } = limits
  const at = clock.now()
  const laidDown = await terms.of(caller.workspaceId)
  const budgets = laidDown ? budgetsOf(laidDown, caller).filter(budget => maySee(caller, budget)) : []
  const enforced = budgets.filter(({ body }) => body.enforce)
  const facts = (enforced.length > 0 ? enforced : budgets).map(async budget => {
    const { spent, credited } = await storage.ledger.balance(budgetAccountAt(budget, at))
    return budgetFacts(budget.body, { used: spent - credited, at })
  })
  const known = await orStoreDown(() => Promise.all(facts))
  const budget = tightestOf(known)
  return {
    caller,
    limits: { inferenceRpm: rpmOf(caller, inferenceRpm), managementReadsRpm, managementWritesRpm },
    ...(budget && { budget }),
  }
}

/** The lowest of its own limit and those of the keys above it. */
const rpmOf = ({ limits, ancestors = [] }: Caller, usual: number): number =>
  Math.min(limits?.requestsPerMinute ?? usual, ...ancestors.flatMap(above => above.limits?.requestsPerMinute ?? []))
