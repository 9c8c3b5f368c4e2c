import type { Failure } from '../protocol/failure.ts'

export type { Transport, TransportReply, TransportRequest } from '../protocol/transport.ts'

/** Time and timers. Core reads them only here, so that tests control them. */
export interface Clock {
  /** Unix milliseconds. */
  now(): number
  /** Milliseconds that only ever grow; for durations. */
  monotonic(): number
  setTimeout(run: () => void, milliseconds: number): unknown
  clearTimeout(timer: unknown): void
}

/** Ids and random bytes. */
export interface Ids {
  /** A time-ordered UUID (version 7): rows of a table stay in the order of their making. */
  uuid(): string
  /** `bytes` random bytes as lower-case hex. */
  hex(bytes: number): string
  random(bytes: number): Uint8Array
}

/**
 * Downloads an image or file from an address in a request. An implementation must refuse private, loopback and link-local
 * addresses after resolution and after redirects, and stop at `maxBytes`. `guardedMedia()` of @signalbox/node-http does.
 */
export type MediaReader = (url: string, wanted: { readonly maxBytes: number; readonly signal: AbortSignal }) => Promise<MediaFound>

/** A downloaded image or file, or why it could not be read. */
export type MediaFound =
  | { readonly ok: true; readonly mediaType: string; readonly base64: string }
  /** `why` may be shown to the client. */
  | { readonly ok: false; readonly why: string }

/** Facts first, as pino takes them: `logger.warn({ provider }, 'The credential was refused.')`. */
export interface Logger {
  info(facts: Readonly<Record<string, unknown>>, message: string): void
  warn(facts: Readonly<Record<string, unknown>>, message: string): void
  error(facts: Readonly<Record<string, unknown>>, message: string): void
}

/** Observers of requests. They can change nothing; what they throw is logged and ignored. */
export interface Hooks {
  /** The candidates of a request are ranked. */
  onPlan?(call: CallFacts, candidates: readonly string[]): void
  /** An attempt failed. */
  onFailure?(call: CallFacts, failure: Failure): void
  /** The first content has arrived, from this provider and after so many milliseconds. */
  onCommit?(call: CallFacts, provider: string, afterMs: number): void
  /** The request is over: tokens, cost, duration, attempts. */
  onSettle?(call: CallFacts, result: SettledFacts): void
  /** A budget has reached a share of its limit. */
  onBudget?(use: BudgetUse): void | Promise<void>
  /** An invite was created and has to be sent. Its token appears only here and in the reply to its creator. */
  onInvite?(mail: InviteFacts): void | Promise<void>
}

/** A budget, and the share of it that is used up now: each share once a period. */
export interface BudgetUse {
  readonly workspaceId: string
  readonly budgetId: string
  /** As in its `alert_at`; 1 where a budget that is not enforced is used up. */
  readonly share: number
  /** Microdollars. */
  readonly used: number
  /** Microdollars. */
  readonly limit: number
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

/** A limit on what a request may spend, as a record of a budget has it or the app gives it with a user. */
export interface CallerBudget {
  readonly id: string
  /** It is a group's: others spend from it, too. */
  readonly isGroup?: true
  readonly body: {
    readonly name: string
    /** Microdollars. */
    readonly limit: number
    readonly period: 'day' | 'week' | 'month' | 'total'
    readonly enforce: boolean
    readonly includeByok: boolean
    readonly alertAt: readonly number[]
  }
}

/** The identity of a request, as hooks see it. */
export interface CallFacts {
  readonly requestId: string
  readonly workspaceId: string
  readonly keyId: string
  /** The key's ancestors, nearest first: the request counts against their budgets too. Absent: none. */
  readonly ancestors?: readonly { readonly keyId: string }[]
  /** Budgets of an end user, which the request counts against too. Absent: none. */
  readonly budgets?: readonly CallerBudget[]
  /** Names that its usage is counted by. Absent: none. */
  readonly tags?: readonly string[]
  /** The first model that was asked for. */
  readonly model: string
}

/** The outcome of a settled request, as hooks see it. */
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
