import type { AccountHold, LedgerStore } from '@signalbox/storage'
import { budgetsOf, byokAccount, creditAccount, periodOf } from '../../access/accounts.ts'
import { budgetAccountAt, budgetFacts } from '../../access/budget-facts.ts'
import type { Caller } from '../../access/caller.ts'
import type { Kept } from '../../access/records.ts'
import { isPrepaid, type Terms } from '../../access/terms.ts'
import { GatewayError, orStoreDown, storeDown } from '../../errors/gateway-error.ts'
import { estimateMost } from '../../metering/estimate.ts'
import type { Microdollars } from '../../metering/money.ts'
import { priceFor } from '../../metering/tier.ts'
import type { InferenceRequest } from '../../protocol/request.ts'
import { narrowed } from '../../routing/narrow.ts'
import type { Candidate, Plan } from '../../routing/plan.ts'
import { type Step, wait } from '../../runtime/steps.ts'
import type { MoneyBounds } from '../policy/money-bounds.ts'
import { isOwn } from '../settlement/bill.ts'
import type { GrowingJournal } from './journal.ts'

// What a request may cost, set aside before anybody is asked: the credit of its workspace, each budget that it counts against,
// and one of the calls that the workspace may make with credentials of its own. All of it, or nothing.

export interface Holding {
  readonly requestId: string
  readonly caller: Caller
  readonly terms: Terms
  readonly plan: Plan
  /** As estimated. */
  readonly inputTokens: number
  readonly bounds: Pick<MoneyBounds, 'size' | 'maxOutput'>
  readonly request: InferenceRequest
  /** Two providers may be asked at once, and both read the prompt. */
  readonly hedge: boolean
  /** Unix milliseconds. */
  readonly at: number
  /** Kept with the hold, for whoever has to settle it should this process end. */
  readonly journal?: GrowingJournal
}

/** What is set aside on one account. */
export type HeldAccount = Required<AccountHold>

export interface Held {
  /** Those of the plan for whom the money is there. */
  readonly plan: Plan
  readonly accounts: readonly HeldAccount[]
}

interface Account extends AccountHold {
  readonly amount: number
  /** Whose use counts here. */
  readonly counts: (candidate: Candidate) => boolean
  /** Why those are left out, while there are others. */
  readonly reason: string
  readonly refused: (available: number) => GatewayError
}

const isOurs = (candidate: Candidate): boolean => !isOwn(candidate)
const everyone = (): boolean => true

/** Whom the request can pay for: where an account has no room, it goes to those who do not count there. Throws the 402 where there are none. */
export function* hold(holding: Holding, ledger: LedgerStore): Step<Held> {
  const { requestId, at, journal } = holding
  let { plan } = holding
  for (;;) {
    const accounts = accountsOf(holding, plan)
    const held = accounts.map(({ account, floor, amount }) => ({ account, floor, amount }))
    const request = { id: requestId, amount: 0, accounts: held, at, ...(journal && { journal: journal.write }) }
    const refusal = yield* wait(orStoreDown(() => ledger.reserve(request)))
    if (!refusal) return { plan, accounts: held }
    const refusing = accounts.find(({ account }) => account === refusal.account)
    if (!refusing) throw storeDown(new Error(`The ledger refused an account that was not to be held: ${refusal.account}.`))
    const narrower = narrowed(plan, refusing.counts, refusing.reason)
    if (!narrower) throw refusing.refused(refusal.available)
    plan = narrower
  }
}

function accountsOf(holding: Holding, { candidates }: Plan): readonly Account[] {
  const { caller, terms, at } = holding
  const own = candidates.filter(isOwn)
  const ours = own.length === 0 ? candidates : candidates.filter(isOurs)
  const charged = mostOfAll(holding, ours)
  const accounts: Account[] = ours.length === 0 ? [] : [creditOf(holding, charged)]
  for (const budget of budgetsOf(terms, caller)) {
    const { enforce, includeByok } = budget.body
    if (!enforce || (ours.length === 0 && !includeByok)) continue
    // Of two that are asked at once one may be ours and the other theirs.
    const amount = includeByok && own.length > 0 ? mostOfAll(holding, candidates) : charged
    accounts.push(budgetOf(budget, amount, at))
  }
  const cap = own.length > 0 ? terms.workspace.body.subscription?.byokMonthlyRequestCap : undefined
  if (cap !== undefined) accounts.push(capOf(caller.workspaceId, cap, at))
  return accounts
}

const creditOf = ({ caller, terms }: Holding, amount: Microdollars): Account => ({
  account: creditAccount(caller.workspaceId),
  floor: isPrepaid(terms.workspace.body) ? 0 : Number.NEGATIVE_INFINITY,
  amount,
  counts: isOurs,
  reason: 'the workspace has not enough credit for it',
  refused: available =>
    new GatewayError('insufficient_credits', {
      message: `The request may cost up to ${usd(amount)}, and the workspace has ${usd(Math.max(0, available))} of credit free. Add credit, or lower \`max_output_tokens\`.`,
    }),
})

function budgetOf(budget: Kept<'budget'>, amount: Microdollars, at: number): Account {
  const { name, limit, period, includeByok } = budget.body
  const { end } = periodOf(period, at)
  return {
    account: budgetAccountAt(budget, at),
    floor: -limit,
    amount,
    counts: includeByok ? everyone : isOurs,
    reason: `the budget "${name}" has no room for it`,
    refused: available => {
      const remaining = Math.max(0, available)
      return new GatewayError('budget_exceeded', {
        message: `The request may cost up to ${usd(amount)}, and the budget "${name}" of ${usd(limit)} has ${usd(remaining)} left${end === undefined ? '' : ` until ${new Date(end).toISOString()}`}. Raise it, or lower \`max_output_tokens\`.`,
        budget: budgetFacts(budget.body, { used: limit - remaining, at }),
      })
    },
  }
}

const capOf = (workspaceId: string, cap: number, at: number): Account => ({
  account: byokAccount(workspaceId, at),
  floor: -cap,
  amount: 1,
  counts: isOwn,
  reason: 'the workspace has made all the calls of this month with credentials of its own',
  refused: () =>
    new GatewayError('budget_exceeded', {
      message: `The workspace may make ${cap} calls a month with credentials of its own, and has. It can again from ${new Date(periodOf('month', at).end ?? at).toISOString()} on.`,
    }),
})

/** The dearest candidate decides. */
function mostOfAll(holding: Holding, candidates: readonly Candidate[]): Microdollars {
  const { hedge, bounds } = holding
  let answer = 0
  let reading = 0
  for (const candidate of candidates) {
    answer = Math.max(answer, mostOf(candidate, holding, bounds.maxOutput(candidate)))
    if (hedge) reading = Math.max(reading, mostOf(candidate, holding, 0))
  }
  return answer + reading
}

const mostOf = (candidate: Candidate, { request, bounds }: Holding, output: number): Microdollars => {
  const price = priceFor(candidate, request)
  return estimateMost({ ...candidate.offer, ...(price && { price }) }, { ...bounds.size, output })
}

const usd = (amount: Microdollars): string => `$${(amount / 1_000_000).toFixed(6)}`
