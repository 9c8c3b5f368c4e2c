import type { Rates } from '../protocol/model.ts'
import type { FlightSummary } from './flight-summary.ts'
import type { Preference, Worth } from './preferences.ts'
import type { Trace } from './record.ts'
import type { RecordOptions } from './recorder.ts'
import type { Sight, Strategy } from './sight.ts'

// The door of the brain: numbers in, choices out. It calls nobody, so that anyone can drive it: the gateway, a simulator, a test.

/** An offer as the brain sees it: a name, whom it fails together with, and a price. */
export interface RouterOffer {
  /** Unique among the offers. What is learned of an offer is kept under it. */
  readonly id: string
  /** Offers of one provider fail together. Default: the id. */
  readonly provider?: string
  /** Answers of one model are about as long, whoever gives them. Default: all are of one. */
  readonly model?: string
  /** Microdollars per million tokens. */
  readonly price: Rates
  /** How long a provider keeps a prompt that it has read, in milliseconds. Default: 300,000. */
  readonly cacheMs?: number
}

/** One request, as far as it matters to the choice. */
export interface RouterRequest {
  readonly inputTokens: number
  /** Tokens that the answer will have, where somebody knows. Default: what answers had so far. */
  readonly outputTokens?: number
  /** The cap that the caller set. */
  readonly maxOutputTokens?: number
  /** Default: true. */
  readonly stream?: boolean
  /** The same for all requests of one conversation: who has read its beginning may still have it in a cache. */
  readonly cacheKey?: string
  /** Default: that of the router. */
  readonly preference?: Preference | Worth | Strategy
  /** Ids of the offers that can serve this request. Default: all. */
  readonly offers?: readonly string[]
  /** For the whole request, all attempts included. Default: none. */
  readonly deadlineMs?: number
  /** For the first content of one attempt (of a whole answer: its end), a ceiling. Default: 120,000 and 300,000. */
  readonly timeoutMs?: number
  /** Attempts that the request may make in all. Default: 4. */
  readonly attempts?: number
  /** A second offer may be asked while the first is silent. Default: false. */
  readonly hedge?: boolean
  /** No learned time-out is shorter: of requests whose silence says nothing, since the model thinks. Default: 0. */
  readonly leastTimeoutMs?: number
  /** How long an offer that is hardly known yet may take to its first content. Default: 10,000. */
  readonly coldTimeoutMs?: number
  /** An order of the caller's own: lower goes first, and only among equals the loss decides. Nobody is then asked only to learn of it. */
  readonly rank?: (offer: RouterOffer) => number
  /** Only to look at: no turn of a conversation is counted, nobody is tried to learn of it, and nothing is recorded. Default: false. */
  readonly dry?: boolean
}

export interface RouterPlan {
  /** Everyone who may be asked, best first, as judged when the plan was made. Never empty. */
  choices(): readonly [Choice, ...Choice[]]
  /**
   * Whom to ask now: the best of those not asked yet, judged anew by what has been learned since and the time that is left.
   * Nothing where nobody, no attempt or no time is left.
   */
  next(): Choice | undefined
  /** What this request decided so far, and what came of it. Absent: it is not recorded. */
  flight?(): Trace
  /** The same as `encodeTraceText` would write it, at a tenth of the price. `most`: bytes of decisions; the later ones go while they are more. */
  flightText?(most: number): string
  /** In short: the order, the attempts and what became of each, in about 100 bytes and the names of the offers. */
  flightSummary?(): FlightSummary
}

/** Somebody to ask. */
export interface Choice {
  readonly offer: RouterOffer
  /** Expected loss, in USD by a request's preference, or whatever a strategy of one's own returned. */
  readonly loss: number
  /** The numbers that the choice was made by. */
  readonly sight: Sight
  readonly why: Why
  /** It asked to be left alone for so long, and everyone else did too: wait before asking. Mostly 0. */
  readonly waitMs: number
  /** Without first content (of a whole answer: without its end) after so long, it is time to ask the next. */
  readonly timeoutMs: number
  /** A second offer is worth its money after so long without first content. Absent: it is not. */
  readonly hedgeAfterMs?: number
}

/** `best`: the least expected loss. `probe`: tried to learn of it. `fallback`: not the first of its request. `last_resort`: all are bad. */
export type Why = 'best' | 'probe' | 'fallback' | 'last_resort'

/** A call under way. */
export interface Attempt {
  readonly choice: Choice
}

/** What a finished answer used. Fields left out teach nothing. */
export interface Used {
  readonly outputTokens?: number
  /** Of the input, what came from the provider's cache. */
  readonly cachedTokens?: number
}

/**
 * `error`: it answered with a fault, or broke off. `timeout`: it was given up. `rate_limited`: 429. `credential`: 401, 402, 403.
 * `refused`: the request itself is at fault, which says nothing about the offer.
 */
export interface Failed {
  readonly kind: 'error' | 'timeout' | 'rate_limited' | 'credential' | 'refused'
  /** As the provider asked. */
  readonly retryAfterMs?: number
  /** Asked again, it would fail this request again. Default: as `kind` has it. */
  readonly final?: boolean
  /** The limit that passed was the caller's own: held against the offer only if it was silent for longer than nearly all its answers take. */
  readonly chosen?: boolean
}

export interface Router {
  plan(request: RouterRequest): RouterPlan
  /** The call goes out now. */
  started(choice: Choice): Attempt
  /** Something of the answer has come. Of a whole answer it is not called. */
  firstContent(attempt: Attempt): void
  /** The answer is here to its end. */
  finished(attempt: Attempt, used?: Used): void
  /** It went wrong, before or after first content. */
  failed(attempt: Attempt, failed: Failed): void
  /** Nobody waits for it any more: the caller left, or another answered first. */
  left(attempt: Attempt): void
  /** What the headers of an answer say of a rate limit: the share that is left, and when it is full again. */
  headroom(offerId: string, seen: { readonly share: number; readonly resetsInMs: number }): void
}

/** What writes its decisions down. */
export interface Recorded {
  /** What was decided lately. Empty where `record` was left out. */
  trace(): Trace
}

export interface RouterOptions {
  readonly offers: readonly RouterOffer[]
  /** Default: `balanced`. */
  readonly preference?: Preference | Worth | Strategy
  /** Milliseconds that only ever grow, from anywhere. Default: the runtime's. */
  readonly clock?: { monotonic(): number } | { now(): number }
  /** The same seed and the same calls at the same times give the same choices. Default: 1. */
  readonly seed?: number
  /** What is written down of decisions, for `trace()` and a plan's `flight()`. Default: nothing. */
  readonly record?: RecordOptions
}
