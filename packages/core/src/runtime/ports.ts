import type { Failure } from '@signalbox/dialects/protocol'

/** Time and timers. Core reads them only here, so that tests control them. */
export interface Clock {
  /** Whole Unix milliseconds, as `Date.now` returns: storages refuse fractions. */
  now(): number
  /** Monotonic milliseconds, for durations. */
  monotonic(): number
  setTimeout(run: () => void, milliseconds: number): unknown
  clearTimeout(timer: unknown): void
}

/** Ids and random bytes. */
export interface Ids {
  /** A time-ordered UUID (version 7), so that table rows stay in creation order. */
  uuid(): string
  /** `bytes` random bytes as lower-case hex. */
  hex(bytes: number): string
  random(bytes: number): Uint8Array
}

/**
 * Downloads an image or file from a URL in a request. An implementation must refuse private, loopback and link-local addresses after
 * resolution and after redirects, stop at `maxBytes`, and report what it holds with `onBytes`. `guardedMedia()` of @signalbox/node-http
 * does.
 */
export type MediaReader = (url: string, wanted: MediaWanted) => Promise<MediaFound>

/** What a `MediaReader` may read, and when it has to stop. */
export interface MediaWanted {
  readonly maxBytes: number
  readonly signal: AbortSignal
  /** Call it with the number of bytes that have arrived, before they are kept. If it returns false there is no memory for them: stop. */
  onBytes(bytes: number): boolean
}

/**
 * Counts bytes of memory that a request takes in addition to its body, until the request is over or the returned function is called.
 * Throws a GatewayError to refuse them.
 */
export type ClaimMemory = (bytes: number) => () => void

/** A downloaded image or file, or why it could not be read. */
export type MediaFound =
  | { readonly ok: true; readonly mediaType: string; readonly base64: string }
  /** `why` may be shown to the client. */
  | { readonly ok: false; readonly why: string }

/** A logger that takes facts first, like pino: `logger.warn({ provider }, 'The credential was refused.')`. */
export interface Logger {
  info(facts: Readonly<Record<string, unknown>>, message: string): void
  warn(facts: Readonly<Record<string, unknown>>, message: string): void
  error(facts: Readonly<Record<string, unknown>>, message: string): void
}

/** Observers of requests. They cannot change anything; errors they throw are logged and ignored. */
export interface Hooks {
  /** Called when the candidates of a request are ranked. */
  onRoute?(call: CallFacts, candidates: readonly string[]): void
  /** Called when an attempt failed. */
  onFailure?(call: CallFacts, failure: Failure): void
  /** Called when the first content arrives: from which provider, and after how many milliseconds. */
  onFirstContent?(call: CallFacts, provider: string, afterMs: number): void
  /** Called when the request is over, with its tokens, cost, duration and attempts. */
  onFinish?(call: CallFacts, result: SettledFacts): void
  /** Called when a budget reaches one of its alert thresholds. */
  onBudget?(use: BudgetUse): void | Promise<void>
  /** Called when an invite was created and must be sent. Its token appears only here and in the response to its creator. */
  onInvite?(mail: InviteFacts): void | Promise<void>
}

/** A budget and the share of it that is used. Reported once per threshold and period. */
export interface BudgetUse {
  readonly workspaceId: string
  readonly budgetId: string
  /** A value of its `alert_at`; 1 when a budget that is not enforced is used up. */
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

/** A spending limit of a request: from a stored budget, or passed by the app together with a user. */
export interface CallerBudget {
  readonly id: string
  /** Set on the budget of a group, which other users spend from too. */
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
  /** Ancestors of the key, nearest first. The request counts against their budgets too. Absent: none. */
  readonly ancestors?: readonly { readonly keyId: string }[]
  /** Budgets of the end user, which the request counts against too. Absent: none. */
  readonly budgets?: readonly CallerBudget[]
  /** Tags that usage is grouped by. Absent: none. */
  readonly tags?: readonly string[]
  /** The first requested model. */
  readonly model: string
}

/** The outcome of a settled request, as hooks see it. */
interface SettledFacts {
  readonly provider: string
  readonly model: string
  readonly inputTokens: number
  readonly outputTokens: number
  /** Microdollars. */
  readonly cost: number
  readonly estimated: boolean
  readonly result: string
  readonly durationMs: number
  /** Milliseconds until the first content, if there was any. */
  readonly firstContentMs?: number
  readonly attempts: number
  /** Warning codes. `usage_clamped`: the provider reported more tokens than the request can have used. */
  readonly warnings: readonly string[]
}
