import { requestPrice } from '@signalbox/dialects/common'
import { isGatewayError } from '@signalbox/dialects/errors'
import type { Usage } from '@signalbox/dialects/protocol'
import type { Awaitable, UsageResult, UsageRow } from '@signalbox/storage'
import { allOf, andThen, recover } from '@signalbox/storage/awaitable'
import { budgetsOf } from '../../access/accounts.ts'
import { budgetAccountAt } from '../../access/budget-facts.ts'
import { reloadsCredit } from '../../access/workspace-policy.ts'
import { billUsage, resultOf, zeroBill } from '../../metering/bill-usage.ts'
import type { MeteredAnswer } from '../../metering/meter.ts'
import { likelyInput } from '../../metering/prompt-size.ts'
import { callHook } from '../../runtime/call-hook.ts'
import { withinStorageWait } from '../../runtime/timers.ts'
import type { CommittedAttempt } from '../../upstream/attempt.ts'
import type { MetadataFacts } from '../response-metadata.ts'
import type { RequestRun } from '../run.ts'
import { type AccountAmounts, addToBill, amountsOf, type Bill, noBill } from './bill.ts'
import { chargeFor, learnPace, noText, payableBill, reservedAmounts, unreadBill } from './charge.ts'
import { evidenceText, keepsFullEvidence } from './evidence.ts'

// All money is settled here: each admitted request is settled exactly once.

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

/** Settles a request that received a response, and bills what was metered. `deliver` hands on a whole response: if it throws, nothing is charged. */
export function settleAnswered(
  run: RequestRun,
  committed: CommittedAttempt,
  seen: MeteredAnswer,
  deliver: ((settled: Settled) => void) | undefined,
): Awaitable<Settled> {
  const { engine, request, startedAt, discarded, cancellation } = run
  const { candidate } = committed
  const { failure } = cancellation
  const isLeft = cancellation.reason === 'client_left'
  const now = engine.clock.monotonic()
  const { usage, cost, warnings } = chargeFor(run, committed, seen)
  committed.reportEnd(seen.usage ? { outcome: seen.outcome, usage } : seen)
  if (seen.outcome?.status === 'completed') learnPace(engine, committed, { usage, endedAt: now })
  const allWarnings = warnings.length === 0 ? committed.warnings : [...committed.warnings, ...warnings]
  const unread = discarded.length === 0 ? noBill : unreadBill(run, likelyInput(request.prompt))
  const full = addToBill(unread, candidate, cost)
  const reserved = reservedAmounts(full, run, run.allowance)
  return andThen(reserved ? full : payableBill(full, run, run.allowance), payable => {
    const settled: Settled = {
      cost: payable.cost,
      byokCost: payable.isByok ? payable.byokCost : undefined,
      usage,
      outputMs: outputTime(committed, now, request.delivery === 'stream' ? seen.firstContentAt : undefined),
      endedAt: run.at + now - startedAt,
      settledAt: now,
      warnings: allWarnings,
    }
    const undelivered = deliver && seen.outcome?.status !== 'failed' ? errorOf(() => deliver(settled)) : undefined
    const bill = undelivered ? noBill : payable
    const { result, code } = undelivered
      ? endingOf(undelivered.error, false)
      : resultOf(failure === undefined ? seen : { ...seen, errorCode: seen.errorCode ?? failure }, isLeft)
    const written = writeSettlement(run, {
      model: candidate.model.id,
      provider: candidate.provider.id,
      credential: candidate.credential.owner,
      usage,
      bill,
      amounts: undelivered || !reserved ? amountsOf(bill, run) : reserved,
      now,
      result,
      code,
      // Each code once: a request of ten thousand unknown fields has as many warnings, and a row is small.
      warnings: allWarnings.length === 0 ? [] : [...new Set(allWarnings.map(warning => warning.code))],
      firstContentMs: seen.firstContentAt === undefined ? undefined : Math.round(seen.firstContentAt - startedAt),
    })
    return andThen(written, () => (undelivered ? { ...settled, undelivered } : settled))
  })
}

/** What a call throws. */
function errorOf(call: () => void): { readonly error: unknown } | undefined {
  try {
    call()
    return undefined
  } catch (error) {
    return { error }
  }
}

/** A stream shorter than this is timed from when its call was sent, like a response that is not streamed. */
const minStreamMs = 10

/** Milliseconds that the output took, excluding earlier failed attempts. */
function outputTime({ sentAt }: CommittedAttempt, now: number, firstContentAt = now): number {
  const streamedMs = now - firstContentAt
  return Math.max(1, streamedMs >= minStreamMs ? streamedMs : now - (sentAt ?? now))
}

/** Settles a request that received no response, or whose client disconnected before it. */
export function settleUnanswered(run: RequestRun, error: unknown): Awaitable<void> {
  const { engine, discarded, plan, request, allowance, cancellation } = run
  const isLeft = cancellation.reason === 'client_left'
  const payer = isLeft ? discarded[0] : undefined
  const candidate = payer ?? plan.candidates[0]
  const input = payer ? likelyInput(request.prompt) : 0
  const { usage } = payer ? billUsage(noText, requestPrice(payer, request), { input }) : zeroBill
  return andThen(isLeft ? payableBill(unreadBill(run, input), run, allowance) : noBill, bill =>
    writeSettlement(run, {
      model: candidate.model.id,
      provider: (isGatewayError(error) ? error.facts.provider : undefined) ?? payer?.provider.id ?? '',
      credential: candidate.credential.owner,
      usage,
      bill,
      amounts: amountsOf(bill, run),
      now: engine.clock.monotonic(),
      ...endingOf(error, isLeft),
      warnings: [],
      firstContentMs: undefined,
    }),
  )
}

function endingOf(error: unknown, left: boolean): { readonly result: UsageResult; readonly code: string } {
  if (left) return { result: 'abandoned', code: 'client_disconnected' }
  if (!isGatewayError(error)) return { result: 'error', code: 'internal_error' }
  return { result: error.status === 429 ? 'rate_limited' : 'error', code: error.code }
}

function writeSettlement(run: RequestRun, outcome: RowOutcome): Awaitable<void> {
  const { engine, facts, policy, ticket, options } = run
  const { logger, hooks, pending, settlements, retention } = engine
  const { bill, amounts, usage, now } = outcome
  const row = rowOf(run, outcome)
  const onSettled = (): void => {
    if (bill.cost > 0 && reloadsCredit(policy)) engine.onSpent?.(facts.workspaceId)
    const alerts = sendBudgetAlerts(run, amounts)
    if (!alerts) return
    pending.add(alerts)
    void alerts.finally(() => pending.delete(alerts))
  }
  const slotKeys = ticket.slots.map(({ key }) => key)
  const correcting = correctTokens(run, usage)
  const settling = settlements.settle({ row, amounts, slotKeys, onSettled, waitUntil: options.waitUntil })
  return andThen(settling, () =>
    andThen(correcting, () => {
      retention.look(policy, now)
      if (hooks.onFinish) callHook(logger, 'onFinish', () => hooks.onFinish?.(facts, row))
    }),
  )
}

/**
 * Calls `onBudget` for each share of a budget that this settlement has passed. Ledger entries are ordered, so exactly one settlement
 * across all processes passes each share. Undefined if there is no hook or no budget.
 */
function sendBudgetAlerts(run: RequestRun, amounts: AccountAmounts): Promise<void> | undefined {
  const { facts, policy, at, engine } = run
  const { hooks, logger, storage } = engine
  const { onBudget } = hooks
  if (!onBudget || policy.budgets.length === 0) return undefined
  const checks = budgetsOf(policy, facts).map(async budget => {
    const { limit, alertAt, enforce } = budget.body
    const account = budgetAccountAt(budget, at)
    // A budget that is not enforced always alerts at 100 %.
    const shares = [...new Set(enforce ? alertAt : [...alertAt, 1])]
    if (shares.length === 0 || amounts[account] === undefined) return
    const [entry] = await storage.ledger.entries(account, { id: facts.requestId, limit: 1 })
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

function rowOf(run: RequestRun, outcome: RowOutcome): UsageRow {
  const { facts, request, plan, at, startedAt, attempts } = run
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
    attempts,
    durationMs: Math.round(now - startedAt),
    result,
    warnings: outcome.warnings,
  }
  if (code !== undefined) row.code = code
  if (firstContentMs !== undefined) row.firstContentMs = firstContentMs
  if (request.metadata) row.metadata = request.metadata
  if (facts.tags) row.tags = facts.tags
  const routing = evidenceOf(run, result)
  if (routing !== undefined) row.routing = routing
  return row
}

/** Corrects the token counters to the actual usage. If this fails, they keep the estimate. */
function correctTokens({ engine, ticket: { tokens } }: RequestRun, usage: Usage): Awaitable<unknown> {
  const { storage, clock, logger } = engine
  if (!tokens) return undefined
  const difference = usage.input_tokens + usage.output_tokens - tokens.amount
  const corrections = tokens.keys.map(key => () => storage.counters.add(key, difference, clock.now()))
  return recover<unknown>(
    () => withinStorageWait(allOf(corrections), clock),
    error => logger.warn({ error: String(error) }, 'A token rate limit could not be corrected after a request.'),
  )
}

/** The routing evidence for the usage row. An error here must not fail the settlement. */
function evidenceOf({ engine, facts, plan, attempts, trace }: RequestRun, result: UsageResult): string | undefined {
  const { storedShare: share, logger } = engine
  const { excluded, strategy } = plan
  const { requestId } = facts
  if (!trace || share <= 0) return undefined
  try {
    return evidenceText({ trace: trace(), excluded, strategy }, keepsFullEvidence({ requestId, share, attempts, result }))
  } catch (error) {
    logger.error({ requestId, error: String(error) }, 'The routing evidence of a request could not be stored.')
    return undefined
  }
}
