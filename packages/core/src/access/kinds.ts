import type { Subscription } from '../resources/billing.ts'
import type { BudgetBody } from '../resources/budget.ts'
import type { ByokKey } from '../resources/byok-key.ts'
import type { Invite, Member } from '../resources/member.ts'
import type { NewSession } from '../resources/session.ts'
import type { RoutingDefaults, WorkspaceSettings } from '../resources/settings.ts'

/**
 * The kinds of records stored for workspaces, and their bodies. Bodies are stored as JSON: times are Unix milliseconds, money is
 * microdollars.
 */
export interface Kinds {
  /** Id: the workspace id. */
  readonly workspace: WorkspaceBody
  /** Name: SHA-256 of the secret. Group: `active`, `revoked`, or `system` for keys that lists do not show. */
  readonly key: KeyBody
  /** A secret of a key that a rotation replaced. Name: SHA-256 of the secret. Group: the key's id, or `ended`. Kept, so that no key gets it again. */
  readonly old_secret: OldSecretBody
  /** Name: a hash of workspace, provider and secret. Group: the provider. */
  readonly credential: CredentialBody
  /** Name: SHA-256 of the token. Group: the user. */
  readonly session: SessionBody
  /** The number of live sessions. Id: the workspace id. */
  readonly session_count: SessionCountBody
  /** Name: `key:` and the key's id, for a budget created with a key. */
  readonly budget: BudgetBody
  readonly member: MemberBody
  /** Name: SHA-256 of the token. Group: `to:` and the address for pending invites, `closed` for all others. */
  readonly invite: InviteBody
  /** The reply to a request with an `Idempotency-Key`. Name: a hash of the workspace, API key, route and that header. */
  readonly reply: ReplyBody
  /** The latest automatic reload of credit. Id: the workspace id. */
  readonly reload: ReloadBody
  /** Requests of a key that a limit refused on one UTC day. Id: made of the workspace, key and day. Group: the key's id. */
  readonly key_refusals: KeyRefusalsBody
  /** The end of the audit chain. Id: the workspace id. */
  readonly audit_anchor: AuditAnchorBody
}

/** The kinds of records. */
export type Kind = keyof Kinds

/** A workspace as it is stored. */
export interface WorkspaceBody {
  readonly name: string
  /** `prepaid`: requests need credit. `postpaid`: usage is recorded, and no request is refused for lack of credit. */
  readonly billing: 'prepaid' | 'postpaid'
  readonly settings?: WorkspaceSettings
  readonly routing?: RoutingDefaults
  readonly limits?: CallLimits
  readonly autoReload?: { readonly enabled: boolean; readonly threshold: number; readonly target: number }
  readonly subscription?: SubscriptionBody
}

/** An absent limit is not enforced at this level. */
export interface CallLimits {
  /** Requests per minute: for each model if it is the limit of a key, in total if it is that of a workspace. */
  readonly requestsPerMinute?: number
  /** Input and output tokens per minute, estimated when a request arrives and corrected when it ends. */
  readonly tokensPerMinute?: number
  /** Maximum concurrent requests. */
  readonly concurrentRequests?: number
}

/** The plan as it is stored. */
export type SubscriptionBody = Partial<Subscription>

/** An API key as it is stored. */
export interface KeyBody {
  readonly name: string
  /** The displayable part of the secret. */
  readonly prefix: string
  readonly scopes: readonly string[]
  /** From `rateLimitRpm` and its sibling fields. */
  readonly limits?: CallLimits
  readonly createdBy?: string
  /** Ids of the key's ancestors, nearest first: the key that created it, and that key's ancestors. Absent if it has none. */
  readonly ancestors?: readonly string[]
  readonly expiresAt?: number
  readonly revokedAt?: number
  /** The key was revoked, but the keys created with it were kept: it is their ancestor no longer. */
  readonly madeKept?: true
  /** The latest rotation, and the end of the secret that it replaced. */
  readonly rotatedAt?: number
  readonly previousSecretExpiresAt?: number
}

interface OldSecretBody {
  readonly keyId: string
  /** Unix milliseconds until which the secret is valid. */
  readonly until: number
}

/** A session as it is stored. */
export interface SessionBody extends Omit<NewSession, 'expiresIn'> {
  /** The displayable part of the token. */
  readonly prefix: string
  readonly expiresAt: number
  /** The API key that created it, and that key's ancestors. */
  readonly createdBy?: string
  readonly ancestors?: readonly string[]
}

/** The number of live sessions of an API key. */
export interface SessionCountBody {
  /** Number of sessions by the time until which they count as live: the end of the quarter of an hour in which they expire. */
  readonly ends: readonly (readonly [end: number, sessions: number])[]
}

/** A provider key as it is stored. */
export interface CredentialBody extends Omit<ByokKey, 'id' | 'workspaceId' | 'createdAt' | 'keyPrefix'> {
  readonly prefix: string
  /** Sealed for this workspace, record and provider. Cannot be unsealed for another. */
  readonly sealed: string
}

/** A member as it is stored. */
export type MemberBody = Omit<Member, 'id'>

/** An invite as it is stored. Whether a pending invite has expired follows from the time. */
export interface InviteBody extends Omit<Invite, 'id' | 'status'> {
  readonly status: Exclude<Invite['status'], 'expired'>
}

/** Amounts are microdollars. */
export interface ReloadBody {
  /** Sequence number within the workspace, from 1. */
  readonly number: number
  readonly amount: number
  /** The settings at the time of the reload. */
  readonly threshold: number
  readonly target: number
  /** No other process starts a reload before this time. */
  readonly until: number
  readonly isPaid: boolean
}

/** The stored reply to a management request that had an `Idempotency-Key`. */
export interface ReplyBody {
  /** Hash of the request body. Another body with the same key is a different request. */
  readonly fingerprint: string
  /** The reply. Absent if it contained a secret or is no longer kept. */
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
  /** The place of the first anchored row. */
  readonly since: number
  /** The newest anchored row, set once the chain was found to end differently. It is never reset. */
  readonly broken?: { readonly place: number; readonly hash: string }
  /** Covers all fields above and the workspace. */
  readonly signature: string
}
