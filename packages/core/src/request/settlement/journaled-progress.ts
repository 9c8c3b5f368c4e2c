import { requestPrice } from '@signalbox/dialects/common'
import type { Usage } from '@signalbox/dialects/protocol'
import { billUsage } from '../../metering/bill-usage.ts'
import type { MeteredAnswer } from '../../metering/meter.ts'
import { sampledInput } from '../../metering/prompt-size.ts'
import type { Candidate } from '../../routing/plan.ts'
import type { Clock } from '../../runtime/ports.ts'
import type { JournalProgress } from '../admission/journal.ts'
import type { Attempts } from '../attempts/attempt-context.ts'
import { addToBill } from './bill.ts'
import { type ChargeContext, knownInput, possibleCalls, unreadBill } from './charge.ts'
import type { Allowance } from './running-cost.ts'

// The progress of a running request in its journal, by which another process settles it if this one ends.

/** The prompt's token counts for journals. Cached, because a journal is written every few seconds. */
export interface JournaledInput {
  readonly sampled: number
  /** The provider's usage at the time of counting. */
  readonly stated: Usage | undefined
  readonly known: Usage | undefined
}

interface ProgressContext extends Pick<ChargeContext, 'request' | 'bounds' | 'inputTokens'> {
  readonly allowance: Allowance
  readonly attempts: Attempts
  /** Monotonic milliseconds. */
  readonly startedAt: number
  journaled?: JournaledInput | undefined
}

/** What is known about a response in progress. */
interface AnswerSoFar
  extends Pick<MeteredAnswer, 'characters' | 'tokens' | 'reasoningCharacters' | 'startUsage' | 'hostedCalls' | 'firstContentAt'> {
  readonly candidate: Candidate
}

function journaledInput(context: ProgressContext, { candidate, ...seen }: AnswerSoFar): JournaledInput {
  const { journaled, request } = context
  const stated = seen.startUsage
  if (journaled && journaled.stated === stated) return journaled
  const sampled = journaled?.sampled ?? sampledInput(request.prompt)
  context.journaled = { sampled, stated, known: knownInput(context, candidate, seen) }
  return context.journaled
}

/** The progress to journal, with the bill as if the request ended now. */
export function progressOf(clock: Clock, context: ProgressContext, seen: AnswerSoFar): JournalProgress {
  const { request, allowance, attempts, startedAt } = context
  const { candidate, characters, tokens, firstContentAt } = seen
  const hostedCalls = possibleCalls(request, candidate, seen.hostedCalls)
  const { sampled, known } = journaledInput(context, seen)
  const written = { characters, ...(tokens !== undefined && { tokens }), ...(hostedCalls && { hostedCalls }) }
  const { usage, cost } = billUsage(written, requestPrice(candidate, request), { input: sampled, read: known })
  const unread = unreadBill(context, sampled)
  const left = Math.max(0, allowance.least() - unread.cost - unread.byokCost)
  return {
    model: candidate.model.id,
    provider: candidate.provider.id,
    credential: candidate.credential.owner,
    attempts: attempts.count,
    durationMs: Math.round(clock.monotonic() - startedAt),
    ...(firstContentAt !== undefined && { firstContentMs: Math.round(firstContentAt - startedAt) }),
    usage,
    // Another process settles this without extending the hold, so the bill must not exceed it.
    bill: addToBill(unread, candidate, Math.min(cost, left)),
  }
}
