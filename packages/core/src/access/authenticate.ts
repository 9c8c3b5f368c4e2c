import type { Awaitable, RecordStore } from '@signalbox/storage'
import { GatewayError } from '../errors/gateway-error.ts'
import { createLru } from '../runtime/lru.ts'
import type { Clock, Logger } from '../runtime/ports.ts'
import { sha256 } from '../runtime/web.ts'
import { budgetsOf } from './accounts.ts'
import { ancestorsOf, isActive } from './ancestors.ts'
import type { Caller } from './caller.ts'
import type { Kept, Records } from './records.ts'
import { isMistyped } from './secret.ts'
import type { Terms, TermsBook } from './terms.ts'
import { noteUses, type Uses } from './uses.ts'

export interface Authenticating {
  readonly records: Records
  /** Where the last use is noted. */
  readonly store: Pick<RecordStore, 'touch'>
  readonly terms: TermsBook
  readonly clock: Clock
  readonly logger: Logger
}

export interface Authenticator {
  /** At once where the key is known from a request before. */
  authenticate(secret: string | undefined): Awaitable<Caller>
  /** A new key is known at once, though it was refused a moment ago. */
  welcome(secret: string): void
  /** What changed of a key, its revocation above all, takes hold at once in the process that changed it. */
  forget(keyId: string): void
  /** Writes down the last uses that are not written yet. */
  flush(): Promise<void>
}

/** Revocation is due within 60 s everywhere; a cached answer is at most this old. */
const cacheMs = 30_000
const touchEveryMs = 60_000
const mostKeys = 10_000

/** Keys of our own make, and those that an operator chose. */
const form = /^ak_[\x21-\x7e]{8,200}$/

interface Cached {
  readonly caller: Caller
  /** Of the records of the key and of those above it. */
  readonly version: string
  /** Monotonic milliseconds. */
  readonly until: number
  /** Of its workspace, as they were last seen with it. */
  terms: Terms
  /** Monotonic milliseconds. */
  touchDueAt: number
}

/** One message for every reason: a stranger learns nothing about which keys exist. */
const refused = (): GatewayError =>
  new GatewayError('invalid_api_key', {
    message: 'The API key is missing or not valid. Send `Authorization: Bearer ak_…` with an active key.',
  })

/**
 * Secret → caller, cached by the whole secret (never a part of it). The store knows only SHA-256 hashes, so what can be
 * looked up is a full match or nothing.
 */
export function makeAuthenticator({ records, store, terms, clock, logger }: Authenticating): Authenticator {
  const known = createLru<Cached>(mostKeys)
  // Raised by every revocation: what was looked up before it is not remembered.
  let epoch = 0
  const unknown = createLru<number>(mostKeys)

  const look = async (secret: string, before: Cached | undefined): Promise<Cached> => {
    const asked = epoch
    const beganAt = clock.monotonic()
    const now = clock.now()
    const key = await records.named('key', await sha256(secret))
    if (!key || !isActive(key.body, now)) {
      known.delete(secret)
      unknown.set(secret, beganAt + 1_000)
      throw refused()
    }
    const above = await ancestorsOf(records, key, now)
    if (!above) throw refused()
    // Policy that was read before this process knew the key and those above it as they are now may lack what came with them, a
    // budget above all. By versions and not by times: clocks of two processes need not agree.
    const { workspaceId } = key
    const version = [key, ...above].map(each => each.version).join('.')
    const laidDown = await (before?.version === version ? terms.of(workspaceId) : terms.readAnew(workspaceId))
    if (!laidDown) throw refused()
    const unnotedMs = Math.abs(now - (key.usedAt ?? 0))
    const cached: Cached = {
      version,
      until: beganAt + cacheMs,
      terms: laidDown,
      touchDueAt: before?.touchDueAt ?? beganAt + Math.max(0, touchEveryMs - unnotedMs),
      caller: callerOf(key, above, laidDown.workspace),
    }
    if (asked === epoch) known.set(secret, cached)
    return cached
  }

  /** The budgets of a key go when it is revoked: where one is gone the key may be too, and must not spend without it. */
  const isBound = (cached: Cached): boolean => {
    const { caller } = cached
    const laidDown = terms.fresh(caller.workspaceId) ?? cached.terms
    if (laidDown === cached.terms) return true
    const there = new Set(budgetsOf(laidDown, caller).map(({ id }) => id))
    if (!budgetsOf(cached.terms, caller).every(({ id }) => there.has(id))) return false
    cached.terms = laidDown
    return true
  }
  const uses = noteUses({ store, clock, logger })
  const accept = (cached: Cached, now: number): Caller => accepted(cached, now, { uses, clock })

  return {
    flush: uses.flush,
    authenticate(secret) {
      if (secret === undefined) throw refused()
      const now = clock.monotonic()
      const hit = known.get(secret)
      // Malformed keys are refused without asking the store, and so for a second are those that it did not know.
      if (!hit && (!form.test(secret) || isMistyped(secret) || (unknown.get(secret) ?? now) > now)) throw refused()
      return hit && hit.until > now && isBound(hit) ? accept(hit, now) : look(secret, hit).then(cached => accept(cached, now))
    },
    welcome: secret => void unknown.delete(secret),
    forget(keyId) {
      epoch += 1
      for (const [secret, { caller }] of known.entries()) if (isIn(caller, keyId)) known.delete(secret)
    },
  }
}

interface AcceptPorts {
  readonly uses: Uses
  readonly clock: Clock
}

/** The caller of a key that is known. `now`: monotonic milliseconds. */
function accepted(cached: Cached, now: number, { uses, clock }: AcceptPorts): Caller {
  const { caller } = cached
  // An expiry is a date: it goes by the wall clock.
  if (caller.expiresAt !== undefined && caller.expiresAt <= clock.now()) throw refused()
  if (now >= cached.touchDueAt) {
    cached.touchDueAt = now + touchEveryMs
    uses.note(caller.keyId, clock.now())
  }
  return caller
}

/** It is the key, or stands below it. */
const isIn = ({ keyId, ancestors }: Caller, id: string): boolean => keyId === id || ancestors?.some(above => above.keyId === id) === true

function callerOf(key: Kept<'key'>, above: readonly Kept<'key'>[], workspace: Kept<'workspace'>): Caller {
  const { id, createdAt, body } = key
  const ends = [key, ...above].flatMap(({ body: { expiresAt } }) => expiresAt ?? [])
  return {
    keyId: id,
    keyName: body.name,
    keyPrefix: body.prefix,
    workspaceId: workspace.id,
    workspaceName: workspace.body.name,
    billing: workspace.body.billing,
    scopes: new Set(body.scopes),
    createdAt,
    ...(body.limits && { limits: body.limits }),
    ...(above.length > 0 && { ancestors: above.map(each => ({ keyId: each.id, ...(each.body.limits && { limits: each.body.limits }) })) }),
    ...(ends.length > 0 && { expiresAt: Math.min(...ends) }),
  }
}
