import type { CounterRefusal, HoldRefusal, Storage } from '@signalbox/storage'
import { creditAccount } from '../access/accounts.ts'
import type { Caller } from '../access/caller.ts'
import { GatewayError, storeDown } from '../errors/gateway-error.ts'
import { estimateMost } from '../metering/estimate.ts'
import type { Microdollars } from '../metering/money.ts'
import { priceFor } from '../metering/tier.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import type { Candidate, Plan } from '../routing/plan.ts'

export interface Admitting {
  readonly storage: Storage
  readonly inferenceRpm: number
  readonly concurrentRequests: number
}

export interface Asking {
  readonly requestId: string
  readonly caller: Caller
  readonly plan: Plan
  readonly inputTokens: number
  readonly request: InferenceRequest
  /** Two providers may be asked at once, and both read the prompt. */
  readonly hedge: boolean
  /** Unix milliseconds. */
  readonly at: number
  /** When the request is over at the latest. */
  readonly until: number
}

/** Leave to proceed: a slot, counts taken, money held. */
export interface Ticket {
  readonly slotKey: string
  readonly account: string
}

const minute = 60_000
/** A slot is a lease: renewed while the request lives, and free soon after a crash. */
export const slotMs = 90_000
/** A hold outlives its request by this much, so that a slow settlement still finds it. */
const grace = 60_000

/** A slot and the counters, then the money. The slot is given back when something refuses; a refused request counts against the rate. */
export async function admit(asking: Asking, { storage, inferenceRpm, concurrentRequests }: Admitting): Promise<Ticket> {
  const { caller, requestId, at, until } = asking
  const { counters, ledger } = storage
  const slotKey = `slots:${caller.keyId}`
  const entering = counters.enter({ key: slotKey, slot: requestId, limit: concurrentRequests, ttlMs: slotMs }, at)
  const [entered, counted] = await Promise.allSettled([entering, countRequest(asking, { storage, inferenceRpm })])
  try {
    if (entered.status === 'rejected') throw storeDown(entered.reason)
    if (!entered.value) throw tooMany(concurrentRequests)
    if (counted.status === 'rejected') throw counted.reason
    const held = mostOfAll(asking)
    const account = creditAccount(caller.workspaceId)
    const floor = caller.billing === 'prepaid' ? 0 : Number.NEGATIVE_INFINITY
    const refusal = await ledger
      .reserve({ id: requestId, amount: held, accounts: [{ account, floor }], at, expiresAt: until + grace })
      .catch((reason: unknown) => {
        throw storeDown(reason)
      })
    if (refusal) throw tooPoor(refusal, held)
    return { slotKey, account }
  } catch (error) {
    // Should this fail too, the slot frees itself in time, and the first trouble is the one to tell.
    await counters.leave(slotKey, requestId).catch(() => {})
    throw error
  }
}

/** Counts against the rate of the key, in all and with the model. Throws where it is used up: such a request counts too. */
export async function countRequest(
  { caller, plan, at }: Pick<Asking, 'caller' | 'plan' | 'at'>,
  { storage, inferenceRpm }: Pick<Admitting, 'storage' | 'inferenceRpm'>,
): Promise<void> {
  const limit = caller.limits?.requestsPerMinute ?? inferenceRpm
  const keys = [`rpm:${caller.keyId}`, `rpm:${caller.keyId}:${plan.candidates[0].model.id}`]
  const takes = keys.map(key => ({ key, amount: 1, limit, windowMs: minute }))
  const refusal = await storage.counters.take(takes, at).catch((reason: unknown) => {
    throw storeDown(reason)
  })
  if (refusal) throw tooOften(refusal, limit)
}

/** The dearest candidate decides. */
function mostOfAll(asking: Asking): Microdollars {
  const { plan, hedge, request } = asking
  let answer = 0
  let reading = 0
  for (const candidate of plan.candidates) {
    answer = Math.max(answer, mostOf(candidate, asking, request.prompt.max_output_tokens))
    if (hedge) reading = Math.max(reading, mostOf(candidate, asking, 0))
  }
  return answer + reading
}

const mostOf = (candidate: Candidate, { request, inputTokens }: Asking, maxOutput: number | undefined): Microdollars => {
  const price = priceFor(candidate, request)
  return estimateMost({ ...candidate.offer, ...(price && { price }) }, inputTokens, maxOutput)
}

const tooMany = (limit: number): GatewayError =>
  new GatewayError('concurrent_requests_exceeded', {
    message: `This key already has ${limit} requests running, its limit. Wait for one to end.`,
    limitedBy: 'routing',
    retryAfterMs: 1_000,
  })

const tooOften = ({ retryAfterMs }: CounterRefusal, limit: number): GatewayError =>
  new GatewayError('requests_per_min_exceeded', {
    message: `This key may send ${limit} requests a minute, and has. Try again in ${Math.ceil(retryAfterMs / 1000)} s.`,
    limitedBy: 'routing',
    retryAfterMs,
  })

const usd = (amount: Microdollars): string => `$${(amount / 1_000_000).toFixed(6)}`

const tooPoor = ({ available }: HoldRefusal, held: Microdollars): GatewayError =>
  new GatewayError('insufficient_credits', {
    message: `The request may cost up to ${usd(held)}, and the workspace has ${usd(Math.max(0, available))} of credit free. Add credit, or lower \`max_output_tokens\`.`,
  })
