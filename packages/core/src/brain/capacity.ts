import { tuning } from './constants.ts'

// What an offer can take: how long it asked to be left alone, and the rate above which it says 429.

const {
  windowMs,
  capShare,
  capGrowthPerSecond,
  minCap,
  firstHoldMs,
  maxHoldMs,
  priceRisePerSecond,
  neutralFreeShare,
  maxPrice,
  maxPriceSeconds,
  looseFactor,
} = tuning.capacity

export interface Capacity {
  /** Monotonic milliseconds until which it asked to be left alone. */
  heldUntil: number
  /** 429s in a row. */
  refusals: number
  /** Requests a second that it takes, learned from a 429; infinite: no limit is known. */
  cap: number
  /** Requests that may go out at once under the cap. */
  tokens: number
  /** When cap and tokens were last brought up to date. */
  at: number
  /** Requests a second that it took lately. */
  taken: number
  takenAt: number
  /** Share of its limit that is left, and until when that is known. */
  headroom: number
  headroomUntil: number
  /** What a place was worth to others when it was last taken, in costs of a typical request. */
  scarcity: number
  scarcityAt: number
}

/** Nobody is left alone for longer, whatever its headers say. */
const longestAskedMs = 600_000
/** Nobody waits for longer. */
const longestLineSeconds = 8

export const makeCapacity = (at: number): Capacity => ({
  heldUntil: 0,
  refusals: 0,
  cap: Number.POSITIVE_INFINITY,
  tokens: 1,
  at,
  taken: 0,
  takenAt: at,
  headroom: 1,
  headroomUntil: 0,
  scarcity: 0,
  scarcityAt: at,
})

/** What the next place is worth to others: it falls while nobody takes one. */
export const scarcityNow = ({ scarcity, scarcityAt }: Capacity, now: number): number =>
  Math.max(0, scarcity - (priceRisePerSecond * (now - scarcityAt)) / 1_000)

/** Of what it lets through at once, as far as that is known. */
function freeShare(capacity: Capacity, now: number): number {
  if (now < capacity.heldUntil) return 0
  const told = headroomNow(capacity, now)
  return capacity.cap === Number.POSITIVE_INFINITY ? told : Math.min(told, Math.max(0, capacity.tokens) / mostAtOnce(capacity))
}

const mostAtOnce = ({ cap }: Capacity): number => Math.max(1, cap * 2)

/** A call goes out: it uses up a token of the cap. */
export function spend(capacity: Capacity, now: number): void {
  if (capacity.cap !== Number.POSITIVE_INFINITY) refill(capacity, now)
  const seconds = Math.min(maxPriceSeconds, (now - capacity.scarcityAt) / 1_000)
  const change = priceRisePerSecond * (1 - freeShare(capacity, now) / neutralFreeShare) * seconds
  capacity.scarcity = Math.min(maxPrice, Math.max(0, capacity.scarcity + change))
  capacity.scarcityAt = now
  if (capacity.cap === Number.POSITIVE_INFINITY) return
  // Who stood in line may have left it, so that no line is believed to be longer than anyone would stand in.
  capacity.tokens = Math.max(capacity.tokens - 1, -capacity.cap * longestLineSeconds)
}

/** A call was taken on. */
export function accepted(capacity: Capacity, now: number): void {
  capacity.refusals = 0
  capacity.taken = takenNow(capacity, now) + 1_000 / windowMs
  capacity.takenAt = now
}

const takenNow = (capacity: Capacity, now: number): number => capacity.taken * Math.exp((capacity.takenAt - now) / windowMs)

export function refused(
  capacity: Capacity,
  now: number,
  asked: { readonly retryAfterMs?: number | undefined; readonly chance: number },
): void {
  const taken = takenNow(capacity, now)
  if (capacity.cap !== Number.POSITIVE_INFINITY) refill(capacity, now)
  // Who took nothing before it has not shown what it takes, only that it is to be left alone for a while.
  if (taken >= minCap) {
    capacity.cap = Math.max(minCap, Math.min(capacity.cap, capShare * taken))
    capacity.tokens = Math.min(capacity.tokens, 0)
    capacity.at = now
  }
  const waitMs = Math.min(maxHoldMs, firstHoldMs * 2 ** Math.min(capacity.refusals, 10)) * (0.75 + 0.5 * asked.chance)
  capacity.refusals += 1
  hold(capacity, now + asWait(asked.retryAfterMs ?? waitMs))
}

/** What is no number, or negative, asks for nothing. */
const asWait = (milliseconds: number): number => (milliseconds > 0 ? Math.min(longestAskedMs, milliseconds) : 0)

/** Never shortens an earlier hold. */
const hold = (capacity: Capacity, until: number): void => {
  capacity.heldUntil = Math.max(capacity.heldUntil, until)
}

export const holdFor = (capacity: Capacity, now: number, milliseconds: number): void => hold(capacity, now + asWait(milliseconds))

/** What the headers of an answer say. Nothing left: the next place is free long before all are. */
export function tellHeadroom(capacity: Capacity, now: number, seen: { readonly share: number; readonly resetsInMs: number }): void {
  const resetsInMs = asWait(seen.resetsInMs)
  capacity.headroom = seen.share >= 0 ? Math.min(1, seen.share) : 1
  capacity.headroomUntil = now + resetsInMs
  if (seen.share <= 0) hold(capacity, now + Math.min(2_000, Math.max(100, resetsInMs / 20)))
}

export const headroomNow = ({ headroom, headroomUntil }: Capacity, now: number): number => (now < headroomUntil ? headroom : 1)

function refill(capacity: Capacity, now: number): void {
  const seconds = (now - capacity.at) / 1_000
  capacity.tokens = Math.min(mostAtOnce(capacity), capacity.tokens + capacity.cap * seconds)
  capacity.cap *= capGrowthPerSecond ** Math.min(seconds, 600)
  capacity.at = now
  if (capacity.cap > looseFactor * Math.max(1, takenNow(capacity, now))) {
    capacity.cap = Number.POSITIVE_INFINITY
    capacity.tokens = 1
  }
}

/** Milliseconds until a call would be welcome. */
export function waitFor(capacity: Capacity, now: number): number {
  const held = Math.max(0, capacity.heldUntil - now)
  if (capacity.cap === Number.POSITIVE_INFINITY) return held
  const tokens = capacity.tokens + (capacity.cap * (now - capacity.at)) / 1_000
  return tokens >= 1 ? held : Math.max(held, ((1 - tokens) / capacity.cap) * 1_000)
}
