import { allOf, recover, type UsageResult, type UsageRow } from '@signalbox/storage'
import { reloads, type Terms } from '../access/terms.ts'
import { isGatewayError } from '../errors/gateway-error.ts'
import type { Won } from '../execution/call.ts'
import type { Seen } from '../metering/meter.ts'
import { billed, nothingBilled, resultOf } from '../metering/settle.ts'
import { priceFor } from '../metering/tier.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import type { Usage } from '../protocol/response.ts'
import type { Candidate, Plan } from '../routing/plan.ts'
import type { CallFacts } from '../runtime/ports.ts'
import { tell } from '../runtime/tell.ts'
import type { Ticket } from './admit.ts'
import { tellBudgets } from './alerts.ts'
import { amountsOf, type Bill, billFor, noBill, type Owing } from './bill.ts'
import { chargeFor, learnPace, payable } from './charge.ts'
import { evidenceText, keepsEvidence, summaryText } from './evidence.ts'
import type { Engine } from './infer.ts'
import type { JournalProgress } from './journal.ts'
import { learnEnd } from './lessons.ts'
import type { MoneyBounds } from './money-bounds.ts'
import type { Tokens } from './rates.ts'
import type { CallOptions } from './reply.ts'
import type { Allowance } from './running-cost.ts'
import type { Known } from './stamp.ts'
import type { Tries } from './try-all.ts'

export interface Booking {
  readonly call: CallFacts
  readonly terms: Terms
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
  readonly tries: Tries
  readonly waitUntil?: CallOptions['waitUntil'] | undefined
}

/** What a usage row says of the outcome; the rest is known from the start. */
type Entry = Pick<UsageRow, 'model' | 'provider' | 'credential' | 'result' | 'code' | 'warnings' | 'firstContentMs'> & {
  readonly usage: Usage
  readonly bill: Bill
}

export interface Books {
  /** Somebody answered: pays by what was seen. */
  close(
    won: Won,
    seen: Seen,
    left: boolean,
  ): Promise<Pick<Known, 'cost' | 'byokCost' | 'streamedMs' | 'endedAt'> & { readonly usage: Usage }>
  /** What would be billed if the request ended now. */
  progress(candidate: Candidate, seen: Pick<Seen, 'characters' | 'firstContentAt'>): JournalProgress
  /** Nobody answered, or the caller left before. */
  release(error: unknown, left: boolean): Promise<void>
}

/** Ends an admitted request in the books: one usage record, however it ended. */
export function keepBooks(engine: Engine, booking: Booking): Books {
  const { clock, brain } = engine
  const { plan, request, inputTokens, startedAt, tries, allowance } = booking
  const owing: Owing = { call: booking.call, terms: booking.terms, at: booking.at }
  const charging = { ...booking, paces: engine.paces, logger: engine.logger }
  // A provider that has taken the request computes, and may bill, whether or not somebody waits for the answer.
  const unheard = (): Bill =>
    tries.accepted.reduce(
      (bill, payee) => billFor(bill, payee, billed({ characters: 0 }, priceFor(payee, request), { input: inputTokens }).cost),
      noBill,
    )
  return {
    async close(won, seen, left) {
      const { candidate } = won
      const now = clock.monotonic()
      const { usage, cost, warnings } = chargeFor(charging, won, seen)
      learnEnd(brain, won, seen.usage ? { ...seen, usage } : seen)
      if (seen.outcome?.status === 'completed') learnPace(engine, won, { usage, endedAt: now })
      const bill = await payable(billFor(unheard(), candidate, cost), owing, allowance)
      const streamed = request.delivery === 'stream' && seen.firstContentAt !== undefined
      const streamedMs = now - (streamed ? (seen.firstContentAt ?? now) : startedAt)
      const ending = resultOf(seen, left)
      await write(engine, booking, {
        model: candidate.model.id,
        provider: candidate.provider.id,
        credential: candidate.credential.owner,
        usage,
        bill,
        ...ending,
        warnings: [...won.warnings, ...warnings].map(({ code }) => code),
        ...(seen.firstContentAt !== undefined && { firstContentMs: Math.round(seen.firstContentAt - startedAt) }),
      })
      return { usage, cost: bill.cost, ...(bill.isByok && { byokCost: bill.byokCost }), streamedMs, endedAt: clock.now() }
    },
    progress(candidate, { characters, firstContentAt }) {
      const { usage, cost } = billed({ characters }, priceFor(candidate, request), { input: inputTokens })
      const others = unheard()
      const left = Math.max(0, allowance.least() - others.cost - others.byokCost)
      return {
        model: candidate.model.id,
        provider: candidate.provider.id,
        credential: candidate.credential.owner,
        attempts: tries.count,
        durationMs: Math.round(clock.monotonic() - startedAt),
        ...(firstContentAt !== undefined && { firstContentMs: Math.round(firstContentAt - startedAt) }),
        usage,
        // What is left behind is settled by another process, and no dearer than what is set aside.
        bill: billFor(others, candidate, Math.min(cost, left)),
      }
    },
    async release(error, left) {
      const payer = left ? tries.accepted[0] : undefined
      const candidate = payer ?? plan.candidates[0]
      const { usage } = payer ? billed({ characters: 0 }, priceFor(payer, request), { input: inputTokens }) : nothingBilled
      return write(engine, booking, {
        model: candidate.model.id,
        provider: (isGatewayError(error) ? error.facts.provider : undefined) ?? payer?.provider.id ?? '',
        credential: candidate.credential.owner,
        usage,
        bill: left ? await payable(unheard(), owing, allowance) : noBill,
        ...endingOf(error, left),
        warnings: [],
      })
    },
  }
}

function endingOf(error: unknown, left: boolean): Pick<UsageRow, 'result' | 'code'> {
  if (left) return { result: 'abandoned', code: 'client_disconnected' }
  if (!isGatewayError(error)) return { result: 'error', code: 'internal_error' }
  return { result: error.status === 429 ? 'rate_limited' : 'error', code: error.code }
}

async function write(engine: Engine, booking: Booking, { usage, bill, ...entry }: Entry): Promise<void> {
  const { clock, logger, hooks, pending } = engine
  const { call, terms, request, plan, ticket, at, startedAt, tries, waitUntil } = booking
  const row: UsageRow = {
    id: call.requestId,
    workspaceId: call.workspaceId,
    keyId: call.keyId,
    at,
    modelAsked: call.model,
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
    attempts: tries.count,
    durationMs: Math.round(clock.monotonic() - startedAt),
    ...(request.metadata && { metadata: request.metadata }),
    ...evidenceIn(engine, booking, entry.result),
    ...entry,
  }
  const owing = { call, terms, at }
  const amounts = amountsOf(bill, owing)
  const onSettled = (): void => {
    if (bill.cost > 0 && reloads(terms)) engine.onSpent?.(call.workspaceId)
    const told = tellBudgets({ ledger: engine.storage.ledger, hooks, logger }, owing, amounts)
    if (!told) return
    pending.add(told)
    void told.finally(() => pending.delete(told))
  }
  await Promise.all([
    engine.settlements.settle({ row, amounts, slotKeys: ticket.places.map(({ key }) => key), onSettled, waitUntil }),
    correctTokens(engine, ticket.tokens, usage),
  ])
  engine.retention.look(terms)
  if (hooks.onSettle) tell(logger, 'onSettle', () => hooks.onSettle?.(call, row))
}

/** The answer was longer or shorter than it was counted as. Where this fails the count stays as it was. */
async function correctTokens({ storage, clock, logger }: Engine, tokens: Tokens | undefined, usage: Usage): Promise<void> {
  if (!tokens) return
  const difference = usage.input_tokens + usage.output_tokens - tokens.amount
  const corrections = tokens.keys.map(key => () => storage.counters.add(key, difference, clock.now()))
  await recover(
    () => allOf(corrections),
    error => logger.warn({ error: String(error) }, 'The tokens of a minute could not be corrected.'),
  )
}

/** Nothing of it is worth a settlement. */
function evidenceIn(engine: Engine, { call, ticket, tries }: Booking, result: UsageResult): Pick<UsageRow, 'routing'> {
  const { requestId } = call
  const { flightText, flightSummary } = tries
  const { excluded } = ticket.plan
  if (!flightText || !flightSummary || engine.storedShare <= 0) return {}
  const inFull = keepsEvidence({ requestId, share: engine.storedShare, attempts: tries.count, result })
  try {
    return { routing: inFull ? evidenceText(flightText, excluded) : summaryText(flightSummary(), excluded) }
  } catch (error) {
    engine.logger.error({ requestId, error: String(error) }, 'The evidence of a request could not be written down.')
    return {}
  }
}
