import { normal, uniform, within } from './random-draws.ts'
import { type Asked, wave } from './requests.ts'
import { type Fault, leastCached, type TrueOffer, type World } from './world.ts'

/** The true state of an offer at one time: its own traits, its drift, and its current faults. */
export interface State {
  /** Factor of the usual wait. */
  wait: number
  tokensPerSecond: number
  errors: number
  errorMs: number
  hangs: number
  breaks: number
  longest: number
  /** Requests per millisecond that its limit allows. */
  refill: number
}

/** The true outcome of a call. Times are of the run; `cached` tokens of the prompt are read from the cache. */
export type Fate =
  | { readonly kind: 'limited'; readonly atMs: number; readonly retryAfterMs?: number }
  | { readonly kind: 'error'; readonly atMs: number }
  | { readonly kind: 'hang' }
  | {
      readonly kind: 'answer'
      readonly firstMs: number
      readonly endMs: number
      /** When it breaks off. */
      readonly brokenMs?: number
      readonly cached: number
    }

interface Call {
  readonly offer: number
  readonly asked: Asked
  /** How often this request has called this offer before. */
  readonly again: number
  readonly atMs: number
}

interface Headroom {
  readonly share: number
  readonly resetsInMs: number
}

/** The true behaviour of offers. Time only moves forward. */
export interface Reality {
  readonly world: World
  /** Always the same object, so do not keep it. */
  state(offer: number, atMs: number): State
  /** Milliseconds until its limit allows a call after this many others; 0 is now. */
  freeInMs(offer: number, atMs: number, others?: number): number
  /** Free share of its burst. */
  freeShare(offer: number, atMs: number): number
  /** Tokens of a prompt in its cache. */
  warm(offer: number, session: string | undefined, atMs: number): number
  call(call: Call): Fate
  /** Records that it has read the prompt of a conversation. */
  read(offer: number, asked: Asked, atMs: number): void
  headroom(offer: number, atMs: number): Headroom | undefined
}

interface Standing {
  readonly true: TrueOffer
  readonly faults: readonly Fault[]
  readonly waits: Float64Array
  readonly speeds: Float64Array
  readonly phase: number
  readonly caches: Map<string, { tokens: number; atMs: number }>
  readonly state: State
  /** When `state` was computed. */
  stateMs: number
  /** Calls that its limit allows at once. */
  free: number
  freeMs: number
}

export interface RealityOptions {
  readonly seed: number
  readonly minutes: number
  readonly faults: readonly Fault[]
}

/** One call, allowing for rounding errors in sums of fractions. */
const almost = 1 - 1e-9

const stepMs = 5_000
/** Correlation time of the drift. */
const memoryMs = 1_200_000

const purpose = { error: 1, hang: 2, broken: 3, breaksAt: 4, body: 5, tail: 6, tailBody: 7, hit: 8, errorMs: 9 } as const

export function createReality(world: World, { seed, minutes, faults }: RealityOptions): Reality {
  const all = world.offers.map((offer, index): Standing => {
    const place = within(within(seed, 202), index)
    const steps = Math.ceil((minutes * 60_000 + 600_000) / stepMs)
    return {
      true: offer,
      faults: faults.filter(fault => fault.offer === index),
      waits: wander(within(place, 1), { steps, deviation: world.drift }),
      speeds: wander(within(place, 2), { steps, deviation: world.drift * 0.7 }),
      phase: uniform(place, 3),
      caches: new Map(),
      state: { wait: 1, tokensPerSecond: 1, errors: 0, errorMs: 0, hangs: 0, breaks: 0, longest: Number.POSITIVE_INFINITY, refill: 0 },
      stateMs: -1,
      free: burst(offer),
      freeMs: 0,
    }
  })
  const at = (offer: number): Standing => {
    const standing = all[offer]
    if (!standing) throw new Error(`There is no offer ${offer}.`)
    return standing
  }
  const span = { endMs: minutes * 60_000, drift: world.drift }
  const state = (offer: number, atMs: number): State => reckon(at(offer), atMs, span)
  const refill = (standing: Standing, atMs: number): number => {
    const { refill: perMs } = reckon(standing, atMs, span)
    standing.free = Math.min(burst(standing.true), standing.free + (atMs - standing.freeMs) * perMs)
    standing.freeMs = atMs
    return perMs
  }
  const freeInMs = (offer: number, atMs: number, others = 0): number => {
    const standing = at(offer)
    const perMs = refill(standing, atMs)
    return standing.free >= others + almost ? 0 : (others + 1 - standing.free) / perMs
  }
  const warm = (offer: number, session: string | undefined, atMs: number): number => {
    const { caches, true: offerOf } = at(offer)
    const kept = session === undefined ? undefined : caches.get(session)
    return kept && atMs - kept.atMs < offerOf.cacheMs ? kept.tokens : 0
  }
  return {
    world,
    state,
    freeInMs,
    freeShare: (offer, atMs) => {
      const standing = at(offer)
      refill(standing, atMs)
      return standing.free / burst(standing.true)
    },
    warm,
    call: call => {
      const standing = at(call.offer)
      const place = within(within(within(seed, 303), call.asked.number), call.offer * 8 + call.again)
      const waitMs = freeInMs(call.offer, call.atMs)
      if (waitMs > 0) {
        const limited = { kind: 'limited', atMs: call.atMs + 30 + 40 * uniform(place, purpose.errorMs) } as const
        return standing.true.tells === 'nothing' ? limited : { ...limited, retryAfterMs: Math.ceil(waitMs) }
      }
      standing.free -= 1
      const now = reckon(standing, call.atMs, span)
      const known = warm(call.offer, call.asked.session, call.atMs)
      const cached = uniform(place, purpose.hit) < standing.true.cacheHits ? Math.min(known, call.asked.inputTokens) : 0
      return fate({ call, place, cached, now, offer: standing.true })
    },
    read: (offer, { session, inputTokens }, atMs) => {
      if (session !== undefined && inputTokens >= leastCached) at(offer).caches.set(session, { tokens: inputTokens, atMs })
    },
    headroom: (offer, atMs) => {
      const standing = at(offer)
      if (standing.true.tells !== 'headers') return undefined
      const perMs = refill(standing, atMs)
      const most = burst(standing.true)
      return { share: Math.max(0, standing.free / most), resetsInMs: Math.ceil((most - standing.free) / perMs) }
    },
  }
}

const burst = ({ requestsPerMinute, burstSeconds }: TrueOffer): number => Math.max(2, (requestsPerMinute / 60) * burstSeconds)

interface Fated {
  readonly call: Call
  readonly place: number
  readonly cached: number
  readonly now: State
  readonly offer: TrueOffer
}

function fate({ call, place, cached, now, offer }: Fated): Fate {
  const { asked, atMs } = call
  if (uniform(place, purpose.hang) < now.hangs) return { kind: 'hang' }
  if (uniform(place, purpose.error) < now.errors || asked.inputTokens > now.longest) {
    return { kind: 'error', atMs: atMs + now.errorMs * (0.5 + uniform(place, purpose.errorMs)) }
  }
  const tail = uniform(place, purpose.tail) < offer.tail ? offer.tailTimes * Math.exp(tailScatter * normal(place, purpose.tailBody)) : 1
  const wait = offer.firstContentMs * now.wait * tail * Math.exp(offer.scatter * normal(place, purpose.body))
  const firstMs = atMs + wait + offer.msPerToken * (asked.inputTokens - cached)
  const endMs = firstMs + (asked.outputTokens / now.tokensPerSecond) * 1_000
  if (uniform(place, purpose.broken) >= now.breaks) return { kind: 'answer', firstMs, endMs, cached }
  return { kind: 'answer', firstMs, endMs, cached, brokenMs: firstMs + (endMs - firstMs) * uniform(place, purpose.breaksAt) }
}

/** Deviation of the factor of slow waits. */
export const tailScatter = 0.3

function reckon(standing: Standing, atMs: number, span: { readonly endMs: number; readonly drift: number }): State {
  const { state, true: offer, faults } = standing
  if (standing.stateMs === atMs) return state
  standing.stateMs = atMs
  const step = Math.min(standing.waits.length - 1, Math.floor(atMs / stepMs))
  // The load of others varies too: a busy offer is slower, each at its own time.
  const busy = span.drift === 0 ? 0 : 0.25 * (wave(atMs / span.endMs + standing.phase) - 1)
  state.wait = Math.exp((standing.waits[step] ?? 0) + busy)
  state.tokensPerSecond = offer.tokensPerSecond * Math.exp((standing.speeds[step] ?? 0) - busy)
  state.errors = offer.errors
  state.errorMs = offer.errorMs
  state.hangs = 0
  state.breaks = offer.breaks
  state.longest = Number.POSITIVE_INFINITY
  state.refill = offer.requestsPerMinute / 60_000
  for (const fault of faults) if (atMs >= fault.fromMs && atMs < fault.toMs) afflict(state, fault)
  return state
}

function afflict(state: State, fault: Fault): void {
  const slower = fault.slower ?? 1
  state.wait *= slower
  state.tokensPerSecond /= Math.sqrt(slower)
  state.errors = Math.max(state.errors, fault.errors ?? 0)
  state.errorMs = fault.errorMs ?? state.errorMs
  state.hangs = Math.max(state.hangs, fault.hangs ?? 0)
  state.breaks = Math.max(state.breaks, fault.breaks ?? 0)
  state.longest = Math.min(state.longest, fault.longest ?? Number.POSITIVE_INFINITY)
  state.refill *= fault.limit ?? 1
}

/** A mean-reverting random walk (Ornstein-Uhlenbeck process). */
function wander(place: number, { steps, deviation }: { readonly steps: number; readonly deviation: number }): Float64Array {
  const path = new Float64Array(steps)
  if (deviation === 0) return path
  const keep = Math.exp(-stepMs / memoryMs)
  const push = deviation * Math.sqrt(1 - keep ** 2)
  let value = deviation * normal(place, 0)
  for (let at = 0; at < steps; at += 1) {
    path[at] = value
    value = keep * value + push * normal(place, at + 1)
  }
  return path
}
