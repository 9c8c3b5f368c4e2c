import { requestPrice } from '@signalbox/dialects/common'
import { GatewayError } from '@signalbox/dialects/errors'
import type { InferenceRequest } from '@signalbox/dialects/protocol'
import { toUsd } from '@signalbox/dialects/protocol'
import type { AccountHold } from '@signalbox/storage/ledger'
import { budgetsOf, byokAccount, creditAccount, periodOf } from '../../access/accounts.ts'
import { budgetAccountAt, budgetFacts, maySee } from '../../access/budget-facts.ts'
import type { Caller } from '../../access/caller.ts'
import { isPrepaid, type WorkspacePolicy } from '../../access/workspace-policy.ts'
import { estimateMaxCost } from '../../metering/estimate.ts'
import type { Microdollars } from '../../metering/money.ts'
import { sizeAt } from '../../metering/prompt-size.ts'
import type { Candidate, Excluded, Plan } from '../../routing/plan.ts'
import type { CallerBudget } from '../../runtime/ports.ts'
import type { MoneyBounds } from '../policy/money-bounds.ts'
import { usesByokKey } from '../settlement/bill.ts'
import type { LiveJournal } from './journal.ts'
import type { RequestLimit } from './limits.ts'

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

/** An account on which a request is held. */
export interface HoldAccount extends RequestLimit {
  /** Whether a candidate's cost counts against this account. */
  readonly counts: (candidate: Candidate) => boolean
  /** Why candidates are excluded if this account refuses. */
  readonly reason: string
}

const usesPlatformKey = (candidate: Candidate): boolean => !usesByokKey(candidate)
const anyKey = (): boolean => true

/** The accounts that pay for a request, by its maximum cost: credit, budgets, and the monthly number of BYOK requests. */
export function accountsOf(holding: HoldContext, { candidates }: Plan): readonly HoldAccount[] {
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
  kind: 'account',
  key: creditAccount(holding.caller.workspaceId),
  limit: isPrepaid(holding.policy.workspace.body) ? 0 : Number.POSITIVE_INFINITY,
  amount,
  windowMs: 0,
  counts: usesPlatformKey,
  reason: 'the workspace does not have enough credit',
  refuse: available =>
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
    kind: 'account',
    key: budgetAccountAt(budget, at),
    limit,
    amount,
    windowMs: 0,
    counts: includeByok ? anyKey : usesPlatformKey,
    reason: maySee(caller, budget) ? `the budget "${name}" does not have enough left` : 'a shared budget does not have enough left',
    refuse: available => {
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
  kind: 'account',
  key: byokAccount(caller.workspaceId, at),
  limit: cap,
  amount: 1,
  windowMs: 0,
  counts: usesByokKey,
  reason: 'the workspace has reached its monthly limit of BYOK calls',
  refuse: () =>
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
  const tokens = { ...sizeAt(bounds.size, candidate.quirks), output }
  const { contextWindow } = candidate.offer
  const held = estimateMaxCost({ price: price ?? candidate.offer.price, contextWindow }, tokens)
  // A provider may serve a priority request in its standard tier, where long prompts may cost more, and a flex request too.
  const usual = requestPrice(candidate, request, usualTier)
  return usual && usual !== price ? Math.max(held, estimateMaxCost({ price: usual, contextWindow }, tokens)) : held
}

const usualTier = { service_tier: 'default' }

const formatUsd = (amount: Microdollars): string => `$${toUsd(amount).toFixed(6)}`

/** The plan without the candidates that count against an account, listed with the reason. Undefined if none would be left. */
export function withoutCandidates(plan: Plan, { counts, reason }: HoldAccount): Plan | undefined {
  const { candidates, excluded, ranks, pinned } = plan
  const [first, ...others] = candidates.filter(candidate => !counts(candidate))
  if (!first) return undefined
  return {
    ...plan,
    candidates: [first, ...others],
    excluded: [...excluded, ...candidates.filter(counts).map(candidate => excludedFor(candidate, reason))],
    ranks: ranks?.filter((_, index) => !counts(candidates[index] as Candidate)),
    pinned: pinned?.filter(candidate => !counts(candidate)),
  }
}

const excludedFor = ({ model, provider, offer, credential }: Candidate, reason: string): Excluded => ({
  model: model.id,
  provider: provider.id,
  provider_model_id: offer.model,
  code: 'routing_failed',
  reason,
  byok_key_id: credential.owner === 'workspace' ? credential.id : undefined,
})
