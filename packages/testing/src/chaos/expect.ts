import type { SpokenDialect } from '../speech/tongues.ts'
import type { Play } from './acts.ts'

export type Mode = 'whole' | 'stream'

/** What a caller of the gateway meets when this fault is all there is: one provider, and no other. */
export interface Expected {
  /** Any of these. */
  readonly status: readonly number[]
  /** Any of these, in the error body, or in the event that ends a stream which had begun. */
  readonly code?: readonly string[]
  /** How an answer under status 200 ends. */
  readonly ends?: 'completed' | 'failed'
  /** The answer says `defaultText`, to the byte. */
  readonly exact?: boolean
  /** With a second provider behind: it is asked, and the caller gets its answer. `maybe`: both ways are right. */
  readonly fallback: boolean | 'maybe'
  /** UR as reported, UE estimated, U0 nothing. */
  readonly usage: 'UR' | 'UE' | 'U0' | 'UR or UE'
  /** Bounds of the `Retry-After` that the caller is told, in seconds. */
  readonly retryAfter?: readonly [number, number]
}

export type Expectation = Partial<Record<Mode, Expected>>

/** One row of the fault catalogue, or one variant of it. */
export interface Fault {
  readonly row: number
  /** Unique. As a model, `fault:<name>` asks for it. */
  readonly name: string
  readonly applies: readonly Mode[]
  readonly dialects: readonly SpokenDialect[]
  /** What must be given for the fault to mean anything: a request before it on the same connection, or a key of the workspace's own. */
  readonly needs?: 'warm connection' | 'own connection' | 'workspace credential'
  /** It lasts until the gateway gives up: run it with short timeouts. */
  readonly hangs?: boolean
  readonly play: Play
  readonly expect: Expectation
}

export const both: readonly Mode[] = ['whole', 'stream']
export const spoken: readonly SpokenDialect[] = ['responses', 'chat']

export const fine: Expected = { status: [200], ends: 'completed', exact: true, fallback: false, usage: 'UR' }
/** Fine, but the words are the fault's own. */
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
/** The request is at fault, whoever is asked. */
export const e400: Expected = { status: [400], fallback: false, usage: 'U0' }
/** It broke after the first words: told in the stream, and no other provider goes on with it. */
export const broken: Expected = { status: [200], code: ['provider_error'], ends: 'failed', fallback: false, usage: 'UE' }
export const brokenByTime: Expected = { ...broken, code: ['provider_timeout', 'deadline_exceeded', 'provider_error'] }

export const alike = (expected: Expected): Expectation => ({ whole: expected, stream: expected })
