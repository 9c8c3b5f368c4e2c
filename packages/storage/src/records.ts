import type { AuditRow } from './audit.ts'
import type { Awaitable } from './awaitable.ts'
import type { CreditEntry } from './ledger.ts'

/**
 * What workspaces own and management changes: keys, members, settings and all the rest, in one shape. A store looks at none of
 * it, so that a new kind of record needs no new store. Money, limits and usage are not here: they have stores of their own.
 */
export interface RecordStore {
  /**
   * All of a change, or nothing of it: records, the money that comes in with them, and the audit rows that tell of it. Resolves
   * to the first thing that was not as expected, and nothing has changed then: the caller reads anew and decides again.
   */
  commit(change: Change): Awaitable<Conflict | undefined>
  find(kind: string, workspaceId: string, id: string): Awaitable<StoredRecord | undefined>
  /** By its name, in whatever workspace it is. */
  findByName(kind: string, name: string): Awaitable<StoredRecord | undefined>
  /** In the order of their making. */
  list(query: RecordQuery): Awaitable<readonly StoredRecord[]>
  /** Notes the last use; never moves it back. It is no change: the version stays. What is gone is no trouble. */
  touch(kind: string, uses: readonly RecordUse[]): Awaitable<void>
  /** Removes records whose `expiresAt` is at or before `at`, at most so many; says how many it were. */
  expire(at: number, most: number): Awaitable<number>
}

export interface StoredRecord {
  readonly kind: string
  readonly workspaceId: string
  /** One of its kind, in all workspaces. */
  readonly id: string
  /** 1 when it is made, and 1 more with every change. */
  readonly version: number
  /** Lists can be narrowed by it. */
  readonly group?: string
  /** No two records of a kind have the same, in whatever workspace. */
  readonly name?: string
  readonly createdAt: number
  /** From then on it may be removed. It is still found until it is. */
  readonly expiresAt?: number
  readonly usedAt?: number
  /** JSON text. */
  readonly body: string
}

export interface RecordQuery {
  readonly kind: string
  /** Absent: of all workspaces. */
  readonly workspaceId?: string
  /** Those of any of these groups. Absent: all. */
  readonly groups?: readonly string[]
  /** Goes on after the record of this id; one that is not there has nothing after it. */
  readonly after?: string
  readonly limit: number
}

export interface RecordUse {
  readonly id: string
  readonly at: number
}

export interface Change {
  readonly puts?: readonly RecordPut[]
  readonly removals?: readonly RecordRemoval[]
  /** As `ledger.credit`, but for one that is there already: then there is a conflict. */
  readonly credits?: readonly CreditEntry[]
  /** The next rows of the chain, in order; all of one workspace. */
  readonly audit?: readonly AuditRow[]
}

/** The whole record as it shall be. `usedAt` stays as it was. */
export interface RecordPut extends Omit<StoredRecord, 'version' | 'usedAt'> {
  /** The version that it has now. 0: it is new, and its id is free in its kind. */
  readonly version: number
}

export interface RecordRemoval {
  readonly kind: string
  readonly workspaceId: string
  readonly id: string
  /** The version that it has now. */
  readonly version: number
}

export type Conflict =
  /** It has another version, is gone, or (for a new one) is there already; or it is of another workspace. */
  | { readonly on: 'version'; readonly kind: string; readonly id: string }
  /** Another record of the kind has the name. */
  | { readonly on: 'name'; readonly kind: string; readonly name: string }
  | { readonly on: 'credit'; readonly account: string; readonly id: string }
  /** The credit of this id would take the account's balance, or all that was ever credited to it, past `maxSum`. */
  | { readonly on: 'sum'; readonly account: string; readonly id: string }
  /** The chain has gone on: the first row does not follow the last. */
  | { readonly on: 'audit'; readonly workspaceId: string }
