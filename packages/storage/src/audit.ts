import type { Awaitable } from './awaitable.ts'

/**
 * Who changed what, in one chain for each workspace. Rows come in with the change that they tell of (`records.commit`), and
 * there is no verb that changes or removes one.
 */
export interface AuditStore {
  /** Only the newest rows are kept, so a chain may begin in the middle. Default: false. */
  readonly forgets?: boolean
  /** The newest row. */
  last(workspaceId: string): Awaitable<AuditRow | undefined>
  /** Newest first. */
  list(query: AuditQuery): Awaitable<readonly AuditRow[]>
  /** Oldest first, after the row of that place: the whole chain, a stretch at a time. */
  chain(workspaceId: string, options: { readonly after: number; readonly limit: number }): Awaitable<readonly AuditRow[]>
}

export interface AuditQuery {
  readonly workspaceId: string
  readonly event?: string
  readonly actorKeyId?: string
  /** `from` included, `to` not. */
  readonly from?: number
  readonly to?: number
  /** Goes on after (that is, before in time) the row of this id; one that is not there has nothing after it. */
  readonly after?: string
  readonly limit: number
}

export interface AuditRow {
  readonly id: string
  readonly workspaceId: string
  /** 1 for the first of the workspace; no number is left out. */
  readonly place: number
  /** As in `api_key.created`. */
  readonly event: string
  /** Absent: the operator of the gateway, in process. */
  readonly actorKeyId?: string
  readonly actorName?: string
  readonly subjectType: string
  readonly subjectId: string
  readonly at: number
  readonly requestId?: string
  readonly ip?: string
  /** JSON text of what changed; never a secret. */
  readonly changes: string
  /** Of the row before; empty for the first. */
  readonly previousHash: string
  /** Over all of the above. A store keeps it as it is. */
  readonly hash: string
}
