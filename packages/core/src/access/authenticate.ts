import { GatewayError } from '@signalbox/dialects/errors'
import type { Awaitable, RecordStore } from '@signalbox/storage'
import { recover } from '@signalbox/storage/awaitable'
import type { ChangeFeed, RecordChange } from '@signalbox/storage/changes'
import { type IsUsableExpired, orExpired } from '../runtime/expired-reads.ts'
import { createLru } from '../runtime/lru.ts'
import type { Clock, Logger } from '../runtime/ports.ts'
import { budgetsOf } from './accounts.ts'
import type { Caller } from './caller.ts'
import { callerOfUser, type EndUserOf } from './end-user.ts'
import { openKey } from './key.ts'
import type { Kind } from './kinds.ts'
import type { Records } from './records.ts'
import { isMistyped } from './secret.ts'
import { isSessionToken, openSession } from './session.ts'
import type { WorkspacePolicies, WorkspacePolicy } from './workspace-policy.ts'

/** Maps secrets to callers. */
export interface AuthenticatorPorts {
  readonly records: Records
  /** Records the last use of keys. */
  readonly store: Pick<RecordStore, 'touch'>
  readonly policies: WorkspacePolicies
  /** Reports changes by other processes, so that they take effect at once. Absent: cached entries stay until they expire. */
  readonly changes?: ChangeFeed | undefined
  /** Decides whether an expired entry may still be used. Absent: it is read again, or the request fails. */
  readonly isUsableExpired?: IsUsableExpired | undefined
  readonly clock: Clock
  readonly logger: Logger
}

/** Maps secrets to callers. */
export interface Authenticator {
  /** The caller for a secret or an end user of the app. Returns no promise if the key is cached. */
  authenticate(proof: string | EndUserOf | undefined): Awaitable<Caller>
  /** Accepts a new key at once, even if it was refused a moment ago. */
  welcome(secret: string): void
  /** Applies a change of a key or a session of a workspace, such as its revocation, at once in this process. */
  forget(id: string, workspaceId: string): void
  /** Writes the pending last-used times. */
  flush(): Promise<void>
}

/** Lifetime of a cached caller in milliseconds: the longest delay of a revocation in processes without a change feed. */
const cacheMs = 30_000
const touchEveryMs = 60_000
/** Enough for the keys that 1,000 requests a second can bring within `cacheMs`, at about 1.1 kB each. */
const maxKeys = 30_000
/** Refused secrets are remembered for a second each. */
const maxUnknown = 10_000
/** Versions of keys that are no longer cached, at about 0.15 kB each. */
const maxVersions = 100_000

/** Generated keys, keys chosen by an operator, and session tokens. */
const secretForm = /^(?:ak_[\x21-\x7e]{8,200}|st_[0-9A-Za-z]{49})$/

interface Cached {
  readonly caller: Caller
  /** Monotonic milliseconds. */
  readonly until: number
  /** The workspace's policy when the key was last used. */
  policy: WorkspacePolicy
  /** Monotonic milliseconds. */
  touchDueAt: number
}

/** The message is the same for every reason, so that it does not reveal which keys exist. */
const invalidKeyError = (): GatewayError =>
  new GatewayError('invalid_api_key', {
    message: 'The API key is missing or not valid. Send `Authorization: Bearer ak_…` with an active key.',
  })

const invalidTokenError = (): GatewayError =>
  new GatewayError('invalid_api_key', {
    message:
      'The session token is not valid: it has expired, was revoked, or is mistyped. Request a new token from the server of your app.',
  })

const invalidSecretError = (secret: string): GatewayError => (isSessionToken(secret) ? invalidTokenError() : invalidKeyError())

/**
 * Maps secrets to callers. The cache key is the whole secret, never a part of it. The store holds only SHA-256 hashes, so a look-up
 * is an exact match or fails.
 *
 * @throws {GatewayError} (from `authenticate`) 401, 403, or 503 if the storage is unavailable.
 */
export function createAuthenticator(ports: AuthenticatorPorts): Authenticator {
  const { records, store, policies, changes, clock, logger } = ports
  const known = createLru<Cached>(maxKeys)
  // By key id: the version of the key at which its workspace's policy was last read.
  const versions = createLru<string>(maxVersions)
  // Incremented by every revocation: a look-up that began before one is not cached.
  let epoch = 0
  const unknown = createLru<number>(maxUnknown)

  const look = async (secret: string, before: Cached | undefined): Promise<Cached> => {
    const startEpoch = epoch
    const beganAt = clock.monotonic()
    const now = clock.now()
    const opened = await (isSessionToken(secret) ? openSession : openKey)(records, secret, now)
    if (!opened) {
      known.delete(secret)
      if (startEpoch === epoch) unknown.set(secret, beganAt + 1_000)
      throw invalidSecretError(secret)
    }
    // A policy that was read before these versions of the key and its ancestors may lack records created with them, such as a budget.
    // Versions are compared instead of times, because the clocks of processes differ.
    const { id, workspaceId, version, usedAt, callerIn } = opened
    const policy = await (versions.get(id) === version ? policies.of(workspaceId) : policies.readFresh(workspaceId))
    if (!policy) throw invalidSecretError(secret)
    versions.set(id, version)
    const touchDueAt = before?.touchDueAt ?? beganAt + untilTouch(usedAt, now)
    const cached: Cached = { until: beganAt + cacheMs, policy, touchDueAt, caller: callerIn(policy.workspace) }
    if (startEpoch === epoch) known.set(secret, cached)
    return cached
  }
  const uses = createKeyUseRecorder({ store, clock, logger })
  const drop = (isStale: (caller: Caller) => boolean): void => {
    epoch += 1
    for (const [secret, { caller }] of known.entries()) if (isStale(caller)) known.delete(secret)
  }
  dropChanged({ changes, policies }, { drop, forgetRefused: () => unknown.clear() })

  return {
    flush: uses.flush,
    authenticate(secret) {
      if (typeof secret === 'object') return callerOfUser(policies, secret)
      if (secret === undefined) throw invalidKeyError()
      const now = clock.monotonic()
      const hit = known.get(secret)
      // Malformed keys, and keys found unknown within the last second, are refused without a look-up.
      if (!hit && (!secretForm.test(secret) || isMistyped(secret) || (unknown.get(secret) ?? now) > now)) throw invalidSecretError(secret)
      return hit && hit.until > now && hasAllBudgets(hit, policies, now)
        ? accept(hit, now, { uses, clock })
        : orExpired(look(secret, hit), () => usableExpired(known.get(secret), ports)).then(cached => accept(cached, now, { uses, clock }))
    },
    welcome: secret => void unknown.delete(secret),
    forget: (keyId, workspaceId) => drop(caller => caller.workspaceId === workspaceId && isKeyOrBelow(caller, keyId)),
  }
}

/** Drops cached entries that other processes have changed. */
function dropChanged(
  { changes, policies }: Pick<AuthenticatorPorts, 'changes' | 'policies'>,
  { drop, forgetRefused }: { readonly drop: (isStale: (caller: Caller) => boolean) => void; readonly forgetRefused: () => void },
): void {
  changes?.subscribe(changed => {
    for (const { kind, id } of changed ?? []) if (kind === 'session') drop(({ session }) => session?.id === id)
    for (const id of changed ? workspaceIdsIn(changed) : [undefined]) {
      policies.forget(id)
      forgetRefused()
      drop(({ workspaceId }) => workspaceId === (id ?? workspaceId))
    }
  })
}

/** Milliseconds until the last use of a key should be recorded again. */
const untilTouch = (usedAt: number | undefined, now: number): number =>
  usedAt === undefined ? Number.POSITIVE_INFINITY : Math.max(0, touchEveryMs - Math.abs(now - usedAt))

/** The kinds of records that callers and policies are built from. */
const cachedKinds: ReadonlySet<string> = new Set<Kind>(['workspace', 'key', 'budget', 'credential'])

const workspaceIdsIn = (changes: readonly RecordChange[]): ReadonlySet<string> =>
  new Set(changes.flatMap(({ kind, workspaceId }) => (cachedKinds.has(kind) ? workspaceId : [])))

/** Revoking a key deletes its budgets. So a key without one of its budgets may be revoked, and must not spend. */
function hasAllBudgets(cached: Cached, policies: WorkspacePolicies, now?: number): boolean {
  const { caller } = cached
  const policy = policies.cached(caller.workspaceId, now) ?? cached.policy
  if (policy === cached.policy) return true
  const existing = new Set(budgetsOf(policy, caller).map(({ id }) => id))
  if (!budgetsOf(cached.policy, caller).every(({ id }) => existing.has(id))) return false
  cached.policy = policy
  return true
}

/** An expired key that may be used because the store cannot be read, unless it was forgotten meanwhile. */
const usableExpired = (kept: Cached | undefined, { policies, isUsableExpired }: AuthenticatorPorts): Cached | undefined =>
  kept && isUsableExpired?.(kept.until) && hasAllBudgets(kept, policies) ? kept : undefined

/** The caller of a cached key. `now`: monotonic milliseconds. */
function accept(cached: Cached, now: number, { uses, clock }: { readonly uses: KeyUseRecorder; readonly clock: Clock }): Caller {
  const { caller } = cached
  // An expiry is a calendar time, so the wall clock decides.
  if (caller.expiresAt !== undefined && caller.expiresAt <= clock.now()) throw caller.session ? invalidTokenError() : invalidKeyError()
  if (now >= cached.touchDueAt) {
    cached.touchDueAt = now + touchEveryMs
    uses.record(caller.keyId, clock.now())
  }
  return caller
}

/** Whether a caller's key or session is the given one, or has it as an ancestor. */
const isKeyOrBelow = ({ keyId, session, ancestors }: Caller, id: string): boolean =>
  keyId === id || session?.id === id || ancestors?.some(above => above.keyId === id) === true

/** Records when keys were last used, and writes the times in batches. */
interface KeyUseRecorder {
  record(keyId: string, at: number): void
  flush(): Promise<void>
}

interface KeyUsePorts {
  readonly store: Pick<RecordStore, 'touch'>
  readonly clock: Clock
  readonly logger: Logger
}

const gatherMs = 1_000
const maxBatch = 500

export function createKeyUseRecorder({ store, clock, logger }: KeyUsePorts): KeyUseRecorder {
  const waiting = new Map<string, number>()
  let timer: unknown
  const flush = async (): Promise<void> => {
    clock.clearTimeout(timer)
    timer = undefined
    const uses = Array.from(waiting, ([id, at]) => ({ id, at }))
    waiting.clear()
    if (uses.length === 0) return
    await recover(
      () => store.touch('key', uses),
      error => logger.warn({ error: String(error) }, 'The last use of keys could not be stored.'),
    )
  }
  return {
    record(keyId, at) {
      waiting.set(keyId, at)
      if (waiting.size >= maxBatch) void flush()
      else timer ??= clock.setTimeout(() => void flush(), gatherMs)
    },
    flush,
  }
}
