import type { AuditRow } from './audit.ts'
import type { Awaitable } from './awaitable.ts'
import type { CreditEntry } from './ledger.ts'

/**
 * Everything that workspaces own and management changes: keys, members, settings and so on, in one format. A store does not interpret it,
 * so a new kind of record needs no new store. Money, limits and usage have their own stores.
 */
export interface RecordStore {
  /**
   * Applies a change completely or not at all: records, the credit that comes with them, and the audit rows that describe it. Returns the
   * first conflict if the state differs from what the change expects; nothing has changed then, and the caller must read and decide again.
   */
  commit(change: Change): Awaitable<Conflict | undefined>
  find(kind: string, workspaceId: string, id: string): Awaitable<StoredRecord | undefined>
  /** Finds a record by its name in any workspace. */
  findByName(kind: string, name: string): Awaitable<StoredRecord | undefined>
  /** In the order of creation. */
  list(query: RecordQuery): Awaitable<readonly StoredRecord[]>
  /** Records the last use, which never moves back. The version stays the same. Unknown ids are ignored. */
  touch(kind: string, uses: readonly RecordUse[]): Awaitable<void>
  /** Removes up to `limit` records whose `expiresAt` is at or before `at`; returns how many. */
  expire(at: number, limit: number): Awaitable<number>
}

/** A stored record. */
export interface StoredRecord {
  readonly kind: string
  readonly workspaceId: string
  /** Unique in its kind across all workspaces. */
  readonly id: string
  /** 1 when created, incremented by every change. */
  readonly version: number
  /** A label to select by in `list`. */
  readonly group?: string
  /** Unique in its kind across all workspaces. */
  readonly name?: string
  readonly createdAt: number
  /** The time from which the record may be removed. Until it is removed, it can be found. */
  readonly expiresAt?: number
  readonly usedAt?: number
  /** JSON text. */
  readonly body: string
}

/** Selects one page of records of a kind. */
export interface RecordQuery {
  readonly kind: string
  /** Default: all workspaces. */
  readonly workspaceId?: string
  /** Records in any of these groups. Default: all. */
  readonly groups?: readonly string[]
  /** Continues after the record with this id. An unknown id returns nothing. */
  readonly after?: string
  readonly limit: number
}

/** The last use of a record. */
export interface RecordUse {
  readonly id: string
  readonly at: number
}

/** What one `commit` changes. */
export interface Change {
  readonly puts?: readonly RecordPut[]
  readonly removals?: readonly RecordRemoval[]
  /** As for `ledger.credit`, except that a credit that already exists is a conflict. */
  readonly credits?: readonly CreditEntry[]
  /** The next rows of one workspace's chain, in order. */
  readonly audit?: readonly AuditRow[]
}

/** A record to create or replace. `usedAt` is kept. */
export interface RecordPut extends Omit<StoredRecord, 'version' | 'usedAt'> {
  /** Its current version. 0 creates it, which requires an unused id of its kind. */
  readonly version: number
}

/** A record to remove. */
export interface RecordRemoval {
  readonly kind: string
  readonly workspaceId: string
  readonly id: string
  /** Its current version. */
  readonly version: number
}

/** Why a change was not applied. */
export type Conflict =
  /** The record has another version, does not exist, already exists (when creating), or belongs to another workspace. */
  | { readonly on: 'version'; readonly kind: string; readonly id: string }
  /** Another record of the kind has the name. */
  | { readonly on: 'name'; readonly kind: string; readonly name: string }
  | { readonly on: 'credit'; readonly account: string; readonly id: string }
  /** The credit would take the account's balance, or the total ever credited, past `maxSum`. */
  | { readonly on: 'sum'; readonly account: string; readonly id: string }
  /** The first audit row does not follow the last one of the chain. */
  | { readonly on: 'audit'; readonly workspaceId: string }
