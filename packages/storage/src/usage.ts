import type { Awaitable } from './awaitable.ts'
import type { Bins } from './bins.ts'

export interface UsageStore {
  /** The same `id` twice does nothing. */
  append(row: UsageRow): Awaitable<void>
  find(workspaceId: string, id: string): Awaitable<UsageRow | undefined>
  /**
   * One total for each interval and group that has a row, in the order of the intervals, then of the groups' names. Neither
   * asked for: one, or none. Rows that were forgotten may still count, in whole hours of UTC and where no more than one of
   * key, model and provider is named by filter and group: a store may keep the totals of those, and answers them fastest.
   */
  totals(query: TotalsQuery): Awaitable<readonly UsageTotal[]>
  /** Newest first; of two at the same time, the one appended later. `after` goes on after the row of this id; one that is not there has nothing after it. */
  list(query: UsageQuery & { readonly limit: number; readonly after?: string }): Awaitable<readonly UsageRow[]>
  /** How many rows there are, counted up to `most`. */
  count(query: UsageQuery & { readonly most: number }): Awaitable<number>
  /** Forgets rows from before a time, oldest first, at most so many; says how many it were. Totals may still count them, and the id is free again. */
  forget(input: { readonly workspaceId: string; readonly before: number; readonly most: number }): Awaitable<number>
}

export interface UsageQuery {
  readonly workspaceId: string
  readonly keyId?: string
  /** Canonical id. */
  readonly model?: string
  readonly provider?: string
  /** `from` included, `to` not. */
  readonly from: number
  readonly to: number
}

export interface TotalsQuery extends UsageQuery {
  /** Of UTC. */
  readonly interval?: 'hour' | 'day'
  readonly groupBy?: 'model' | 'provider' | 'key'
}

/** One row per request that was admitted, however it ended. Never prompt or answer text. */
export interface UsageRow {
  /** The request id. */
  readonly id: string
  readonly workspaceId: string
  readonly keyId: string
  readonly at: number
  /** As the caller wrote it. */
  readonly modelAsked: string
  /** Canonical id of the model that answered, or of the first tried. */
  readonly model: string
  /** Empty where no provider was reached. */
  readonly provider: string
  /** Whose account at the provider it was. */
  readonly credential: 'platform' | 'workspace'
  readonly strategy: string
  readonly streamed: boolean
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cachedTokens: number
  readonly cacheWriteTokens: number
  readonly reasoningTokens: number
  /** Counted by us, since the provider did not say. */
  readonly estimated: boolean
  /** Microdollars charged. */
  readonly cost: number
  /** Microdollars by the list price that the workspace pays to its provider itself. */
  readonly byokCost: number
  readonly result: UsageResult
  /** The error code, where it ended badly. */
  readonly code?: string
  readonly attempts: number
  readonly durationMs: number
  readonly firstContentMs?: number
  readonly warnings: readonly string[]
  readonly metadata?: Readonly<Record<string, string>>
  /** Why it went where it did, as text that the store does not look into. */
  readonly routing?: string
}

/** `interrupted`: the process ended while the request was under way; the row is of what its hold's journal knew. */
export type UsageResult = 'ok' | 'incomplete' | 'error' | 'rate_limited' | 'abandoned' | 'interrupted'

/** Sums past `maxSum` are told to about sixteen digits. */
export interface UsageTotal {
  /** Begin of the interval, where intervals were asked for. */
  readonly start?: number
  /** Model, provider or key id, where groups were asked for. */
  readonly group?: string
  readonly requests: number
  readonly errors: number
  readonly rateLimited: number
  readonly abandoned: number
  readonly interrupted: number
  /** More than one attempt was made. */
  readonly fallbacks: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cachedTokens: number
  readonly cacheWriteTokens: number
  readonly reasoningTokens: number
  readonly cost: number
  /** Over an account of the workspace at its provider. */
  readonly byokRequests: number
  readonly byokCost: number
  /** Milliseconds of those that ended `ok` or `incomplete`. */
  readonly durations: Bins
  /** Milliseconds to the first content. */
  readonly firstContents: Bins
  /** Output tokens a second after the first content, of those that ended `ok` or `incomplete` and said something for longer than a moment. */
  readonly speeds: Bins
}
