import { isUnpricedFlex, paidFieldsOf, requestPrice, type StatedUsage, unpricedExtras } from '@signalbox/dialects/common'
import type { HostedCalls, InferenceRequest, Price, Quirks, Usage, Warning } from '@signalbox/dialects/protocol'
import { ratesAt } from '@signalbox/dialects/protocol'
import type { Awaitable } from '@signalbox/storage'
import { andThen } from '@signalbox/storage/awaitable'
import { billUsage } from '../../metering/bill-usage.ts'
import { clampUsage, type UsageBounds } from '../../metering/clamp-usage.ts'
import { estimateOutput, type OutputPaces, thinkingOf } from '../../metering/hidden-tokens.ts'
import { allowedSteps, clampCalls, maxCallsAt } from '../../metering/hosted-calls.ts'
import type { MeteredAnswer } from '../../metering/meter.ts'
import { type Microdollars, unpricedTools } from '../../metering/money.ts'
import { acceptsOutputCap } from '../../metering/output-cap.ts'
import { likelyInput, maxClaimAt } from '../../metering/prompt-size.ts'
import type { Candidate } from '../../routing/plan.ts'
import type { CommittedAttempt } from '../../upstream/attempt.ts'
import type { RequestRun } from '../run.ts'
import { type AccountAmounts, addToBill, amountsOf, type Bill, type BillContext, noBill } from './bill.ts'
import type { Allowance } from './running-cost.ts'

// Bills a response by the provider's usage, clamped to plausible values; otherwise by the received output plus estimated hidden tokens.
// The bill never exceeds what can be reserved for it.

export interface Charge {
  readonly usage: Usage
  /** At the price of the offer that responded. */
  readonly cost: Microdollars
  readonly warnings: readonly Warning[]
}

/** The usage and cost of a response. */
export function chargeFor(run: RequestRun, committed: CommittedAttempt, seen: MeteredAnswer): Charge {
  const { facts, request, inputTokens, engine } = run
  const { usageNotices, logger } = engine
  const { provider, offer } = committed.candidate
  const { statedTier } = committed
  const stated: StatedUsage = statedTier === undefined ? (seen.usage ?? {}) : { service_tier: statedTier, ...seen.usage }
  const price = requestPrice(committed.candidate, request, stated)
  if (!seen.usage) {
    const read = knownInput(run, committed.candidate, seen)
    const output = outputSoFar(seen, { counted: seen.usageSoFar && read, estimated: unseenOutput(run, committed, seen) })
    return {
      ...billUsage({ ...seen, hostedCalls: possibleCalls(request, committed.candidate, seen.hostedCalls) }, price, {
        input: read ? 0 : likelyInput(request.prompt),
        output,
        read,
      }),
      warnings: fieldWarnings(committed.candidate, request),
    }
  }
  const { reasoningCharacters } = seen
  const { usage, isClamped } = clampUsage(seen.usage, usageBoundsOf(run, committed.candidate, { claimed: seen.usage, reasoningCharacters }))
  const { cost } = billUsage(usage === seen.usage ? seen : { ...seen, usage }, price, { input: inputTokens })
  const unpriced = price ? unpricedWarnings(committed.candidate, price, { usage, stated, others: seen.usage.other_calls }) : noWarnings
  const inBody = fieldWarnings(committed.candidate, request)
  const warnings = inBody.length === 0 ? unpriced : [...unpriced, ...inBody]
  const place = { requestId: facts.requestId, provider: provider.id, model: offer.model }
  const unread = seen.usage.unread && usageNotices.newFields(provider.id, seen.usage.unread)
  if (unread && unread.length > 0)
    logger.warn({ ...place, fields: unread }, 'The usage of a response has counts that are not billed, because their meaning is unknown.')
  if (!isClamped) return { usage, cost, warnings }
  usageNotices.addClamped(`${provider.id}/${offer.model}`)
  logger.warn(
    { ...place, claimed: countsOf(seen.usage), billed: countsOf(usage) },
    'The provider reported more usage than the request can have used.',
  )
  return { usage, cost, warnings: [clampedWarning, ...warnings] }
}

/** Warnings of fields that make the provider run a tool whose calls its responses do not count. */
function fieldWarnings({ offer }: Candidate, { prompt }: InferenceRequest): readonly Warning[] {
  const fields = paidFieldsOf(prompt, offer.api)
  return fields.length === 0 ? noWarnings : fields.map(field => unpricedWarning('unpriced_tool', field))
}

interface PricedParts {
  readonly usage: Usage
  readonly stated: StatedUsage
  /** Calls of tools that the provider runs and that have no price. */
  readonly others: readonly string[] | undefined
}

/** Warnings of what the provider charges extra, by an unknown price. */
function unpricedWarnings(candidate: Candidate, price: Price, { usage, stated, others = [] }: PricedParts): readonly Warning[] {
  const tools = usage.hosted_calls ? unpricedTools(ratesAt(price, usage.input_tokens), usage) : noTools
  const extras = unpricedExtras(candidate, stated)
  const isFlex = isUnpricedFlex(candidate, stated)
  if (!isFlex && tools.length + others.length + extras.length === 0) return noWarnings
  return [
    ...[...tools, ...others].map(tool => unpricedWarning('unpriced_tool', tool)),
    ...extras.map(extra => unpricedWarning('unpriced_option', extra)),
    ...(isFlex ? [unpricedFlex] : []),
  ]
}

function usageBoundsOf(
  { request, bounds, inputTokens }: RequestRun,
  candidate: Candidate,
  { claimed, reasoningCharacters }: { readonly claimed: Usage | undefined; readonly reasoningCharacters: number },
): UsageBounds {
  const { contextWindow, maxOutputTokens: longest } = candidate.offer
  const cap = bounds.sentCap(candidate)
  // If the offer accepts no cap, the client's cap is not sent and does not limit the usage.
  const isPassed = cap !== undefined && claimed !== undefined && claimed.output_tokens > cap
  const maxOutput = isPassed && !acceptsOutputCap(candidate, request.prompt) ? longest : (cap ?? longest)
  const { prompt } = request
  const quirks = (): Quirks => candidate.quirks
  return {
    contextWindow,
    likelyInput: inputTokens,
    maxInput: () => maxClaimAt(prompt, quirks()),
    maxOutput,
    maxCalls: () => maxCallsAt(prompt, quirks()),
    maxSteps: () => allowedSteps(prompt),
    reasoningCharacters,
  }
}

/** The calls of hosted tools that were seen in a response, as far as the request asks for such. */
export const possibleCalls = ({ prompt }: InferenceRequest, candidate: Candidate, seen: HostedCalls | undefined): HostedCalls | undefined =>
  clampCalls(seen, () => maxCallsAt(prompt, candidate.quirks))

/** The provider's latest counts, clamped, for the input of a response without final usage. Undefined if it reported none. */
export function knownInput(
  run: RequestRun,
  candidate: Candidate,
  seen: Pick<MeteredAnswer, 'usageSoFar' | 'startUsage' | 'reasoningCharacters'>,
): Usage | undefined {
  const known = seen.usageSoFar ?? seen.startUsage
  const { reasoningCharacters } = seen
  return known?.input_tokens ? clampUsage(known, usageBoundsOf(run, candidate, { claimed: known, reasoningCharacters })).usage : undefined
}

const noTools: readonly string[] = []
const noWarnings: readonly Warning[] = []

const countsOf = ({ input_tokens: input, output_tokens: output }: Usage): { readonly input: number; readonly output: number } => ({
  input,
  output,
})

const clampedWarning: Warning = {
  code: 'usage_clamped',
  message:
    'The provider reported more tokens or tool calls than the request can have used. The excess was removed from the usage and the cost.',
}

/** `what`: a tool that was called, or a field or host that raises the price. */
const unpricedWarning = (code: string, what: string): Warning => ({
  code,
  message: `The provider charges extra for \`${what}\`, but its price is unknown. It was not charged.`,
})

const unpricedFlex: Warning = {
  code: 'unpriced_option',
  message: 'The provider served the request in the `service_tier` "flex", whose price is unknown. The usual price was charged.',
}

interface UnfinishedOutput {
  /** Interim usage from the provider. */
  readonly counted: Usage | undefined
  readonly estimated: number | undefined
}

/**
 * Output tokens of a response without final usage. Undefined if the text is to be counted. Reasoning that the provider
 * counted is used instead of an estimate.
 */
function outputSoFar({ tokens = 0 }: MeteredAnswer, { counted, estimated }: UnfinishedOutput): number | undefined {
  if (!counted) return estimated
  const seen = Math.ceil(tokens)
  return Math.max(counted.output_tokens, counted.reasoning_tokens > 0 ? seen : (estimated ?? seen))
}

/**
 * Estimated output tokens, with reasoning and images, of a response that stopped without usage, because its client disconnected or the
 * gateway cut it at the output cap. Undefined for all others: their text is counted.
 */
function unseenOutput({ request, bounds, engine }: RequestRun, committed: CommittedAttempt, seen: MeteredAnswer): number | undefined {
  const { selected, sentAt, candidate } = committed
  const { leftAt, cutAt, pausedMs = 0, firstContentAt, laterReasoningMs = 0, hasNative, hasReasoning } = seen
  const stoppedAt = leftAt ?? cutAt
  if (stoppedAt === undefined || firstContentAt === undefined || sentAt === undefined) return undefined
  const thinking = hasNative || hasReasoning ? 'known' : thinkingOf(candidate, request.prompt)
  const { firstTextAt = stoppedAt - pausedMs } = seen
  const reasoningMs = firstTextAt - sentAt + laterReasoningMs
  const pace = engine.paces.of(selected.contender.offer.id)
  const estimated = Math.min(estimateOutput({ tokens: 0, ...seen, reasoningMs, thinking, pace }), bounds.maxOutput(candidate))
  // A response that was cut had exceeded its cap, and what was delivered of it is billed.
  return leftAt === undefined ? Math.max(estimated, Math.ceil(seen.tokens ?? 0)) : estimated
}

/** No speed is learned from a response that its client paused for a larger share of the time: it is unknown when its provider wrote. */
const maxPausedShare = 0.05

/** Records the output speed of the offer from a completed response. */
export function learnPace(
  { paces }: { readonly paces: OutputPaces },
  committed: CommittedAttempt,
  { usage, endedAt }: { readonly usage: Usage; readonly endedAt: number },
): void {
  const { selected, sentAt } = committed
  if (sentAt === undefined || usage.estimated || committed.pausedShare() > maxPausedShare) return
  paces.learn(selected.contender.offer.id, { outputTokens: usage.output_tokens, milliseconds: endedAt - sentAt })
}

/** The bill for candidates whose response was discarded: a provider that has accepted a request may bill it anyway. */
export const unreadBill = ({ discarded, request }: RequestRun, input: number): Bill =>
  discarded.reduce((bill, payee) => addToBill(bill, payee, billUsage(noText, requestPrice(payee, request), { input }).cost), noBill)

export const noText = { characters: 0 }

const reservedOn = (account: string, allowance: Allowance): number => allowance.amountOf(account) ?? Number.POSITIVE_INFINITY

/** The amounts of a bill by account, if that much is reserved on each of them, as it usually is. */
export function reservedAmounts(bill: Bill, owing: BillContext, allowance: Allowance): AccountAmounts | undefined {
  const amounts = amountsOf(bill, owing)
  for (const account of Object.keys(amounts)) if ((amounts[account] as number) > reservedOn(account, allowance)) return undefined
  return amounts
}

/**
 * The part of the bill that is charged: all of it if that much is or can be reserved, otherwise as much as can be reserved. So no
 * balance becomes negative and no enforced budget is exceeded, whatever usage a provider reports, and no available credit is left
 * unused by a bill that is too high.
 */
export function payableBill(bill: Bill, owing: BillContext, allowance: Allowance): Awaitable<Bill> {
  const accounts = Object.entries(amountsOf(bill, owing))
  const excesses = new Map(accounts.map(([account, amount]) => [account, amount - reservedOn(account, allowance)]))
  const most = Math.max(...excesses.values())
  const payAllBut = (unpaid: number): Bill => {
    if (unpaid === 0) return bill
    const { cost, byokCost } = bill
    const cut = Math.min(cost, unpaid)
    return { ...bill, cost: cost - cut, byokCost: Math.max(0, byokCost - (unpaid - cut)) }
  }
  // Each account may refuse once. A further refusal means that other requests are spending concurrently.
  const reserveAllBut = (unpaid: number, tries: number): Awaitable<Bill> => {
    if (unpaid >= most) return payAllBut(unpaid)
    return andThen(
      allowance.extend(account => Math.max(0, (excesses.get(account) ?? 0) - unpaid)),
      refusal => {
        if (!refusal) return payAllBut(unpaid)
        const missing = (excesses.get(refusal.account) ?? most) - Math.max(0, refusal.available)
        return reserveAllBut(tries > accounts.length ? most : Math.min(most, Math.max(unpaid + 1, missing)), tries + 1)
      },
    )
  }
  return reserveAllBut(0, 0)
}

const usageEstimated: Warning = {
  code: 'usage_estimated',
  message: 'The provider reported no token usage; it was estimated from the prompt and the output text.',
  param: 'usage',
}

/** The warnings of a response, and one more if it completed and its provider reported no usage. */
export const withUsageWarning = (warnings: readonly Warning[], { usage, outcome, leftAt }: MeteredAnswer): readonly Warning[] =>
  usage || !outcome || outcome.status === 'failed' || leftAt !== undefined ? warnings : [...warnings, usageEstimated]
