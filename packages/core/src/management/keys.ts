import type { Storage, StoredKey } from '@signalbox/storage'
import type { Authenticator } from '../access/authenticate.ts'
import { scopes as everyScope, isScope } from '../access/scopes.ts'
import { makeSecret, prefixOf } from '../access/secret.ts'
import type { Clock, Ids } from '../runtime/ports.ts'
import { sha256 } from '../runtime/web.ts'

export interface Keys {
  /**
   * The secret is returned once and kept nowhere. `secret`: use this one instead of making one; if the workspace has it
   * already, that key is returned as it is.
   */
  create(workspaceId: string, input: NewKey): Promise<{ readonly id: string; readonly prefix: string; readonly secret: string }>
  revoke(workspaceId: string, id: string): Promise<boolean>
}

export interface NewKey {
  readonly name: string
  /** Default: `inference:invoke`. `*`: every scope. */
  readonly scopes?: readonly string[] | '*'
  readonly rpm?: number
  readonly expiresAt?: Date
  readonly secret?: string
}

export interface KeyPorts {
  readonly storage: Storage
  readonly authenticator: Authenticator
  readonly clock: Clock
  readonly ids: Ids
}

export const keysOf = ({ storage, authenticator, clock, ids }: KeyPorts): Keys => ({
  async create(workspaceId, { name, scopes = ['inference:invoke'], rpm, expiresAt, secret = makeSecret(ids) }) {
    check({ name, scopes, rpm, expiresAt, secret })
    if (!(await storage.workspaces.find(workspaceId)))
      throw new TypeError(`keys.create: there is no workspace "${workspaceId}". Make it first, with workspaces.create.`)
    const hash = await sha256(secret)
    const old = await storage.keys.findByHash(hash)
    if (old) return { id: sameWorkspace(old, workspaceId).id, prefix: old.prefix, secret }
    const key: StoredKey = {
      id: ids.uuid(),
      workspaceId,
      name,
      prefix: prefixOf(secret),
      hash,
      scopes: scopes === '*' ? [...everyScope] : [...new Set(scopes)],
      createdAt: clock.now(),
      ...(rpm !== undefined && { rpm }),
      ...(expiresAt && { expiresAt: expiresAt.getTime() }),
    }
    await storage.keys.insert(key)
    authenticator.welcome(secret)
    return { id: key.id, prefix: key.prefix, secret }
  },
  async revoke(workspaceId, id) {
    const key = await storage.keys.revoke({ workspaceId, id, at: clock.now() })
    if (key) authenticator.forget(id)
    return key !== undefined
  },
})

function sameWorkspace(key: StoredKey, workspaceId: string): StoredKey {
  if (key.workspaceId === workspaceId && key.revokedAt === undefined) return key
  throw new TypeError('keys.create: this `secret` is a key already, revoked or of another workspace. Choose another one.')
}

type Checked = Required<Pick<NewKey, 'name' | 'secret'>> & { readonly [K in 'scopes' | 'rpm' | 'expiresAt']: NewKey[K] }

function check({ name, scopes, rpm, expiresAt, secret }: Checked): void {
  if (name.length < 1 || name.length > 255) throw new TypeError(`keys.create: \`name\` has ${name.length} characters; it takes 1 to 255.`)
  const odd = scopes === '*' ? undefined : scopes?.find(scope => !isScope(scope))
  if (odd !== undefined) throw new TypeError(`keys.create: the scope "${odd}" does not exist. There are: ${everyScope.join(', ')}.`)
  if (rpm !== undefined && (!Number.isSafeInteger(rpm) || rpm < 1))
    throw new TypeError(`keys.create: \`rpm\` is ${rpm}; it takes a whole number, 1 or more.`)
  if (expiresAt && !Number.isSafeInteger(expiresAt.getTime())) throw new TypeError('keys.create: `expiresAt` is no valid date.')
  if (!/^ak_[\x21-\x7e]{8,200}$/.test(secret))
    throw new TypeError('keys.create: `secret` must be `ak_` and 8 to 200 visible ASCII characters.')
}
