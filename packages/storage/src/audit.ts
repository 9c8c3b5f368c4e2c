import type { Awaitable } from './awaitable.ts'

/**
 * The audit log: one chain of rows per workspace. Rows are appended together with the change they describe (`records.commit`), and no
 * method changes or removes one.
 */
export interface AuditStore {
  /** Whether only the newest rows are kept, so that a chain may start after its first row. Default: false. */
  readonly forgets?: boolean
  /** The newest row. */
  last(workspaceId: string): Awaitable<AuditRow | undefined>
  /** Newest first. */
  list(query: AuditQuery): Awaitable<readonly AuditRow[]>
  /** Oldest first, after the row with this place, to read the whole chain page by page. */
  chain(workspaceId: string, options: { readonly after: number; readonly limit: number }): Awaitable<readonly AuditRow[]>
}

/** Selects audit rows of one workspace. */
export interface AuditQuery {
  readonly workspaceId: string
  readonly event?: string
  readonly actorKeyId?: string
  /** Unix milliseconds; `from` is inclusive, `to` is exclusive. */
  readonly from?: number
  readonly to?: number
  /** Continues after the row with this id, towards older rows. An unknown id returns nothing. */
  readonly after?: string
  readonly limit: number
}

/** One change of a workspace, linked to the row before it by a hash. */
export interface AuditRow {
  readonly id: string
  readonly workspaceId: string
  /** 1 for the workspace's first row, without gaps. */
  readonly place: number
  /** Event name, as in `api_key.created`. */
  readonly event: string
  /** Undefined if the operator made the change in process. */
  readonly actorKeyId?: string
  readonly actorName?: string
  readonly subjectType: string
  readonly subjectId: string
  readonly at: number
  readonly requestId?: string
  readonly ip?: string
  /** The changes as JSON text, without secrets. */
  readonly changes: string
  /** The hash of the previous row; empty for the first. */
  readonly previousHash: string
  /** A hash over all fields above, stored unchanged. */
  readonly hash: string
}
