import { tuning } from './constants.ts'

// The capacity of an offer: how long to pause after a 429 or Retry-After, the learned request rate above which it returns 429, and the
// congestion price of the remaining room.

const {
  acceptedRateWindowMs,
  limitShareAfter429,
  leastLimitShareKept,
  limitGrowthPerSecond,
  minLimitPerSecond,
  first429PauseMs,
  max429PauseMs,
  congestionRisePerSecond,
  neutralFreeShare,
  maxCongestionPrice,
  maxCongestionSeconds,
  dropLimitFactor,
} = tuning.capacity

export interface Capacity {
  /** Monotonic milliseconds until which the offer is not called after a 429. */
  pausedUntil: number
  /** Consecutive 429s, those of calls sent before the first of them was known counted as one. */
  refusals: number
  /** When the last counted 429 came. Calls sent before it say nothing new. */
  refusedAt: number
  /** Silent calls that were sent although the offer was expected to be full. */
  probes: number
  /** Accepted requests per second, learned from a 429; infinite if no limit is known. */
  limitPerSecond: number
  /** Requests that may be sent at once under the limit (a token bucket). Negative while requests queue. */
  tokens: number
  /** When limit and tokens were last updated. */
  at: number
  /** Recently accepted requests per second. */
  acceptedPerSecond: number
  acceptedAt: number
  /** Remaining share of its rate limit, and until when that is valid. */
  headroom: number
  headroomUntil: number
  /** Congestion price when a slot was last taken, in multiples of a typical request's cost. */
  congestionPrice: number
  congestionPriceAt: number
}

/** Longest pause that a Retry-After header can request. */
const maxRetryAfterMs = 600_000
/** Longest that a request queues, and longest assumed queue. */
export const maxQueueMs = 30_000

export const makeCapacity = (at: number): Capacity => ({
  pausedUntil: 0,
  refusals: 0,
  refusedAt: Number.NEGATIVE_INFINITY,
  probes: 0,
  limitPerSecond: Number.POSITIVE_INFINITY,
  tokens: 1,
  at,
  acceptedPerSecond: 0,
  acceptedAt: at,
  headroom: 1,
  headroomUntil: 0,
  congestionPrice: 0,
  congestionPriceAt: at,
})

/** The congestion price of the next slot. It falls while no slot is taken. */
export function currentCongestionPrice({ congestionPrice, congestionPriceAt }: Capacity, now: number): number {
  // The usual case. V8 would drop the optimized code of the callers again and again if `Math.max` returned the 0.
  if (congestionPrice === 0) return 0
  return Math.max(0, congestionPrice - (congestionRisePerSecond * (now - congestionPriceAt)) / 1_000)
}

/** Free share of the burst, as far as it is known. */
function freeShare(capacity: Capacity, now: number): number {
  if (now < capacity.pausedUntil) return 0
  const known = currentHeadroom(capacity, now)
  return capacity.limitPerSecond === Number.POSITIVE_INFINITY ? known : Math.min(known, Math.max(0, capacity.tokens) / maxBurst(capacity))
}

const maxBurst = ({ limitPerSecond }: Capacity): number => Math.max(1, limitPerSecond * 2)

/** Takes a slot for a call about to be sent. */
export function takeSlot(capacity: Capacity, now: number): void {
  if (capacity.limitPerSecond !== Number.POSITIVE_INFINITY) refill(capacity, now)
  const seconds = Math.min(maxCongestionSeconds, (now - capacity.congestionPriceAt) / 1_000)
  const change = congestionRisePerSecond * (1 - freeShare(capacity, now) / neutralFreeShare) * seconds
  capacity.congestionPrice = Math.min(maxCongestionPrice, Math.max(0, capacity.congestionPrice + change))
  capacity.congestionPriceAt = now
  if (capacity.limitPerSecond === Number.POSITIVE_INFINITY) return
  // Queued requests may have given up, so the assumed queue is never longer than requests wait.
  capacity.tokens = Math.max(capacity.tokens - 1, (-capacity.limitPerSecond * maxQueueMs) / 1_000)
}

/** A call that was sent: when, and whether although no slot was expected to be free. */
export interface SentCall {
  readonly startedAt: number
  readonly beyondLimit: boolean
}

/** Records that the offer accepted a call. One that was not expected to be accepted shows that the limit is higher. */
export function recordAccepted(capacity: Capacity, now: number, { beyondLimit }: Pick<SentCall, 'beyondLimit'> = within): void {
  capacity.refusals = 0
  capacity.acceptedPerSecond = currentAcceptedPerSecond(capacity, now) + 1_000 / acceptedRateWindowMs
  capacity.acceptedAt = now
  if (!beyondLimit || capacity.limitPerSecond === Number.POSITIVE_INFINITY) return
  refill(capacity, now)
  capacity.limitPerSecond = Math.max(capacity.limitPerSecond, capacity.acceptedPerSecond)
}

const within = { beyondLimit: false }

const currentAcceptedPerSecond = (capacity: Capacity, now: number): number =>
  capacity.acceptedPerSecond * Math.exp((capacity.acceptedAt - now) / acceptedRateWindowMs)

interface Refused {
  readonly retryAfterMs?: number | undefined
  readonly chance: number
}

/**
 * Learns from a 429. It lowers the limit and lengthens the pause only if the call was expected to be accepted. A call that was sent although
 * the offer was full, or before an earlier 429 was known, would have been refused at any limit.
 */
export function recordRateLimited(
  capacity: Capacity,
  now: number,
  { retryAfterMs, chance, call }: Refused & { readonly call: SentCall },
): void {
  // It used no slot.
  if (call.beyondLimit) capacity.tokens = Math.min(maxBurst(capacity), capacity.tokens + 1)
  if (call.beyondLimit || call.startedAt < capacity.refusedAt) {
    if (retryAfterMs !== undefined) extendPause(capacity, now + boundedWaitMs(retryAfterMs))
    return
  }
  if (capacity.limitPerSecond !== Number.POSITIVE_INFINITY) refill(capacity, now)
  const taken = currentAcceptedPerSecond(capacity, now)
  // An offer that accepted nothing before the 429 has not revealed its limit, so only the pause is learned.
  if (taken >= minLimitPerSecond && capacity.refusals === 0) {
    capacity.limitPerSecond = loweredLimit(capacity.limitPerSecond, taken)
    capacity.tokens = Math.min(capacity.tokens, 0)
    capacity.at = now
  }
  const waitMs = Math.min(max429PauseMs, first429PauseMs * 2 ** Math.min(capacity.refusals, 10)) * (0.75 + 0.5 * chance)
  capacity.refusals += 1
  capacity.refusedAt = now
  extendPause(capacity, now + boundedWaitMs(retryAfterMs ?? waitMs))
}

/** Few calls are accepted while few are sent, so one 429 never lowers a known limit by much. */
function loweredLimit(limitPerSecond: number, taken: number): number {
  const least = limitPerSecond === Number.POSITIVE_INFINITY ? 0 : limitPerSecond * leastLimitShareKept
  return Math.max(minLimitPerSecond, least, Math.min(limitPerSecond, limitShareAfter429 * taken))
}

/** Negative numbers and NaN mean no pause. */
const boundedWaitMs = (milliseconds: number): number => (milliseconds > 0 ? Math.min(maxRetryAfterMs, milliseconds) : 0)

/** Never shortens an earlier pause. */
const extendPause = (capacity: Capacity, until: number): void => {
  capacity.pausedUntil = Math.max(capacity.pausedUntil, until)
}

export const pauseFor = (capacity: Capacity, now: number, milliseconds: number): void =>
  extendPause(capacity, now + boundedWaitMs(milliseconds))

/** Applies the rate limit headers of a response. When nothing is left, the next slot is free long before all slots are. */
export function applyHeadroom(capacity: Capacity, now: number, seen: { readonly share: number; readonly resetsInMs: number }): void {
  const resetsInMs = boundedWaitMs(seen.resetsInMs)
  capacity.headroom = seen.share >= 0 ? Math.min(1, seen.share) : 1
  capacity.headroomUntil = now + resetsInMs
  if (seen.share <= 0) extendPause(capacity, now + Math.min(2_000, Math.max(100, resetsInMs / 20)))
}

export const currentHeadroom = ({ headroom, headroomUntil }: Capacity, now: number): number => (now < headroomUntil ? headroom : 1)

function refill(capacity: Capacity, now: number): void {
  const seconds = (now - capacity.at) / 1_000
  capacity.tokens = Math.min(maxBurst(capacity), capacity.tokens + capacity.limitPerSecond * seconds)
  capacity.limitPerSecond *= limitGrowthPerSecond ** Math.min(seconds, 600)
  capacity.at = now
  if (capacity.limitPerSecond > dropLimitFactor * Math.max(1, currentAcceptedPerSecond(capacity, now))) {
    capacity.limitPerSecond = Number.POSITIVE_INFINITY
    capacity.tokens = 1
  }
}

/** Milliseconds until the offer is expected to accept a call. */
export function timeUntilFree(capacity: Capacity, now: number): number {
  const held = Math.max(0, capacity.pausedUntil - now)
  if (capacity.limitPerSecond === Number.POSITIVE_INFINITY) return held
  const tokens = capacity.tokens + (capacity.limitPerSecond * (now - capacity.at)) / 1_000
  return tokens >= 1 ? held : Math.max(held, ((1 - tokens) / capacity.limitPerSecond) * 1_000)
}
