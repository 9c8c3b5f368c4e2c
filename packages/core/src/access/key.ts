import { ancestorsOf, isActive } from './ancestors.ts'
import type { Caller } from './caller.ts'
import type { Records, TypedRecord } from './records.ts'
import { hashSecret, prefixOf } from './secret.ts'

/** The result of looking up a secret: a key or a session. */
export interface OpenedSecret {
  readonly id: string
  readonly workspaceId: string
  /** The versions of the records it was read from: the key or session, and its ancestors. */
  readonly version: string
  /** Unix milliseconds of the last use, 0 if never used. Absent if uses are not recorded. */
  readonly usedAt?: number
  readonly callerIn: (workspace: TypedRecord<'workspace'>) => Caller
}

/** Looks up the key of a secret. Undefined if it does not exist, or it or an ancestor is revoked or expired. */
export async function openKey(records: Records, secret: string, now: number): Promise<OpenedSecret | undefined> {
  const found = await findKey(records, await hashSecret(secret), now)
  if (!found || !isActive(found.key.body, now)) return undefined
  const { key, until } = found
  const above = await ancestorsOf(records, key, now)
  if (!above) return undefined
  return {
    id: key.id,
    workspaceId: key.workspaceId,
    version: [key, ...above].map(each => each.version).join('.'),
    usedAt: key.usedAt ?? 0,
    callerIn: workspace => callerOfKey(key, above, { workspace, until, prefix: prefixOf(secret) }),
  }
}

/** The key of a secret, or of a secret that a rotation replaced, with the time until which that is valid. */
async function findKey(
  records: Records,
  hash: string,
  now: number,
): Promise<{ readonly key: TypedRecord<'key'>; readonly until?: number } | undefined> {
  const key = await records.findByName('key', hash)
  if (key) return { key }
  const old = await records.findByName('old_secret', hash)
  if (!old || old.body.until <= now) return undefined
  const replaced = await records.find('key', old.workspaceId, old.body.keyId)
  return replaced && { key: replaced, until: old.body.until }
}

interface CallerFacts {
  readonly workspace: TypedRecord<'workspace'>
  /** Unix milliseconds until which the secret is valid. Undefined if it is the current one. */
  readonly until: number | undefined
  /** Of the secret in use, which a rotation may have replaced. */
  readonly prefix: string
}

function callerOfKey(key: TypedRecord<'key'>, above: readonly TypedRecord<'key'>[], { workspace, until, prefix }: CallerFacts): Caller {
  const { id, createdAt, body } = key
  const ends = [...[key, ...above].flatMap(({ body: { expiresAt } }) => expiresAt ?? []), ...(until === undefined ? [] : [until])]
  return {
    keyId: id,
    keyName: body.name,
    keyPrefix: prefix,
    workspaceId: workspace.id,
    workspaceName: workspace.body.name,
    billing: workspace.body.billing,
    scopes: new Set(body.scopes),
    createdAt,
    limits: body.limits,
    ancestors: above.length > 0 ? above.map(each => ({ keyId: each.id, limits: each.body.limits })) : undefined,
    expiresAt: ends.length > 0 ? Math.min(...ends) : undefined,
  }
}
