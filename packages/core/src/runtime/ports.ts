import type { Failure } from '../protocol/failure.ts'

/** The outside world, as doors. Nothing else in core may read time, chance or the network. */
export interface Clock {
  /** Unix milliseconds. */
  now(): number
  /** Milliseconds that only ever grow; for durations. */
  monotonic(): number
  setTimeout(run: () => void, milliseconds: number): unknown
  clearTimeout(timer: unknown): void
}

export interface Ids {
  /** A time-ordered UUID (version 7): rows of a table stay in the order of their making. */
  uuid(): string
  /** `bytes` random bytes as lower-case hex. */
  hex(bytes: number): string
  random(bytes: number): Uint8Array
}

/**
 * One HTTP exchange with a provider, in plain values (a Request and a Response object cost three times the exchange).
 * Redirects are not followed. Rejects where no answer came (name, connect, TLS, reset); the message says which.
 */
export type Transport = (request: TransportRequest) => Promise<TransportReply>

export interface TransportRequest {
  readonly url: string
  readonly method: 'POST' | 'GET'
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Aborting closes the connection at once, before or during the answer. */
  readonly signal: AbortSignal
}

export interface TransportReply {
  readonly status: number
  /** A header's value by lower-case name; several values are joined by a comma. */
  readonly header: (name: string) => string | undefined
  /** Decoded bytes, at the pace of the reader. Rejects where the connection broke before its end. `return()` closes the connection. */
  readonly body: AsyncIterator<Uint8Array, undefined>
}

/** Facts first, as pino takes them: `logger.warn({ provider }, 'The credential was refused.')`. */
export interface Logger {
  info(facts: Readonly<Record<string, unknown>>, message: string): void
  warn(facts: Readonly<Record<string, unknown>>, message: string): void
  error(facts: Readonly<Record<string, unknown>>, message: string): void
}

/** Observers. They hear facts and can change nothing; what they throw is logged and forgotten. */
export interface Hooks {
  onPlan?(call: CallFacts, candidates: readonly string[]): void
  onFailure?(call: CallFacts, failure: Failure): void
  onCommit?(call: CallFacts, provider: string, afterMs: number): void
  onSettle?(call: CallFacts, result: SettledFacts): void
}

export interface CallFacts {
  readonly requestId: string
  readonly workspaceId: string
  readonly keyId: string
  /** The first model that was asked for. */
  readonly model: string
}

export interface SettledFacts {
  readonly provider: string
  readonly model: string
  readonly inputTokens: number
  readonly outputTokens: number
  /** Microdollars. */
  readonly cost: number
  readonly estimated: boolean
  readonly result: string
  readonly durationMs: number
  /** To the first content, where there was any. */
  readonly firstContentMs?: number
  readonly attempts: number
}
