import { requestPrice } from '@signalbox/dialects/common'
import { GatewayError } from '@signalbox/dialects/errors'
import type { InferenceRequest } from '@signalbox/dialects/protocol'
import { quirksFor, toUsd } from '@signalbox/dialects/protocol'
import type { Awaitable, LedgerStore } from '@signalbox/storage'
import { isPromise } from '@signalbox/storage/awaitable'
import type { AccountHold, HoldRefusal, HoldRequest } from '@signalbox/storage/ledger'
import { budgetsOf, byokAccount, creditAccount, periodOf } from '../../access/accounts.ts'
import { budgetAccountAt, budgetFacts, maySee } from '../../access/budget-facts.ts'
import type { Caller } from '../../access/caller.ts'
import { isPrepaid, type WorkspacePolicy } from '../../access/workspace-policy.ts'
import { estimateMaxCost } from '../../metering/estimate.ts'
import type { Microdollars } from '../../metering/money.ts'
import { sizeAt } from '../../metering/prompt-size.ts'
import type { Candidate, Excluded, Plan } from '../../routing/plan.ts'
import type { CallerBudget } from '../../runtime/ports.ts'
import { type Step, wait } from '../../runtime/steps.ts'
import { orStoreDown, storeDown } from '../../runtime/store-down.ts'
import type { MoneyBounds } from '../policy/money-bounds.ts'
import { usesByokKey } from '../settlement/bill.ts'
import type { LiveJournal } from './journal.ts'

// A hold reserves the maximum cost of a request before any provider is called: on the workspace's credit, on each budget that it
// counts against, and one request of the monthly BYOK limit. All of them in one step, or none.

export interface HoldContext {
  readonly requestId: string
  readonly caller: Caller
  readonly policy: WorkspacePolicy
  readonly plan: Plan
  /** Estimated. */
  readonly inputTokens: number
  readonly bounds: Pick<MoneyBounds, 'size' | 'maxOutput'>
  readonly request: InferenceRequest
  /** Whether two providers may be called in parallel, in which case both bill the prompt. */
  readonly hedge: boolean
  /** Unix milliseconds. */
  readonly at: number
  /** Stored with the hold, so that another process can settle it if this one ends. */
  readonly journal?: LiveJournal
}

/** The amount reserved on one account. */
export type HeldAccount = Required<AccountHold>

export interface HoldResult {
  /** The plan, limited to candidates that the workspace can afford. */
  readonly plan: Plan
  readonly accounts: readonly HeldAccount[]
}

interface HoldAccount extends AccountHold {
  readonly amount: number
  /** Whether a candidate's cost counts against this account. */
  readonly counts: (candidate: Candidate) => boolean
  /** Why candidates are excluded if this account refuses. */
  readonly reason: string
  readonly refused: (available: number) => GatewayError
}

const usesPlatformKey = (candidate: Candidate): boolean => !usesByokKey(candidate)
const anyKey = (): boolean => true

/** Places the hold. If an account refuses, candidates that count against it are excluded. Throws 402 if no candidate remains. */
export function* holdFunds(holding: HoldContext, ledger: LedgerStore): Step<HoldResult> {
  const { requestId, at, journal } = holding
  let { plan } = holding
  for (;;) {
    const accounts = accountsOf(holding, plan)
    const held = accounts.map(({ account, floor, amount }) => ({ account, floor, amount }))
    const request = { id: requestId, amount: 0, accounts: held, at, ...(journal && { journal: journal.write }) }
    const reserving = orStoreDown(() => ledger.reserve(request))
    let refusal: HoldRefusal | undefined
    try {
      refusal = yield* wait(reserving)
    } catch (error) {
      freeWhenPlaced(request, reserving, ledger)
      throw error
    }
    if (!refusal) return { plan, accounts: held }
    const refusing = accounts.find(({ account }) => account === refusal.account)
    if (!refusing) throw storeDown(new Error(`The ledger refused an account that was not part of the hold: ${refusal.account}.`))
    const narrower = restrictPlan(plan, refusing.counts, refusing.reason)
    if (!narrower) throw refusing.refused(refusal.available)
    plan = narrower
  }
}

/** Releases a hold that the ledger places after its request was interrupted. If the ledger never responds, the hold expires. */
function freeWhenPlaced({ id, at }: HoldRequest, reserving: Awaitable<HoldRefusal | undefined>, ledger: LedgerStore): void {
  if (isPromise(reserving)) reserving.then(refusal => refusal ?? ledger.settle({ id, amounts: {}, at })).catch(() => {})
}

function accountsOf(holding: HoldContext, { candidates }: Plan): readonly HoldAccount[] {
  const { caller, policy } = holding
  const byok = candidates.filter(usesByokKey)
  const platform = byok.length === 0 ? candidates : candidates.filter(usesPlatformKey)
  const charged = maxCostOfAll(holding, platform)
  const accounts: HoldAccount[] = platform.length === 0 ? [] : [creditOf(holding, charged)]
  for (const budget of budgetsOf(policy, caller)) {
    const { enforce, includeByok } = budget.body
    if (!enforce || (platform.length === 0 && !includeByok)) continue
    // Of two parallel calls, one may use the platform's key and the other a BYOK key.
    const amount = includeByok && byok.length > 0 ? maxCostOfAll(holding, candidates) : charged
    accounts.push(budgetOf(holding, budget, amount))
  }
  const cap = byok.length > 0 ? policy.workspace.body.subscription?.byokMonthlyRequestCap : undefined
  if (cap !== undefined) accounts.push(capOf(holding, cap))
  return accounts
}

/** What makes the request cheaper: a stated maximum counts, and without one an assumed answer does. */
const cheaperBy = ({ request }: HoldContext): string =>
  request.prompt.max_output_tokens === undefined
    ? 'set `max_output_tokens`, without which the longest answer is assumed'
    : 'lower `max_output_tokens`'

const capitalized = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`

const creditOf = (holding: HoldContext, amount: Microdollars): HoldAccount => ({
  account: creditAccount(holding.caller.workspaceId),
  floor: isPrepaid(holding.policy.workspace.body) ? 0 : Number.NEGATIVE_INFINITY,
  amount,
  counts: usesPlatformKey,
  reason: 'the workspace does not have enough credit',
  refused: available =>
    new GatewayError('insufficient_credits', {
      message: holding.caller.isEndUser
        ? `The request may cost up to ${formatUsd(amount)}, and the workspace of this user does not have enough credit. ${capitalized(cheaperBy(holding))}, or try again after credit was added.`
        : `The request may cost up to ${formatUsd(amount)}, but the workspace has only ${formatUsd(Math.max(0, available))} of available credit. Add credit, or ${cheaperBy(holding)}.`,
    }),
})

function budgetOf(holding: HoldContext, budget: CallerBudget, amount: Microdollars): HoldAccount {
  const { caller, at } = holding
  const { name, limit, period, includeByok } = budget.body
  const { end } = periodOf(period, at)
  return {
    account: budgetAccountAt(budget, at),
    floor: -limit,
    amount,
    counts: includeByok ? anyKey : usesPlatformKey,
    reason: maySee(caller, budget) ? `the budget "${name}" does not have enough left` : 'a shared budget does not have enough left',
    refused: available => {
      const until = end === undefined ? '' : ` until ${new Date(end).toISOString()}`
      if (!maySee(caller, budget))
        return new GatewayError('budget_exceeded', {
          message: `The request may cost up to ${formatUsd(amount)}, and a shared budget of this user has less than that left${until}. ${capitalized(cheaperBy(holding))}.`,
        })
      const remaining = Math.max(0, available)
      return new GatewayError('budget_exceeded', {
        message: `The request may cost up to ${formatUsd(amount)}, but the budget "${name}" of ${formatUsd(limit)} has only ${formatUsd(remaining)} left${until}. ${caller.isEndUser ? capitalized(cheaperBy(holding)) : `Raise the budget, or ${cheaperBy(holding)}`}.`,
        budget: budgetFacts(budget.body, { used: limit - remaining, at }),
      })
    },
  }
}

const capOf = ({ caller, at }: HoldContext, cap: number): HoldAccount => ({
  account: byokAccount(caller.workspaceId, at),
  floor: -cap,
  amount: 1,
  counts: usesByokKey,
  reason: 'the workspace has reached its monthly limit of BYOK calls',
  refused: () =>
    new GatewayError('budget_exceeded', {
      message: `The workspace has reached its limit of ${caller.isEndUser ? '' : `${cap} `}BYOK calls per month. The limit resets at ${new Date(periodOf('month', at).end ?? at).toISOString()}.`,
    }),
})

/** The cost of the most expensive candidate; for a hedge, plus the input of a second one. */
function maxCostOfAll(holding: HoldContext, candidates: readonly Candidate[]): Microdollars {
  const { hedge, bounds } = holding
  let answer = 0
  let reading = 0
  for (const candidate of candidates) {
    answer = Math.max(answer, maxCostOf(candidate, holding, bounds.maxOutput(candidate)))
    if (hedge) reading = Math.max(reading, maxCostOf(candidate, holding, 0))
  }
  return answer + reading
}

function maxCostOf(candidate: Candidate, { request, bounds }: HoldContext, output: number): Microdollars {
  const price = requestPrice(candidate, request)
  const tokens = { ...sizeAt(bounds.size, quirksFor(candidate.provider, candidate.offer)), output }
  const { contextWindow } = candidate.offer
  const held = estimateMaxCost({ price: price ?? candidate.offer.price, contextWindow }, tokens)
  // A provider may serve a priority request in its standard tier, where long prompts may cost more, and a flex request too.
  const usual = requestPrice(candidate, request, usualTier)
  return usual && usual !== price ? Math.max(held, estimateMaxCost({ price: usual, contextWindow }, tokens)) : held
}

const usualTier = { service_tier: 'default' }

const formatUsd = (amount: Microdollars): string => `$${toUsd(amount).toFixed(6)}`

/** The plan without some of its candidates, listed with the reason. Undefined if none would be left. */
function restrictPlan(plan: Plan, leavesOut: (candidate: Candidate) => boolean, reason: string): Plan | undefined {
  const { candidates, excluded, ranks, pinned } = plan
  const [first, ...others] = candidates.filter(candidate => !leavesOut(candidate))
  if (!first) return undefined
  return {
    ...plan,
    candidates: [first, ...others],
    excluded: [...excluded, ...candidates.filter(leavesOut).map(candidate => excludedFor(candidate, reason))],
    ...(ranks && { ranks: ranks.filter((_, at) => !leavesOut(candidates[at] as Candidate)) }),
    ...(pinned && { pinned: pinned.filter(candidate => !leavesOut(candidate)) }),
  }
}

const excludedFor = ({ model, provider, offer, credential }: Candidate, reason: string): Excluded => ({
  model: model.id,
  provider: provider.id,
  provider_model_id: offer.model,
  code: 'routing_failed',
  reason,
  ...(credential.owner === 'workspace' && { byok_key_id: credential.id }),
})
