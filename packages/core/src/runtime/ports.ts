import type { Failure } from '../protocol/failure.ts'

export type { Transport, TransportReply, TransportRequest } from '../protocol/transport.ts'

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
 * Reads what stands at an address that a caller named. Whoever implements it guards it: no private, loopback or link-local
 * address after resolution, no redirect past that guard, no more than `maxBytes`. `guardedMedia()` of @signalbox/node-http does.
 */
export type MediaReader = (url: string, wanted: { readonly maxBytes: number; readonly signal: AbortSignal }) => Promise<MediaFound>

export type MediaFound =
  | { readonly ok: true; readonly mediaType: string; readonly base64: string }
  /** In words that may be shown to the caller. */
  | { readonly ok: false; readonly why: string }

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
  /** A budget has come to a share of its limit. */
  onBudget?(use: BudgetUse): void | Promise<void>
  /** An invite was made: it is yours to send. Its token is told nowhere else but in the answer to who made it. */
  onInvite?(mail: InviteFacts): void | Promise<void>
}

/** A budget, and the share of it that is used up now: each share once a period. */
export interface BudgetUse {
  readonly workspaceId: string
  readonly budgetId: string
  /** As in its `alert_at`; 1 where a budget that is not enforced is used up. */
  readonly share: number
  readonly usedUsd: number
  readonly limitUsd: number
}

interface InviteFacts {
  readonly workspaceId: string
  readonly workspaceName: string
  readonly email: string
  readonly role: string
  readonly token: string
  /** Unix milliseconds. */
  readonly expiresAt: number
}

export interface CallFacts {
  readonly requestId: string
  readonly workspaceId: string
  readonly keyId: string
  /** Keys above it, nearest first: what it spends counts against their budgets too. Absent: there is none. */
  readonly ancestors?: readonly { readonly keyId: string }[]
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
  /** Codes. `usage_clamped`: the provider claimed more tokens than the request can have. */
  readonly warnings: readonly string[]
}
