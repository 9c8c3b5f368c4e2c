import type { Awaitable } from './awaitable.ts'
import type { Histogram } from './histogram.ts'

/** The usage log: one row per request, and totals of them. */
export interface UsageStore {
  /** Appends a row. Repeating an `id` does nothing. */
  append(row: UsageRow): Awaitable<void>
  find(workspaceId: string, id: string): Awaitable<UsageRow | undefined>
  /**
   * One total for each interval and group with rows, ordered by interval, then by group name. Without interval and group: one total, or
   * none. Removed rows may still count in whole UTC hours if filter and group name at most one of key, model, provider and tag: a store may
   * keep those totals, and returns them fastest.
   */
  totals(query: TotalsQuery): Awaitable<readonly UsageTotal[]>
  /** Newest first; of equal times, the last appended first. `after` continues after the row with this id; an unknown id returns nothing. */
  list(query: UsageQuery & { readonly limit: number; readonly after?: string }): Awaitable<readonly UsageRow[]>
  /** The number of rows, counted up to `limit`. */
  count(query: UsageQuery & { readonly limit: number }): Awaitable<number>
  /** Removes up to `limit` rows older than a time, oldest first; returns how many. Totals may still include them, and their ids become free. */
  forget(input: { readonly workspaceId: string; readonly before: number; readonly limit: number }): Awaitable<number>
}

/** Selects usage rows of one workspace. */
export interface UsageQuery {
  readonly workspaceId: string
  readonly keyId?: string
  /** Canonical id. */
  readonly model?: string
  readonly provider?: string
  /** Only rows that have this tag. */
  readonly tag?: string
  /** Unix milliseconds; `from` is inclusive, `to` is exclusive. */
  readonly from: number
  readonly to: number
}

/** Selects usage rows and how they are grouped. */
export interface TotalsQuery extends UsageQuery {
  /** Interval in UTC. */
  readonly interval?: 'hour' | 'day'
  /** A row counts in the group of each of its tags; with a tag filter, only in that one. */
  readonly groupBy?: 'model' | 'provider' | 'key' | 'tag'
  /** Only groups whose names start with this. */
  readonly groupPrefix?: string
  /**
   * Only this many groups: those with the highest cost, then the most requests. For queries without an interval. Memory is bounded too:
   * beyond 20,000 groups, those with the lowest cost so far start again at 0.
   */
  readonly top?: number
}

/** One row per admitted request, whatever its result. Never contains prompt or response text. */
export interface UsageRow {
  /** The request id. */
  readonly id: string
  readonly workspaceId: string
  readonly keyId: string
  readonly at: number
  /** The model name in the request. */
  readonly modelAsked: string
  /** Canonical id of the model that responded, or of the first one tried. */
  readonly model: string
  /** Empty if no provider was reached. */
  readonly provider: string
  /** Owner of the provider account that was used. */
  readonly credential: 'platform' | 'workspace'
  readonly strategy: string
  readonly streamed: boolean
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cachedTokens: number
  readonly cacheWriteTokens: number
  readonly reasoningTokens: number
  /** Whether tokens were estimated, because the provider reported none. */
  readonly estimated: boolean
  /** Microdollars charged. */
  readonly cost: number
  /** Microdollars at list price that the workspace pays directly to its provider. */
  readonly byokCost: number
  readonly result: UsageResult
  /** The error code, if the request failed. */
  readonly code?: string
  readonly attempts: number
  readonly durationMs: number
  readonly firstContentMs?: number
  readonly warnings: readonly string[]
  readonly metadata?: Readonly<Record<string, string>>
  /** Names that totals can be grouped by. Default: none. */
  readonly tags?: readonly string[]
  /** The routing decision, as text that the store does not interpret. */
  readonly routing?: string
}

/** How a request ended. `interrupted`: the process ended during the request, and the row is based on the journal of its hold. */
export type UsageResult = 'ok' | 'incomplete' | 'error' | 'rate_limited' | 'abandoned' | 'interrupted'

/** The sums of many usage rows. Sums above `maxSum` have about sixteen exact digits. */
export interface UsageTotal {
  /** Start of the interval, if the query has one. */
  readonly start?: number
  /** The model, provider, key id or tag, if the query groups by it. */
  readonly group?: string
  readonly requests: number
  readonly errors: number
  readonly rateLimited: number
  readonly abandoned: number
  readonly interrupted: number
  /** Requests with more than one attempt. */
  readonly fallbacks: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cachedTokens: number
  readonly cacheWriteTokens: number
  readonly reasoningTokens: number
  readonly cost: number
  /** Requests through the workspace's own provider account. */
  readonly byokRequests: number
  readonly byokCost: number
  /** Durations in milliseconds of requests that ended `ok` or `incomplete`. */
  readonly durations: Histogram
  /** Milliseconds to the first content. */
  readonly firstContents: Histogram
  /** Output tokens per second after the first content, of requests that ended `ok` or `incomplete` and streamed for more than 0 ms. */
  readonly speeds: Histogram
}
