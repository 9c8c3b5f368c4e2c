import type { Subscription } from '../resources/billing.ts'
import type { BudgetBody } from '../resources/budget.ts'
import type { ByokKey } from '../resources/byok-key.ts'
import type { Invite, Member } from '../resources/member.ts'
import type { NewSession } from '../resources/session.ts'
import type { RoutingDefaults, WorkspaceSettings } from '../resources/settings.ts'

export type { BudgetBody } from '../resources/budget.ts'
export type { RoutingDefaults, WorkspaceSettings } from '../resources/settings.ts'

/** Every kind of record that is kept for workspaces, and what is in it. In the store it is JSON: absent is absent, times are Unix milliseconds, money is microdollars. */
export interface Kinds {
  /** Id: the workspace's own. */
  readonly workspace: WorkspaceBody
  /** Name: SHA-256 of the secret. Group: `active`, `revoked`, or `system` for those that no list shows. */
  readonly key: KeyBody
  /** Name: a hash of workspace, provider and secret. Group: the provider. */
  readonly credential: CredentialBody
  /** Name: SHA-256 of the token. Group: the user. */
  readonly session: SessionBody
  /** How many sessions are live. Id: the workspace's own. */
  readonly session_count: SessionCountBody
  /** Name, of one that came with a key: `key:` and the key's id. */
  readonly budget: BudgetBody
  readonly member: MemberBody
  /** Name: SHA-256 of the token. Group: of those that wait, `to:` and the address; of all others `closed`. */
  readonly invite: InviteBody
  /** What a request with an `Idempotency-Key` led to. Name: a hash of workspace, key, route and that key. */
  readonly reply: ReplyBody
  /** The last time that credit was to be reloaded. Id: the workspace's own. */
  readonly reload: ReloadBody
  /** Requests of a key that were refused by a limit on one day of UTC. Id: of the workspace, the key and the day. Group: the key's id. */
  readonly key_refusals: KeyRefusalsBody
  /** The end of the audit chain. Id: the workspace's own. */
  readonly audit_anchor: AuditAnchorBody
}

export type Kind = keyof Kinds

export interface WorkspaceBody {
  readonly name: string
  /** `prepaid`: calls need credit. `postpaid`: usage is recorded, nothing is refused for lack of credit. */
  readonly billing: 'prepaid' | 'postpaid'
  readonly settings?: WorkspaceSettings
  readonly routing?: RoutingDefaults
  readonly limits?: CallLimits
  readonly autoReload?: { readonly enabled: boolean; readonly threshold: number; readonly target: number }
  readonly subscription?: SubscriptionBody
}

/** Absent: no limit of its own. */
export interface CallLimits {
  /** Requests a minute: of a key for each model, of a workspace in all. */
  readonly requestsPerMinute?: number
  /** Input and output tokens a minute, estimated when a request comes and corrected when it ends. */
  readonly tokensPerMinute?: number
  /** Requests at the same time. */
  readonly concurrentRequests?: number
}

/** The plan as it is stored. */
export type SubscriptionBody = Partial<Subscription>

export interface KeyBody {
  readonly name: string
  /** What may be shown of the secret. */
  readonly prefix: string
  readonly scopes: readonly string[]
  /** `rateLimitRpm` and what stands beside it. */
  readonly limits?: CallLimits
  readonly createdBy?: string
  /** Ids of the keys above it, nearest first: the key that made it, and those above that one. Absent: there is none. */
  readonly ancestors?: readonly string[]
  readonly expiresAt?: number
  readonly revokedAt?: number
}

/** A session as it is stored. */
export interface SessionBody extends Omit<NewSession, 'expiresIn'> {
  /** What may be shown of the token. */
  readonly prefix: string
  readonly expiresAt: number
  /** The API key that created it, and the keys above that one. */
  readonly createdBy?: string
  readonly ancestors?: readonly string[]
}

export interface SessionCountBody {
  /** Sessions by the time until which they count as live: the end of the quarter of an hour in which they expire. */
  readonly ends: readonly (readonly [end: number, sessions: number])[]
}

/** A provider key as it is stored. */
export interface CredentialBody extends Omit<ByokKey, 'id' | 'workspaceId' | 'createdAt' | 'keyPrefix'> {
  readonly prefix: string
  /** Sealed for this workspace, this record and this provider; it opens for no other. */
  readonly sealed: string
}

/** A member as it is stored. */
export type MemberBody = Omit<Member, 'id'>

/** An invite as it is stored: that a pending one has expired follows from the time. */
export interface InviteBody extends Omit<Invite, 'id' | 'status'> {
  readonly status: Exclude<Invite['status'], 'expired'>
}

/** Money: microdollars. */
export interface ReloadBody {
  /** 1 for the first of the workspace. */
  readonly number: number
  readonly amount: number
  /** As they were laid down then. */
  readonly threshold: number
  readonly target: number
  /** No other process requests it before this time. */
  readonly until: number
  readonly isPaid: boolean
}

/** The stored reply of a management request that came with an `Idempotency-Key`. */
export interface ReplyBody {
  /** Of the request's body: another one under the same key is another request. */
  readonly fingerprint: string
  /** What was answered. Absent: it held a secret, or was not kept any more. */
  readonly answer?: { readonly status: number; readonly body: string }
}

interface KeyRefusalsBody {
  /** Unix milliseconds: the start of the day. */
  readonly day: number
  readonly count: number
}

/** The newest row of a workspace's audit chain. */
export interface AuditAnchorBody {
  readonly place: number
  readonly hash: string
  /** The place of the first row that was anchored. */
  readonly since: number
  /** The newest row as it was anchored, where the chain was found to end otherwise. It stays. */
  readonly broken?: { readonly place: number; readonly hash: string }
  /** Over all of the above and the workspace. */
  readonly signature: string
}
