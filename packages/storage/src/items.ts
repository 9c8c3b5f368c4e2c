import type { Awaitable } from './awaitable.ts'

/**
 * Response items, sealed by the gateway, that requests to any process can refer to for a while. Optional: without it, each process keeps
 * its own in memory.
 */
export interface ItemStore {
  /**
   * Stores items, and removes some expired ones. If a workspace exceeds `maxBytes`, its items that expire first are removed first. An id
   * that already exists becomes ambiguous, and is not found until it has expired.
   */
  put(items: readonly StoredItem[], maxBytes: number, valid: ItemTimes): Awaitable<void>
  /** The items with these ids, in no particular order. */
  find(workspaceId: string, ids: readonly string[], valid: ItemTimes): Awaitable<readonly StoredItem[]>
  /** Changes the expiry of items. Unknown ids are ignored. */
  renew(workspaceId: string, ids: readonly string[], times: ItemRenewal): Awaitable<void>
}

/** A stored item. */
export interface StoredItem {
  readonly workspaceId: string
  /** Unique within its workspace. */
  readonly id: string
  /** Unix milliseconds. */
  readonly expiresAt: number
  /** Sealed text. Its length is counted as bytes. */
  readonly body: string
}

/** Which items are valid: those that expire after `at` but not after `latest`. Others have expired, or were stored before the clock was set back. */
export interface ItemTimes {
  /** The current time in Unix milliseconds. */
  readonly at: number
  /** When an item stored now expires, plus the maximum clock difference between processes, in Unix milliseconds. */
  readonly latest: number
}

/** When renewed items expire. */
export interface ItemRenewal {
  /** Unix milliseconds. */
  readonly until: number
  /** The current time by the clock of `until`, in Unix milliseconds. */
  readonly at: number
}
