/** Every kind of record that is kept for workspaces, and what is in it. In the store it is JSON: absent is absent, times are Unix milliseconds, money is microdollars. */
export interface Kinds {
  /** Id: the workspace's own. */
  readonly workspace: WorkspaceBody
  /** Name: SHA-256 of the secret. Group: `active`, `revoked`, or `system` for those that no list shows. */
  readonly key: KeyBody
  /** Name: a hash of workspace, provider and secret. Group: the provider. */
  readonly credential: CredentialBody
  /** Name, of one that came with a key: `key:` and the key's id. */
  readonly budget: BudgetBody
  readonly member: MemberBody
  /** Name: SHA-256 of the token. Group: of those that wait, `to:` and the address; of all others `closed`. */
  readonly invite: InviteBody
  /** What a request with an `Idempotency-Key` led to. Name: a hash of workspace, key, route and that key. */
  readonly reply: ReplyBody
  /** The last time that credit was to be reloaded. Id: the workspace's own. */
  readonly reload: ReloadBody
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

/** What is demanded of every call of a workspace, and how long its log is kept. */
export interface WorkspaceSettings {
  readonly dataPolicyRequired?: 'any' | 'no_training' | 'zdr'
  /** Absent: all. */
  readonly allowedProviders?: readonly string[]
  readonly blockedProviders?: readonly string[]
  /** Absent: all. */
  readonly allowedModels?: readonly string[]
  /** 1 to 365. Default 365. */
  readonly logRetentionDays?: number
  /** USD that a second call beside a silent one may cost. */
  readonly hedgeMaxExtraCost?: number
  /** Calls go out with provider keys of the workspace's own alone, never with the operator's. Default: false. */
  readonly ownKeysOnly?: boolean
}

/** For requests that do not say otherwise. */
export interface RoutingDefaults {
  readonly strategy?: string
  readonly allowFallbacks?: boolean
  readonly order?: readonly string[]
  readonly only?: readonly string[]
  readonly ignore?: readonly string[]
  /** USD per million tokens. */
  readonly maxPrice?: { readonly input?: number; readonly output?: number }
  readonly timeoutMs?: number
  readonly deadlineMs?: number
  readonly byokFirst?: boolean
}

/** Absent: no limit of its own. */
export interface CallLimits {
  /** Requests a minute, in all and of each model. */
  readonly requestsPerMinute?: number
  /** Input and output tokens a minute, estimated when a request comes and corrected when it ends. */
  readonly tokensPerMinute?: number
  /** Requests at the same time. */
  readonly concurrentRequests?: number
}

export interface SubscriptionBody {
  readonly plan: string
  readonly status: 'active' | 'past_due' | 'canceled'
  /** Requests with credentials of the workspace's own in a calendar month (UTC). Absent: any number. */
  readonly byokMonthlyRequestCap?: number
  readonly currentPeriodStart?: number
  readonly currentPeriodEnd?: number
}

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

export interface CredentialBody {
  readonly provider: string
  readonly name: string
  readonly prefix: string
  /** Sealed for this workspace, this record and this provider; it opens for no other. */
  readonly sealed: string
  readonly extra?: Readonly<Record<string, string>>
  readonly isDefault: boolean
  readonly disabled: boolean
  readonly validationStatus: 'valid' | 'pending' | 'invalid' | 'error'
  readonly accountTier?: string
  readonly accountTierSource?: 'auto_detected' | 'user_specified' | 'fallback'
  readonly lastValidatedAt?: number
  readonly updatedAt: number
}

export interface BudgetBody {
  readonly name: string
  readonly scope: 'workspace' | 'api_key'
  readonly apiKeyId?: string
  /** Of UTC; weeks begin on Monday. */
  readonly period: 'day' | 'week' | 'month' | 'total'
  /** Microdollars. */
  readonly limit: number
  /** False: it only watches. */
  readonly enforce: boolean
  /** What the workspace pays to its providers itself counts too, by the list price. */
  readonly includeByok: boolean
  /** Shares of the limit, above 0 and up to 1, in ascending order. */
  readonly alertAt: readonly number[]
}

export const roles = ['owner', 'admin', 'developer', 'viewer', 'billing'] as const
export type Role = (typeof roles)[number]

export interface MemberBody {
  readonly email: string
  readonly name: string
  readonly role: Role
  readonly joinedAt: number
}

export interface InviteBody {
  readonly email: string
  readonly role: Role
  readonly status: 'pending' | 'accepted' | 'revoked'
  readonly expiresAt: number
}

/** Money: microdollars. */
export interface ReloadBody {
  /** 1 for the first of the workspace. */
  readonly number: number
  readonly amount: number
  /** As they were laid down then. */
  readonly threshold: number
  readonly target: number
  /** Nobody else asks for it before. */
  readonly until: number
  readonly isPaid: boolean
}

export interface ReplyBody {
  /** Of the request's body: another one under the same key is another request. */
  readonly fingerprint: string
  /** What was answered. Absent: it held a secret, or was not kept any more. */
  readonly answer?: { readonly status: number; readonly body: string }
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
