import type { Caller, WorkspacePolicies } from '@signalbox/core/access'
import { budgetAccountAt, budgetFacts, budgetsOf, maySee, tightestOf } from '@signalbox/core/access'
import type { CallerBudgetState } from '@signalbox/core/resources'
import type { Clock } from '@signalbox/core/runtime'
import { orStoreDown } from '@signalbox/core/runtime'
import type { Limits } from '@signalbox/core/upstream'
import type { BudgetFacts } from '@signalbox/dialects/errors'
import type { Storage } from '@signalbox/storage'

/** The identity of a caller, with its rights and remaining budgets, as in `GET /v1/me`. */
export interface Identity {
  readonly caller: Caller
  readonly limits: { readonly inferenceRpm: number; readonly managementReadsRpm: number; readonly managementWritesRpm: number }
  /** The budgets that apply to its requests, as far as the caller may see them: an end user sees its own, without those of groups. */
  readonly budgets: readonly CallerBudgetState[]
  /**
   * The budget with the least remaining: among those that can refuse a request of this key, else among those that only observe. For an end
   * user: among its own.
   */
  readonly budget?: BudgetFacts
}

/** The ports of `identityOf`. */
export interface IdentityPorts {
  readonly storage: Pick<Storage, 'ledger'>
  readonly terms: WorkspacePolicies
  readonly limits: Limits
  readonly clock: Clock
}

/** The caller itself: workspace, key, scopes, limits and budgets. */
export async function identityOf({ storage, terms, limits, clock }: IdentityPorts, caller: Caller): Promise<Identity> {
  const { inferenceRpm, managementReadsRpm, managementWritesRpm } = limits
  const at = clock.now()
  const laidDown = await terms.of(caller.workspaceId)
  const budgets = laidDown ? budgetsOf(laidDown, caller).filter(budget => maySee(caller, budget)) : []
  const states = budgets.map(async (budget): Promise<CallerBudgetState> => {
    const { spent, credited } = await storage.ledger.balance(budgetAccountAt(budget, at))
    const { name, period, enforce } = budget.body
    return { name, period, enforce, ...budgetFacts(budget.body, { used: spent - credited, at }) }
  })
  const known = await orStoreDown(() => Promise.all(states))
  const enforced = known.filter(({ enforce }) => enforce)
  const budget = tightestOf(enforced.length > 0 ? enforced : known)
  return {
    caller,
    limits: { inferenceRpm: rpmOf(caller, inferenceRpm), managementReadsRpm, managementWritesRpm },
    budgets: known,
    budget,
  }
}

/** The lowest of the key's own limit and its ancestors' limits. */
const rpmOf = ({ limits, ancestors = [] }: Caller, usual: number): number =>
  Math.min(limits?.requestsPerMinute ?? usual, ...ancestors.flatMap(above => above.limits?.requestsPerMinute ?? []))
