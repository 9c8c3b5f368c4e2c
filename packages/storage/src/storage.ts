import type { RoutingStore } from './routing.ts'

/**
 * What Signalbox keeps, as small stores. Every method is one atomic step: there is no transaction verb, since what must
 * happen together is one call. Times are Unix milliseconds and come in as arguments: a store never reads a clock.
 * Money is integer microdollars.
 */
export interface Storage {
  readonly workspaces: WorkspaceStore
  readonly keys: KeyStore
  readonly counters: CounterStore
  readonly ledger: LedgerStore
  readonly usage: UsageStore
  /** What processes tell each other of routing. Absent: each routes by what it has seen itself. */
  readonly routing?: RoutingStore
  /** Resolves if the store can be reached and written; the message of the rejection names what is wrong. */
  ping(): Promise<void>
  /** Writes what is still in groups, then lets go. */
  close(): Promise<void>
}

export interface WorkspaceStore {
  /** Rejects nothing: the same id twice keeps the first. */
  insert(workspace: StoredWorkspace): Promise<void>
  find(id: string): Promise<StoredWorkspace | undefined>
  list(): Promise<readonly StoredWorkspace[]>
}

export interface StoredWorkspace {
  readonly id: string
  readonly name: string
  /** `prepaid`: calls need credit. `postpaid`: usage is recorded, nothing is refused for lack of credit. */
  readonly billing: 'prepaid' | 'postpaid'
  readonly createdAt: number
}

export interface KeyStore {
  /** Rejects where the id or the hash is taken, and where a time is no whole number: a key must not outlive its date for that. */
  insert(key: StoredKey): Promise<void>
  findByHash(hash: string): Promise<StoredKey | undefined>
  find(workspaceId: string, id: string): Promise<StoredKey | undefined>
  /** In the order of their making; revoked keys only where asked for. */
  list(workspaceId: string, options?: { readonly includeRevoked?: boolean }): Promise<readonly StoredKey[]>
  /** Sets `revokedAt` if unset; a second call changes nothing and returns the same row. */
  revoke(input: { readonly workspaceId: string; readonly id: string; readonly at: number }): Promise<StoredKey | undefined>
  /** Notes the last use; never moves it back. */
  touch(id: string, at: number): Promise<void>
}

export interface StoredKey {
  readonly id: string
  readonly workspaceId: string
  readonly name: string
  readonly prefix: string
  /** SHA-256 of the whole secret, hex. */
  readonly hash: string
  readonly scopes: readonly string[]
  /** Requests a minute; absent: the gateway's own limit. */
  readonly rpm?: number
  readonly createdAt: number
  readonly createdBy?: string
  readonly expiresAt?: number
  readonly revokedAt?: number
  readonly lastUsedAt?: number
}

export interface CounterStore {
  /**
   * Adds to all counters, or to none if any would pass its limit. A window begins at a counter's first take and holds
   * at most `limit`; after `windowMs` the counter begins anew. The refusal names the first counter without room, and the
   * time until it has some.
   */
  take(requests: readonly CounterRequest[], at: number): Promise<CounterRefusal | undefined>
  /** Corrects a counter once the true amount is known. Never refuses; never starts a window. */
  add(key: string, amount: number, at: number): Promise<void>
  /** A slot that frees itself after `ttlMs`, so that a crash cannot hold it. False: all are taken. The same slot twice is one slot. */
  enter(slot: SlotRequest, at: number): Promise<boolean>
  leave(key: string, slot: string): Promise<void>
}

export interface CounterRequest {
  readonly key: string
  readonly amount: number
  readonly limit: number
  readonly windowMs: number
}
export interface CounterRefusal {
  readonly key: string
  readonly retryAfterMs: number
}
export interface SlotRequest {
  readonly key: string
  readonly slot: string
  readonly limit: number
  readonly ttlMs: number
}

export interface LedgerStore {
  /**
   * Holds the amount on every account, or on none. The same `id` twice is one hold, and answers as the first did; an `id`
   * whose hold ran out unsettled may be held anew.
   */
  reserve(hold: HoldRequest): Promise<HoldRefusal | undefined>
  /**
   * Ends a hold and writes an entry of the true amount for each account named (an account not named pays nothing; none
   * named: a release). The true amount may pass the hold: what was used is owed. The same `id` twice does nothing the
   * second time; an `id` that was never held, or whose hold ran out, is charged all the same, once.
   */
  settle(settlement: Settlement): Promise<void>
  /** Money in. The same `id` twice for one account is one entry. */
  credit(entry: { readonly id: string; readonly account: string; readonly amount: number; readonly at: number }): Promise<void>
  balance(account: string, at: number): Promise<Balance>
  /** Newest first. */
  entries(account: string, options: { readonly limit: number; readonly before?: string }): Promise<readonly LedgerEntry[]>
}

export interface HoldRequest {
  readonly id: string
  readonly amount: number
  /** No account's balance less its live holds may fall below its floor. `-Infinity`: never refuses. */
  readonly accounts: readonly { readonly account: string; readonly floor: number }[]
  readonly at: number
  /** Past the request's deadline: a hold left behind by a crash counts until then and no longer, and the store forgets it by itself. */
  readonly expiresAt: number
}
export interface HoldRefusal {
  readonly account: string
  /** What the account could still hold. */
  readonly available: number
}
export interface Settlement {
  readonly id: string
  /** Microdollars by account, each 0 or more. */
  readonly amounts: Readonly<Record<string, number>>
  readonly at: number
}
export interface Balance {
  /** Credit less what was spent. */
  readonly balance: number
  /** Set aside by live holds. */
  readonly held: number
  readonly credited: number
  readonly spent: number
}
export interface LedgerEntry {
  readonly id: string
  readonly account: string
  readonly kind: 'credit' | 'usage'
  /** Credit above 0, usage below or at 0. */
  readonly amount: number
  readonly balanceAfter: number
  readonly at: number
}

export interface UsageStore {
  /** The same `id` twice does nothing. */
  append(row: UsageRow): Promise<void>
  find(workspaceId: string, id: string): Promise<UsageRow | undefined>
  /** `from` included, `to` not. */
  sum(query: UsageQuery): Promise<UsageSum>
  /** Newest first. */
  list(query: UsageQuery & { readonly limit: number }): Promise<readonly UsageRow[]>
}

export interface UsageQuery {
  readonly workspaceId: string
  readonly keyId?: string
  readonly from: number
  readonly to: number
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
  /** Microdollars. */
  readonly cost: number
  readonly result: UsageResult
  /** The error code, where it ended badly. */
  readonly code?: string
  readonly attempts: number
  readonly durationMs: number
  readonly firstContentMs?: number
  readonly warnings: readonly string[]
  readonly metadata?: Readonly<Record<string, string>>
}

export type UsageResult = 'ok' | 'incomplete' | 'error' | 'rate_limited' | 'abandoned'

export interface UsageSum {
  readonly requests: number
  readonly errors: number
  readonly rateLimited: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cost: number
}
