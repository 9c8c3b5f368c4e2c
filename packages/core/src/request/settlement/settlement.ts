import { requestPrice } from '@signalbox/dialects/common'
import { isGatewayError } from '@signalbox/dialects/errors'
import type { InferenceRequest, Usage, Warning } from '@signalbox/dialects/protocol'
import type { Awaitable, LedgerStore, Storage, UsageResult, UsageRow } from '@signalbox/storage'
import { allOf, isPromise, recover } from '@signalbox/storage/awaitable'
import { budgetsOf } from '../../access/accounts.ts'
import { budgetAccountAt } from '../../access/budget-facts.ts'
import { reloadsCredit, type WorkspacePolicy } from '../../access/workspace-policy.ts'
import { billUsage, resultOf, zeroBill } from '../../metering/bill-usage.ts'
import type { OutputPaces } from '../../metering/hidden-tokens.ts'
import type { MeteredAnswer } from '../../metering/meter.ts'
import { likelyInput } from '../../metering/prompt-size.ts'
import type { SettlementQueue } from '../../metering/settlement-queue.ts'
import type { UsageNotices } from '../../metering/usage-notices.ts'
import type { Plan } from '../../routing/plan.ts'
import { callHook } from '../../runtime/call-hook.ts'
import type { CallFacts, Clock, Hooks, Logger } from '../../runtime/ports.ts'
import { type Step, wait } from '../../runtime/steps.ts'
import { withinStorageWait } from '../../runtime/timers.ts'
import type { CommittedAttempt } from '../../upstream/attempt.ts'
import type { Ticket } from '../admission/admit.ts'
import type { Tokens } from '../admission/limits.ts'
import type { Attempts } from '../attempts/attempt-context.ts'
import type { Selection } from '../attempts/select-offers.ts'
import type { MoneyBounds } from '../policy/money-bounds.ts'
import type { CallOptions } from '../reply.ts'
import type { MetadataFacts } from '../response-metadata.ts'
import { type AccountAmounts, addToBill, amountsOf, type Bill, type BillContext, noBill } from './bill.ts'
import { chargeFor, learnPace, noText, payableBill, reservedAmounts, unreadBill } from './charge.ts'
import { evidenceText, keepsFullEvidence } from './evidence.ts'
import type { JournaledInput } from './journaled-progress.ts'
import type { Retention } from './retention.ts'
import type { Allowance } from './running-cost.ts'

// All money is settled here: each admitted request is settled exactly once.

export interface SettlementPorts {
  readonly storage: Storage
  readonly settlements: SettlementQueue
  readonly retention: Retention
  readonly paces: OutputPaces
  readonly usageNotices: UsageNotices
  readonly clock: Clock
  readonly logger: Logger
  readonly hooks: Hooks
  /** The share of recorded requests whose usage rows keep full routing evidence. */
  readonly storedShare: number
  /** Called after a charge to a workspace with auto reload. */
  readonly onSpent?: ((workspaceId: string) => void) | undefined
  /** Work after settlements, such as hooks and credit reloads. A closing gateway waits for it. */
  readonly pending: Set<Promise<void>>
}

export interface SettlementContext {
  readonly facts: CallFacts
  readonly policy: WorkspacePolicy
  readonly request: InferenceRequest
  readonly plan: Plan
  readonly ticket: Ticket
  readonly bounds: MoneyBounds
  readonly allowance: Allowance
  readonly inputTokens: number
  /** Unix milliseconds. */
  readonly at: number
  /** Monotonic milliseconds. */
  readonly startedAt: number
  readonly attempts: Attempts
  readonly waitUntil?: CallOptions['waitUntil'] | undefined
  /** The routing decisions. Undefined if routing had not started. */
  readonly selection?: Pick<Selection, 'trace'> | undefined
  /** Undefined if no journal has been written since the provider was called. */
  journaled?: JournaledInput | undefined
}

/** The fields of a usage row that depend on the outcome. The others are known from the start. */
type RowOutcome = Pick<UsageRow, 'model' | 'provider' | 'credential' | 'result' | 'warnings'> & {
  readonly code: string | undefined
  readonly firstContentMs: number | undefined
  readonly usage: Usage
  readonly bill: Bill
  readonly amounts: AccountAmounts
  /** When the request ended, in monotonic milliseconds. */
  readonly now: number
}

/** The usage, cost and end of a settled response. */
export type Settled = Pick<MetadataFacts, 'cost' | 'byokCost' | 'outputMs' | 'endedAt' | 'settledAt' | 'warnings'> & {
  readonly usage: Usage
  /** Why a whole response could not be delivered. */
  readonly undelivered?: { readonly error: unknown }
}

interface Completion {
  readonly committed: CommittedAttempt
  readonly seen: MeteredAnswer
  readonly isLeft: boolean
  /** The error code of the gateway, if it could not go on with the response. */
  readonly failure?: string | undefined
  /** Delivers a whole response. If it throws, the request is settled as an error, without a charge. */
  readonly deliver?: ((settled: Settled) => void) | undefined
}

/** Settles a request that received a response, and bills what was metered. */
export function* settleAnswered(
  ports: SettlementPorts,
  context: SettlementContext,
  { committed, seen, isLeft, failure, deliver }: Completion,
): Step<Settled> {
  const { clock, paces, usageNotices, logger } = ports
  const { facts, bounds, inputTokens, request, startedAt, allowance } = context
  const { candidate } = committed
  const now = clock.monotonic()
  const { usage, cost, warnings } = chargeFor({ facts, request, bounds, inputTokens, paces, usageNotices, logger }, committed, seen)
  committed.reportEnd(seen.usage ? { outcome: seen.outcome, usage } : seen)
  if (seen.outcome?.status === 'completed') learnPace(ports, committed, { usage, endedAt: now })
  const allWarnings = warnings.length === 0 ? committed.warnings : [...committed.warnings, ...warnings]
  const unread = context.attempts.discarded.length === 0 ? noBill : unreadBill(context, likelyInput(request.prompt))
  const full = addToBill(unread, candidate, cost)
  const reserved = reservedAmounts(full, context, allowance)
  const payable = reserved ? full : yield* payableBill(full, context, allowance)
  const outputMs = outputTime(committed, { now, firstContentAt: request.delivery === 'stream' ? seen.firstContentAt : undefined })
  const settled = settledAs(payable, { usage, outputMs, endedAt: context.at + now - startedAt, settledAt: now, warnings: allWarnings })
  const undelivered = deliver && seen.outcome?.status !== 'failed' ? errorOf(() => deliver(settled)) : undefined
  const bill = undelivered ? noBill : payable
  const { result, code } = undelivered
    ? endingOf(undelivered.error, false)
    : resultOf(failure === undefined ? seen : { ...seen, errorCode: seen.errorCode ?? failure }, isLeft)
  yield* writeSettlement(ports, context, {
    model: candidate.model.id,
    provider: candidate.provider.id,
    credential: candidate.credential.owner,
    usage,
    bill,
    amounts: undelivered || !reserved ? amountsOf(bill, context) : reserved,
    now,
    result,
    code,
    warnings: codesOf(allWarnings),
    firstContentMs: seen.firstContentAt === undefined ? undefined : Math.round(seen.firstContentAt - startedAt),
  })
  return undelivered ? { ...settled, undelivered } : settled
}

const settledAs = (bill: Bill, facts: Omit<Settled, 'cost' | 'byokCost'>): Settled =>
  bill.isByok ? { ...facts, cost: bill.cost, byokCost: bill.byokCost } : { ...facts, cost: bill.cost }

/** What a call throws. */
function errorOf(call: () => void): { readonly error: unknown } | undefined {
  try {
    call()
    return undefined
  } catch (error) {
    return { error }
  }
}

/** Each code once: a request of ten thousand unknown fields has as many warnings, and a row is small. */
const codesOf = (warnings: readonly Warning[]): readonly string[] =>
  warnings.length === 0 ? [] : [...new Set(warnings.map(({ code }) => code))]

/** A stream shorter than this is timed from when its call was sent, like a response that is not streamed. */
const minStreamMs = 10

/** Milliseconds that the output took, excluding earlier failed attempts. */
function outputTime(
  { sentAt }: CommittedAttempt,
  { now, firstContentAt = now }: { readonly now: number; readonly firstContentAt?: number | undefined },
) {
  const streamedMs = now - firstContentAt
  return Math.max(1, streamedMs >= minStreamMs ? streamedMs : now - (sentAt ?? now))
}

interface Failed {
  readonly error: unknown
  readonly isLeft: boolean
}

/** Settles a request that received no response, or whose client disconnected before it. */
export function* settleUnanswered(ports: SettlementPorts, context: SettlementContext, { error, isLeft }: Failed): Step<void> {
  const { attempts, plan, request, allowance } = context
  const payer = isLeft ? attempts.discarded[0] : undefined
  const candidate = payer ?? plan.candidates[0]
  const input = payer ? likelyInput(request.prompt) : 0
  const { usage } = payer ? billUsage(noText, requestPrice(payer, request), { input }) : zeroBill
  const bill = isLeft ? yield* payableBill(unreadBill(context, input), context, allowance) : noBill
  yield* writeSettlement(ports, context, {
    model: candidate.model.id,
    provider: (isGatewayError(error) ? error.facts.provider : undefined) ?? payer?.provider.id ?? '',
    credential: candidate.credential.owner,
    usage,
    bill,
    amounts: amountsOf(bill, context),
    now: ports.clock.monotonic(),
    ...endingOf(error, isLeft),
    warnings: [],
    firstContentMs: undefined,
  })
}

function endingOf(error: unknown, left: boolean): { readonly result: UsageResult; readonly code: string } {
  if (left) return { result: 'abandoned', code: 'client_disconnected' }
  if (!isGatewayError(error)) return { result: 'error', code: 'internal_error' }
  return { result: error.status === 429 ? 'rate_limited' : 'error', code: error.code }
}

function* writeSettlement(ports: SettlementPorts, context: SettlementContext, outcome: RowOutcome): Step<void> {
  const { logger, hooks, pending } = ports
  const { facts, policy, ticket, waitUntil } = context
  const { bill, amounts, usage, now } = outcome
  const row = rowOf(ports, context, outcome)
  const onSettled = (): void => {
    if (bill.cost > 0 && reloadsCredit(policy)) ports.onSpent?.(facts.workspaceId)
    const alerts = sendBudgetAlerts({ ledger: ports.storage.ledger, hooks, logger }, context, amounts)
    if (!alerts) return
    pending.add(alerts)
    void alerts.finally(() => pending.delete(alerts))
  }
  const slotKeys = ticket.slots.map(({ key }) => key)
  const correcting = correctTokens(ports, ticket.tokens, usage)
  yield* wait(ports.settlements.settle({ row, amounts, slotKeys, onSettled, waitUntil }))
  if (isPromise(correcting)) yield* wait(correcting)
  ports.retention.look(policy, now)
  if (hooks.onFinish) callHook(logger, 'onFinish', () => hooks.onFinish?.(facts, row))
}

interface BudgetAlertPorts {
  readonly ledger: LedgerStore
  readonly hooks: Hooks
  readonly logger: Logger
}

/**
 * Calls `onBudget` for each share of a budget that this settlement has passed. Ledger entries are ordered, so exactly one settlement
 * across all processes passes each share. Undefined if there is no hook or no budget.
 */
function sendBudgetAlerts(
  { ledger, hooks, logger }: BudgetAlertPorts,
  owing: BillContext,
  amounts: Readonly<Record<string, number>>,
): Promise<void> | undefined {
  const { onBudget } = hooks
  const { facts, policy, at } = owing
  if (!onBudget || policy.budgets.length === 0) return undefined
  const checks = budgetsOf(policy, facts).map(async budget => {
    const { limit, alertAt, enforce } = budget.body
    const account = budgetAccountAt(budget, at)
    // A budget that is not enforced always alerts at 100 %.
    const shares = [...new Set(enforce ? alertAt : [...alertAt, 1])]
    if (shares.length === 0 || amounts[account] === undefined) return
    const [entry] = await ledger.entries(account, { id: facts.requestId, limit: 1 })
    if (!entry) return
    const after = 0 - entry.balanceAfter
    const before = after + entry.amount
    for (const share of shares.filter(each => before < each * limit && after >= each * limit)) {
      const alert = { workspaceId: facts.workspaceId, budgetId: budget.id, share, used: after, limit }
      callHook(logger, 'onBudget', () => onBudget.call(hooks, alert))
    }
  })
  return Promise.all(checks).then(
    () => {},
    (error: unknown) => logger.warn({ requestId: facts.requestId, error: String(error) }, 'The state of a budget could not be determined.'),
  )
}

function rowOf(ports: SettlementPorts, context: SettlementContext, outcome: RowOutcome): UsageRow {
  const { facts, request, plan, at, startedAt, attempts } = context
  const { usage, bill, now, result, code, firstContentMs } = outcome
  const row: { -readonly [Field in keyof UsageRow]: UsageRow[Field] } = {
    id: facts.requestId,
    workspaceId: facts.workspaceId,
    keyId: facts.keyId,
    at,
    modelAsked: facts.model,
    model: outcome.model,
    provider: outcome.provider,
    credential: outcome.credential,
    strategy: plan.strategy,
    streamed: request.delivery === 'stream',
    inputTokens: usage.input_tokens,
    outputTokens: usage.output_tokens,
    cachedTokens: usage.cached_tokens,
    cacheWriteTokens: usage.cache_write_tokens,
    reasoningTokens: usage.reasoning_tokens,
    estimated: usage.estimated ?? false,
    cost: bill.cost,
    byokCost: bill.byokCost,
    attempts: attempts.count,
    durationMs: Math.round(now - startedAt),
    result,
    warnings: outcome.warnings,
  }
  if (code !== undefined) row.code = code
  if (firstContentMs !== undefined) row.firstContentMs = firstContentMs
  if (request.metadata) row.metadata = request.metadata
  if (facts.tags) row.tags = facts.tags
  const routing = evidenceOf(ports, context, result)
  if (routing !== undefined) row.routing = routing
  return row
}

/** Corrects the token counters to the actual usage. If this fails, they keep the estimate. */
function correctTokens({ storage, clock, logger }: SettlementPorts, tokens: Tokens | undefined, usage: Usage): Awaitable<unknown> {
  if (!tokens) return undefined
  const difference = usage.input_tokens + usage.output_tokens - tokens.amount
  const corrections = tokens.keys.map(key => () => storage.counters.add(key, difference, clock.now()))
  return recover<unknown>(
    () => withinStorageWait(allOf(corrections), clock),
    error => logger.warn({ error: String(error) }, 'A token rate limit could not be corrected after a request.'),
  )
}

/** The routing evidence for the usage row. An error here must not fail the settlement. */
function evidenceOf(ports: SettlementPorts, context: SettlementContext, result: UsageResult): string | undefined {
  const { facts, ticket, attempts, selection } = context
  const { excluded, strategy } = ticket.plan
  if (!selection?.trace || ports.storedShare <= 0) return undefined
  const { requestId } = facts
  const isFull = keepsFullEvidence({ requestId, share: ports.storedShare, attempts: attempts.count, result })
  try {
    return evidenceText({ trace: selection.trace(), excluded, strategy }, isFull)
  } catch (error) {
    ports.logger.error({ requestId, error: String(error) }, 'The routing evidence of a request could not be stored.')
    return undefined
  }
}
