import type { RouterOffer } from '@signalbox/router'

/** The true properties of an offer. Milliseconds and shares from 0 to 1. */
export interface TrueOffer {
  readonly id: string
  /** Microdollars per million tokens. */
  readonly price: RouterOffer['price']
  /** Median wait until first content for an empty prompt. */
  readonly firstContentMs: number
  /** Scatter of waits: the standard deviation of their logarithm. */
  readonly scatter: number
  /** Share of waits that are several times longer, and by which factor. */
  readonly tail: number
  readonly tailTimes: number
  /** Milliseconds per uncached prompt token. */
  readonly msPerToken: number
  readonly tokensPerSecond: number
  /** Share of calls that fail, and how long that takes. */
  readonly errors: number
  readonly errorMs: number
  /** Share of responses that break off. */
  readonly breaks: number
  readonly requestsPerMinute: number
  /** Burst of the limit, in seconds. */
  readonly burstSeconds: number
  /** How it reveals its limit: in headers of every response, with a 429, or not at all. */
  readonly tells: 'headers' | 'retry_after' | 'nothing'
  /** Share of prompts that hit the cache when their beginning is in it. */
  readonly cacheHits: number
  readonly cacheMs: number
  /** Whether the prompt of a cancelled call is charged. */
  readonly billsCancelled: boolean
}

/** Something that happens to one offer for a while. Absent fields mean no change. */
export interface Fault {
  readonly offer: number
  readonly fromMs: number
  readonly toMs: number
  /** Factor of the wait; responses slow down by its square root. */
  readonly slower?: number
  /** Additional share of failing calls. */
  readonly errors?: number
  readonly errorMs?: number
  /** Share of calls that never get a response. */
  readonly hangs?: number
  readonly breaks?: number
  /** Prompts with more tokens fail. */
  readonly longest?: number
  /** Factor of the rate limit. */
  readonly limit?: number
}

export interface FaultPlan {
  readonly seed: number
  readonly minutes: number
  /** Offers by index, the best one of this run first. */
  readonly favourites: () => readonly number[]
}

export interface RequestSize {
  readonly inputTokens: number
  readonly outputTokens: number
}

export interface World {
  readonly name: string
  readonly offers: readonly TrueOffer[]
  /** Average requests per second. */
  readonly rate: number
  readonly minutes: number
  /** Share of requests that belong to a conversation. */
  readonly sessions: number
  /** Tokens of every request outside a conversation. Default: random, see `traffic`. */
  readonly size?: RequestSize
  /** How far offers drift: the standard deviation of the logarithm of their speed. */
  readonly drift: number
  readonly faults: (plan: FaultPlan) => readonly Fault[]
}

/** The shortest prompt that providers cache. */
export const leastCached = 1_024

const usual = { tail: 0.02, tailTimes: 4, burstSeconds: 8, cacheHits: 0.95, cacheMs: 300_000, billsCancelled: true }

/** Six offers of one model, from cheap and slow to expensive and fast. */
export const sixOffers: readonly TrueOffer[] = [
  {
    ...usual,
    id: 'alder',
    price: { input: 500_000, output: 1_600_000, cached: 250_000 },
    firstContentMs: 900,
    scatter: 0.5,
    tail: 0.03,
    msPerToken: 0.15,
    tokensPerSecond: 70,
    errors: 0.012,
    errorMs: 400,
    breaks: 0.002,
    requestsPerMinute: 600,
    tells: 'nothing',
  },
  {
    ...usual,
    id: 'birch',
    price: { input: 600_000, output: 2_000_000, cached: 150_000 },
    firstContentMs: 650,
    scatter: 0.4,
    msPerToken: 0.1,
    tokensPerSecond: 95,
    errors: 0.004,
    errorMs: 300,
    breaks: 0.0008,
    requestsPerMinute: 900,
    tells: 'headers',
  },
  {
    ...usual,
    id: 'cedar',
    price: { input: 700_000, output: 2_200_000, cached: 350_000 },
    firstContentMs: 450,
    scatter: 0.35,
    tailTimes: 6,
    msPerToken: 0.08,
    tokensPerSecond: 120,
    errors: 0.006,
    errorMs: 200,
    breaks: 0.001,
    requestsPerMinute: 720,
    tells: 'retry_after',
    billsCancelled: false,
  },
  {
    ...usual,
    id: 'elm',
    price: { input: 900_000, output: 3_000_000, cached: 90_000, cacheWrite: 1_125_000 },
    firstContentMs: 520,
    scatter: 0.25,
    tail: 0.01,
    msPerToken: 0.06,
    tokensPerSecond: 80,
    errors: 0.002,
    errorMs: 300,
    breaks: 0.0004,
    requestsPerMinute: 1_200,
    tells: 'headers',
  },
  {
    ...usual,
    id: 'larch',
    price: { input: 1_200_000, output: 4_500_000 },
    firstContentMs: 320,
    scatter: 0.2,
    tail: 0.01,
    msPerToken: 0.03,
    tokensPerSecond: 260,
    errors: 0.003,
    errorMs: 150,
    breaks: 0.0003,
    requestsPerMinute: 1_500,
    tells: 'retry_after',
    billsCancelled: false,
  },
  {
    ...usual,
    id: 'maple',
    price: { input: 1_500_000, output: 6_000_000, cached: 375_000 },
    firstContentMs: 1_100,
    scatter: 0.3,
    msPerToken: 0.1,
    tokensPerSecond: 45,
    errors: 0.001,
    errorMs: 500,
    breaks: 0.0003,
    requestsPerMinute: 1_800,
    tells: 'nothing',
  },
]
