import type { BuiltInDialect } from '@signalbox/dialects'
import type { JsonObject } from '@signalbox/dialects/protocol'
import { answerWriters, isBuiltInDialect } from '../answers/writers.ts'
import type { Respond } from './acts.ts'

export type Mode = 'whole' | 'stream'

/** What a client of the gateway must receive if the only provider has this fault. */
export interface Expected {
  /** Any of these. */
  readonly status: readonly number[]
  /** Any of these, in the error body, or in the event that ends a started stream. */
  readonly code?: readonly string[]
  /** How a response with status 200 ends. */
  readonly ends?: 'completed' | 'incomplete' | 'failed'
  /** Why it is incomplete. */
  readonly reason?: string
  /** Whether the text is exactly `defaultText`. */
  readonly exact?: boolean
  /** The output items in the Responses format. Fields that are not given may have any value. */
  readonly output?: readonly JsonObject[]
  /** Codes of its warnings. Default: none. */
  readonly warnings?: readonly string[]
  /** As in the usage row. */
  readonly billed?: Billed
  /** Whether a second provider is called, and the client receives its response. `maybe`: both are correct. */
  readonly fallback: boolean | 'maybe'
  /** UR: as reported, UE: estimated, U0: nothing. */
  readonly usage: 'UR' | 'UE' | 'U0' | 'UR or UE'
  /** Range of the `Retry-After` header that the client receives, in seconds. */
  readonly retryAfter?: readonly [number, number]
}

export interface Billed {
  readonly inputTokens?: number
  readonly outputTokens?: number
  readonly cachedTokens?: number
  readonly reasoningTokens?: number
  /** Microdollars. */
  readonly cost?: number
}

export type Expectation = Partial<Record<Mode, Expected>>

/** Why some dialects cannot play a fault. */
export type Lacks = Readonly<Partial<Record<BuiltInDialect, string>>>

/** One entry of the fault catalogue, or one variant of it. */
export interface Fault {
  readonly row: number
  /** Unique. The model `fault:<name>` requests it. */
  readonly name: string
  readonly applies: readonly Mode[]
  /** Dialects that can play it. */
  readonly dialects: readonly BuiltInDialect[]
  /** Dialects that cannot, each with the reason. */
  readonly lacks: Lacks
  /** Precondition of the fault: an earlier request on the same connection, or a workspace credential. */
  readonly needs?: 'warm connection' | 'own connection' | 'workspace credential'
  /** Fields that the request must have, in the Responses format. */
  readonly asks?: JsonObject
  /** Whether it lasts until the gateway gives up. Use short timeouts. */
  readonly hangs?: boolean
  /** The deadline of the request in milliseconds, if the fault lasts until then. */
  readonly deadlineMs?: number
  /** Whether it is so large that the default run plays it in one dialect only. */
  readonly heavy?: boolean
  /** Megabytes of events: met alone, so that the next request does not wait for them until a timeout that the gateway learned. */
  readonly large?: boolean
  readonly respond: Respond
  readonly expect: Expectation
  /** Expectations that differ by dialect. */
  readonly but?: Readonly<Partial<Record<BuiltInDialect, Expectation>>>
}

/** A fault as written in the tables. */
export interface Row extends Omit<Fault, 'applies' | 'dialects' | 'lacks'> {
  /** Default: both. */
  readonly applies?: readonly Mode[]
  /** Default: every dialect can play it. */
  readonly lacks?: Lacks
}

const both: readonly Mode[] = ['whole', 'stream']
export const builtInDialects: readonly BuiltInDialect[] = Object.keys(answerWriters).filter(isBuiltInDialect)

export const faultOf = ({ applies = both, lacks = {}, ...row }: Row): Fault => ({
  ...row,
  applies,
  lacks,
  dialects: builtInDialects.filter(dialect => lacks[dialect] === undefined),
})

/** Only these dialects can play it; the others cannot, for the same reason. */
export const onlyIn = (dialects: readonly BuiltInDialect[], reason: string): Lacks =>
  Object.fromEntries(builtInDialects.filter(dialect => !dialects.includes(dialect)).map(dialect => [dialect, reason]))

/** The expectation for a provider of this dialect. */
export const expectedOf = ({ expect, but }: Pick<Fault, 'expect' | 'but'>, dialect: BuiltInDialect, mode: Mode): Expected | undefined =>
  but?.[dialect]?.[mode] ?? expect[mode]

export const fine: Expected = { status: [200], ends: 'completed', exact: true, fallback: false, usage: 'UR' }
/** Succeeds, with the fault's own content. */
export const fineInOtherWords: Expected = { status: [200], ends: 'completed', fallback: false, usage: 'UR' }
export const e502: Expected = { status: [502], code: ['provider_error'], fallback: true, usage: 'U0' }
export const e503: Expected = {
  status: [502, 503],
  code: ['provider_error', 'server_is_overloaded', 'routing_failed'],
  fallback: true,
  usage: 'U0',
}
export const e504: Expected = { status: [504], code: ['provider_timeout', 'deadline_exceeded'], fallback: true, usage: 'U0' }
export const e429: Expected = {
  status: [429],
  code: ['rate_limit_exceeded', 'tokens_per_min_exceeded'],
  fallback: true,
  usage: 'U0',
  retryAfter: [1, 600],
}
/** The request is invalid for every provider. */
export const e400: Expected = { status: [400], fallback: false, usage: 'U0' }
/** Breaks after the first content: reported in the stream, without fallback. */
export const broken: Expected = { status: [200], code: ['provider_error'], ends: 'failed', fallback: false, usage: 'UE' }
export const brokenByTime: Expected = { ...broken, code: ['provider_timeout', 'deadline_exceeded', 'provider_error'] }

export const alike = (expected: Expected): Expectation => ({ whole: expected, stream: expected })
