import { requestPrice, unpricedExtras } from '../../dialects/request-price.ts'
import { billUsage } from '../../metering/bill-usage.ts'
import { clampUsage, type UsageBounds } from '../../metering/clamp-usage.ts'
import { estimateOutput, type OutputPaces, thinkingOf } from '../../metering/hidden-tokens.ts'
import type { MeteredAnswer } from '../../metering/meter.ts'
import { type Microdollars, unpricedTools } from '../../metering/money.ts'
import { likelyInput, maxClaim } from '../../metering/prompt-size.ts'
import { quirksFor } from '../../protocol/provider.ts'
import { ratesAt } from '../../protocol/rates.ts'
import type { InferenceRequest } from '../../protocol/request.ts'
import type { Usage, Warning } from '../../protocol/response.ts'
import type { CallFacts, Logger } from '../../runtime/ports.ts'
import { type Step, wait } from '../../runtime/steps.ts'
import type { CommittedCall } from '../../upstream/call.ts'
import { isReadSlowly } from '../attempts/report-outcome.ts'
import type { MoneyBounds } from '../policy/money-bounds.ts'
import { amountsOf, type Bill, type BillContext } from './bill.ts'
import type { Allowance } from './running-cost.ts'

// What an answer is billed: by its provider's figures as far as they can be true, else by what was seen and what must have been
// written unseen; and never more than can be set aside for it.

export interface ChargeContext {
  readonly call: CallFacts
  readonly request: InferenceRequest
  readonly bounds: MoneyBounds
  readonly inputTokens: number
  readonly paces: OutputPaces
  readonly logger: Logger
}

export interface Charge {
  readonly usage: Usage
  /** By the price of the offer that answered. */
  readonly cost: Microdollars
  readonly warnings: readonly Warning[]
}

/** What an answer has used. */
export function chargeFor(charging: ChargeContext, committed: CommittedCall, seen: MeteredAnswer): Charge {
  const { call, request, bounds, inputTokens, logger } = charging
  const { provider, offer } = committed.candidate
  const stated = { ...(committed.call.statedTier !== undefined && { service_tier: committed.call.statedTier }), ...seen.usage }
  const price = requestPrice(committed.candidate, request, stated)
  const usageBounds: UsageBounds = {
    contextWindow: offer.context_window,
    likelyInput: inputTokens,
    maxInput: () => maxClaim(request.prompt),
    maxOutput: bounds.sentCap(committed.candidate) ?? offer.max_output_tokens,
    thoughtCharacters: seen.thoughtCharacters,
  }
  if (!seen.usage) {
    const read = seen.startUsage?.input_tokens ? clampUsage(seen.startUsage, usageBounds).usage : undefined
    const output = unseenOutput(charging, committed, seen)
    return { ...billUsage(seen, price, { input: read ? 0 : likelyInput(request.prompt), output, read }), warnings: [] }
  }
  const { usage, isClamped } = clampUsage(seen.usage, usageBounds)
  const charge = billUsage({ ...seen, usage }, price, { input: inputTokens })
  const { other_calls: others = noCalls } = seen.usage
  const unpriced = price && usage.hosted_calls ? unpricedTools(ratesAt(price, usage.input_tokens), usage) : []
  const told = [...unpriced, ...(price ? others : noCalls)].map(tool => unpricedWarning('unpriced_tool', tool))
  const extras = price ? unpricedExtras(committed.candidate, stated) : []
  const warnings = extras.length > 0 ? [...told, ...extras.map(extra => unpricedWarning('unpriced_option', extra))] : told
  if (!isClamped) return { ...charge, warnings }
  const place = { requestId: call.requestId, provider: provider.id, model: offer.provider_model_id }
  logger.warn(
    { ...place, claimed: countsOf(seen.usage), billed: countsOf(usage) },
    'The provider reported more usage than the request can have.',
  )
  return { ...charge, warnings: [clampedWarning, ...warnings] }
}

const noCalls: readonly string[] = []

const countsOf = ({ input_tokens: input, output_tokens: output }: Usage): { readonly input: number; readonly output: number } => ({
  input,
  output,
})

const clampedWarning: Warning = {
  code: 'usage_clamped',
  message: 'The provider reported more tokens or tool calls than the request can have. The excess was removed from the usage and the cost.',
}

/** `what`: a tool that was called, or a field or a host that raises the price. */
const unpricedWarning = (code: string, what: string): Warning => ({
  code,
  message: `The provider charges extra for \`${what}\`, but its price is unknown. It was not charged.`,
})

/** Output tokens, with reasoning and images, of a response whose client disconnected before usage arrived. Undefined otherwise: the text is counted. */
function unseenOutput({ request, bounds, paces }: ChargeContext, committed: CommittedCall, seen: MeteredAnswer): number | undefined {
  const { call, candidate } = committed
  const { leftAt, firstContentAt, firstTextAt = leftAt, laterThoughtMs = 0, hasNative, hasThoughts } = seen
  if (firstTextAt === undefined || firstContentAt === undefined || call.sentAt === undefined) return undefined
  const thinking =
    hasNative || hasThoughts
      ? 'known'
      : thinkingOf({ ...candidate, quirks: quirksFor(candidate.provider, candidate.offer) }, request.prompt)
  // The time of an answer that is read slowly is its reader's.
  const thoughtMs = isReadSlowly(committed) ? firstContentAt - call.sentAt : firstTextAt - call.sentAt + laterThoughtMs
  const pace = paces.of(call.selected.contender.offer.id)
  return Math.min(estimateOutput({ tokens: 0, ...seen, thoughtMs, thinking, pace }), bounds.maxOutput(candidate))
}

/** Of an answer that came to its end: how fast its offer writes. */
export function learnPace(
  { paces }: Pick<ChargeContext, 'paces'>,
  committed: CommittedCall,
  { usage, endedAt }: { readonly usage: Usage; readonly endedAt: number },
): void {
  const { call } = committed
  if (call.sentAt === undefined || usage.estimated || isReadSlowly(committed)) return
  paces.learn(call.selected.contender.offer.id, { outputTokens: usage.output_tokens, milliseconds: endedAt - call.sentAt })
}

/**
 * The bill that is paid: all of it where that much is or can be set aside, else as much as can be. So no balance falls below zero and
 * no enforced budget is passed, whatever a provider claims, and no bill that is too high leaves credit behind.
 */
export function* payableBill(bill: Bill, owing: BillContext, allowance: Allowance): Step<Bill> {
  const accounts = Object.entries(amountsOf(bill, owing))
  const excessOf = ([account, amount]: readonly [string, number]): number =>
    amount - (allowance.amountOf(account) ?? Number.POSITIVE_INFINITY)
  if (accounts.every(account => excessOf(account) <= 0)) return bill
  const excesses = new Map(accounts.map(account => [account[0], excessOf(account)]))
  const most = Math.max(...excesses.values())
  let unpaid = 0
  // Each account may refuse once; a further refusal means that others are spending at the same time.
  for (let tries = 0; unpaid < most; tries++) {
    const refusal = yield* wait(allowance.extend(account => Math.max(0, (excesses.get(account) ?? 0) - unpaid)))
    if (!refusal) break
    const missing = (excesses.get(refusal.account) ?? most) - Math.max(0, refusal.available)
    unpaid = tries > accounts.length ? most : Math.min(most, Math.max(unpaid + 1, missing))
  }
  if (unpaid === 0) return bill
  const { cost, byokCost } = bill
  const cut = Math.min(cost, unpaid)
  return { ...bill, cost: cost - cut, byokCost: Math.max(0, byokCost - (unpaid - cut)) }
}
