import { requestPrice } from '@signalbox/dialects/common'
import { billUsage } from '../../metering/bill-usage.ts'
import { type MeteredAnswer, meteredAnswer } from '../../metering/meter.ts'
import { sampledInput } from '../../metering/prompt-size.ts'
import type { JournalProgress } from '../admission/journal.ts'
import type { RequestRun } from '../run.ts'
import { addToBill } from './bill.ts'
import { knownInput, possibleCalls, unreadBill } from './charge.ts'

/**
 * The progress of a running request for its journal, with the bill as if it ended now: by it another process settles the request if this
 * one ends. Undefined before the first call.
 */
export function progressOf(run: RequestRun): JournalProgress | undefined {
  const { request, allowance, attempts, startedAt, engine, committed, meter } = run
  const candidate = committed?.candidate ?? run.lastSent
  if (!candidate) return undefined
  const seen: MeteredAnswer = meter ? meteredAnswer(meter) : { characters: 0, reasoningCharacters: 0 }
  const { characters, tokens, firstContentAt, startUsage: stated } = seen
  if (!run.journaled || run.journaled.stated !== stated) {
    const sampled = run.journaled?.sampled ?? sampledInput(request.prompt)
    const { reasoningCharacters } = seen
    run.journaled = { sampled, stated, known: knownInput(run, candidate, { startUsage: stated, reasoningCharacters }) }
  }
  const { sampled, known } = run.journaled
  const hostedCalls = possibleCalls(request, candidate, seen.hostedCalls)
  const { usage, cost } = billUsage({ characters, tokens, hostedCalls }, requestPrice(candidate, request), { input: sampled, read: known })
  const unread = unreadBill(run, sampled)
  const left = Math.max(0, allowance.least() - unread.cost - unread.byokCost)
  return {
    model: candidate.model.id,
    provider: candidate.provider.id,
    credential: candidate.credential.owner,
    attempts,
    durationMs: Math.round(engine.clock.monotonic() - startedAt),
    firstContentMs: firstContentAt === undefined ? undefined : Math.round(firstContentAt - startedAt),
    usage,
    // Another process settles this without extending the hold, so the bill must not exceed it.
    bill: addToBill(unread, candidate, Math.min(cost, left)),
  }
}
