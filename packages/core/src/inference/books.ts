import type { UsageRow } from '@signalbox/storage'
import { isGatewayError } from '../errors/gateway-error.ts'
import type { Won } from '../execution/call.ts'
import type { Seen } from '../metering/meter.ts'
import type { Microdollars } from '../metering/money.ts'
import { billed, nothingBilled, resultOf, settle } from '../metering/settle.ts'
import { priceFor } from '../metering/tier.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import type { Usage } from '../protocol/response.ts'
import type { Plan } from '../routing/plan.ts'
import type { CallFacts } from '../runtime/ports.ts'
import { tell } from '../runtime/tell.ts'
import type { Ticket } from './admit.ts'
import type { Engine } from './infer.ts'
import { learnEnd } from './lessons.ts'
import type { Known } from './stamp.ts'
import type { Tries } from './try-all.ts'

export interface Booking {
  readonly call: CallFacts
  readonly request: InferenceRequest
  readonly plan: Plan
  readonly ticket: Ticket
  readonly inputTokens: number
  /** Unix milliseconds. */
  readonly at: number
  /** Monotonic milliseconds. */
  readonly startedAt: number
  readonly tries: Tries
}

/** What a usage row says of the outcome; the rest is known from the start. */
type Entry = Pick<UsageRow, 'model' | 'provider' | 'credential' | 'cost' | 'result' | 'code' | 'warnings' | 'firstContentMs'> & {
  readonly usage: Usage
}

export interface Books {
  /** Somebody answered: pays by what was seen. */
  close(won: Won, seen: Seen, left: boolean): Promise<Pick<Known, 'cost' | 'streamedMs' | 'endedAt'> & { readonly usage: Usage }>
  /** Nobody answered, or the caller left before. */
  release(error: unknown, left: boolean): Promise<void>
}

/** Ends an admitted request in the books: one usage record, however it ended. */
export function keepBooks(engine: Engine, booking: Booking): Books {
  const { clock, brain } = engine
  const { plan, request, inputTokens, startedAt, tries } = booking
  // A provider that has taken the request computes, and may bill, whether or not somebody waits for the answer.
  const unheard = (): Microdollars =>
    tries.accepted.reduce((sum, payer) => sum + billed({ characters: 0 }, priceFor(payer, request), inputTokens).cost, 0)
  return {
    async close(won, seen, left) {
      const { candidate } = won
      learnEnd(brain, won, seen)
      const { usage, cost: own } = billed(seen, priceFor(candidate, request), inputTokens)
      const cost = own + unheard()
      const now = clock.monotonic()
      const streamed = request.delivery === 'stream' && seen.firstContentAt !== undefined
      const streamedMs = now - (streamed ? (seen.firstContentAt ?? now) : startedAt)
      const ending = resultOf(seen, left)
      await write(engine, booking, {
        model: candidate.model.id,
        provider: candidate.provider.id,
        credential: candidate.credential.owner,
        usage,
        cost,
        ...ending,
        warnings: won.warnings.map(({ code }) => code),
        ...(seen.firstContentAt !== undefined && { firstContentMs: Math.round(seen.firstContentAt - startedAt) }),
      })
      return { usage, cost, streamedMs, endedAt: clock.now() }
    },
    release: (error, left) => {
      const payer = left ? tries.accepted[0] : undefined
      const candidate = payer ?? plan.candidates[0]
      const bill = payer ? { ...billed({ characters: 0 }, priceFor(payer, request), inputTokens), cost: unheard() } : nothingBilled
      return write(engine, booking, {
        model: candidate.model.id,
        provider: (isGatewayError(error) ? error.facts.provider : undefined) ?? payer?.provider.id ?? '',
        credential: candidate.credential.owner,
        ...bill,
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

async function write(engine: Engine, booking: Booking, { usage, ...entry }: Entry): Promise<void> {
  const { clock, logger, hooks } = engine
  const { call, request, plan, ticket, at, startedAt, tries } = booking
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
    byokCost: 0,
    attempts: tries.count,
    durationMs: Math.round(clock.monotonic() - startedAt),
    ...(request.metadata && { metadata: request.metadata }),
    ...entry,
  }
  await settle({ row, account: ticket.account, slotKey: ticket.slotKey }, engine)
  if (hooks.onSettle) tell(logger, 'onSettle', () => hooks.onSettle?.(call, row))
}
