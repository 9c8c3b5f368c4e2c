import type { KeyStore, StoredKey, WorkspaceStore } from '@signalbox/storage'
import { LRUCache } from 'lru-cache'
import { GatewayError, storeDown } from '../errors/gateway-error.ts'
import type { Clock, Logger } from '../runtime/ports.ts'
import { sha256 } from '../runtime/web.ts'
import type { Caller } from './caller.ts'

export interface Authenticating {
  readonly keys: KeyStore
  readonly workspaces: WorkspaceStore
  readonly clock: Clock
  readonly logger: Logger
}

export interface Authenticator {
  authenticate(secret: string | undefined): Promise<Caller>
  /** A new key is known at once, though it was refused a moment ago. */
  welcome(secret: string): void
  /** Revocation takes hold at once in the process that revoked. */
  forget(keyId: string): void
}

/** Revocation is due within 60 s everywhere; a cached answer is at most this old. */
const cacheMs = 30_000
const touchEveryMs = 60_000
const mostKeys = 10_000

/** Keys of our own make, and those that an operator chose. */
const form = /^ak_[\x21-\x7e]{8,200}$/

interface Cached {
  readonly caller: Caller
  readonly until: number
  touchedAt: number
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
export function makeAuthenticator({ keys, workspaces, clock, logger }: Authenticating): Authenticator {
  const known = new LRUCache<string, Cached>({ max: mostKeys })
  // Raised by every revocation: what was looked up before it is not remembered.
  let epoch = 0
  const unknown = new LRUCache<string, number>({ max: mostKeys })

  const look = async (secret: string, now: number): Promise<Cached> => {
    const asked = epoch
    const key = await keys.findByHash(await sha256(secret)).catch((reason: unknown) => {
      throw storeDown(reason)
    })
    if (!key || !isActive(key, now)) {
      known.delete(secret)
      unknown.set(secret, now + 1_000)
      throw refused()
    }
    const workspace = await workspaces.find(key.workspaceId)
    if (!workspace) throw refused()
    const cached: Cached = {
      until: now + cacheMs,
      touchedAt: 0,
      caller: {
        keyId: key.id,
        keyName: key.name,
        keyPrefix: key.prefix,
        workspaceId: workspace.id,
        workspaceName: workspace.name,
        billing: workspace.billing,
        scopes: new Set(key.scopes),
        createdAt: key.createdAt,
        ...(key.rpm !== undefined && { rpm: key.rpm }),
        ...(key.expiresAt !== undefined && { expiresAt: key.expiresAt }),
      },
    }
    if (asked === epoch) known.set(secret, cached)
    return cached
  }

  return {
    async authenticate(secret) {
      if (secret === undefined) throw refused()
      const now = clock.now()
      const hit = known.get(secret)
      // Malformed keys are refused without asking the store, and so for a second are those that it did not know.
      if (!hit && (!form.test(secret) || (unknown.get(secret) ?? 0) > now)) throw refused()
      const cached = hit && hit.until > now ? hit : await look(secret, now)
      if (cached.caller.expiresAt !== undefined && cached.caller.expiresAt <= now) throw refused()
      if (now - cached.touchedAt >= touchEveryMs) {
        cached.touchedAt = now
        keys
          .touch(cached.caller.keyId, now)
          .catch(error => logger.warn({ error: String(error) }, 'The last use of a key could not be noted.'))
      }
      return cached.caller
    },
    welcome: secret => void unknown.delete(secret),
    forget(keyId) {
      epoch += 1
      for (const [secret, { caller }] of known.entries()) if (caller.keyId === keyId) known.delete(secret)
    },
  }
}

const isActive = ({ revokedAt, expiresAt }: StoredKey, now: number): boolean =>
  revokedAt === undefined && (expiresAt === undefined || expiresAt > now)
