import type { KeyBody } from './kinds.ts'
import type { Records, TypedRecord } from './records.ts'

// A key created with another key has it as its ancestor: it counts against the budgets and limits of all its ancestors, and stops
// working when one of them is revoked or expires.

/** Maximum ancestors of a key: each costs a ledger account and a look-up. */
export const maxAncestors = 8

/** Whether a key is neither revoked nor expired, by its own record alone. */
export const isActive = ({ revokedAt, expiresAt }: Pick<KeyBody, 'revokedAt' | 'expiresAt'>, now: number): boolean =>
  revokedAt === undefined && (expiresAt === undefined || expiresAt > now)

type KeyAncestry = Pick<TypedRecord<'key'>, 'workspaceId'> & { readonly body: Pick<KeyBody, 'ancestors'> }

/** The ancestors of a key, nearest first. Undefined if one of them is revoked, expired or deleted, because then the key must not work. */
export async function ancestorsOf(
  records: Records,
  { workspaceId, body }: KeyAncestry,
  now: number,
): Promise<readonly TypedRecord<'key'>[] | undefined> {
  const { ancestors = [] } = body
  if (ancestors.length === 0) return []
  const found = await Promise.all(ancestors.map(id => records.find('key', workspaceId, id)))
  const active = found.filter(key => key !== undefined && isActive(key.body, now))
  return active.length === ancestors.length ? (active as readonly TypedRecord<'key'>[]) : undefined
}

/** The ids of the given keys (of one workspace) that do not work because an ancestor is revoked, expired or deleted. */
export async function stoppedKeyIds(records: Records, keys: readonly TypedRecord<'key'>[], now: number): Promise<ReadonlySet<string>> {
  const [first] = keys
  const ids = [...new Set(keys.flatMap(({ body }) => body.ancestors ?? []))]
  if (!first || ids.length === 0) return new Set()
  const found = await Promise.all(ids.map(id => records.find('key', first.workspaceId, id)))
  const active = new Set(found.flatMap(key => (key && isActive(key.body, now) ? [key.id] : [])))
  return new Set(keys.filter(({ body }) => body.ancestors?.some(id => !active.has(id))).map(({ id }) => id))
}
