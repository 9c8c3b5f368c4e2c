import type { KeyBody } from './kinds.ts'
import type { Kept, Records } from './records.ts'

// A key that is made with another key stands below it: it spends on the budgets of all keys above it, counts against their
// limits, and stops when one of them is revoked or expires.

/** A key has at most so many keys above it: each of them is an account, and a look-up. */
export const maxAncestors = 8

/** By its own record alone. */
export const isActive = ({ revokedAt, expiresAt }: Pick<KeyBody, 'revokedAt' | 'expiresAt'>, now: number): boolean =>
  revokedAt === undefined && (expiresAt === undefined || expiresAt > now)

type Line = Pick<Kept<'key'>, 'workspaceId'> & { readonly body: Pick<KeyBody, 'ancestors'> }

/** The keys above a key, nearest first. Undefined: one of them is revoked, has expired or does not exist, so the key is stopped. */
export async function ancestorsOf(records: Records, { workspaceId, body }: Line, now: number): Promise<readonly Kept<'key'>[] | undefined> {
  const { ancestors = [] } = body
  if (ancestors.length === 0) return []
  const found = await Promise.all(ancestors.map(id => records.find('key', workspaceId, id)))
  const active = found.filter(key => key !== undefined && isActive(key.body, now))
  return active.length === ancestors.length ? (active as readonly Kept<'key'>[]) : undefined
}

/** Of these keys of one workspace, the ids of those that are stopped because a key above them is. */
export async function stoppedAmong(records: Records, keys: readonly Kept<'key'>[], now: number): Promise<ReadonlySet<string>> {
  const [first] = keys
  const ids = [...new Set(keys.flatMap(({ body }) => body.ancestors ?? []))]
  if (!first || ids.length === 0) return new Set()
  const found = await Promise.all(ids.map(id => records.find('key', first.workspaceId, id)))
  const active = new Set(found.flatMap(key => (key && isActive(key.body, now) ? [key.id] : [])))
  return new Set(keys.filter(({ body }) => body.ancestors?.some(id => !active.has(id))).map(({ id }) => id))
}
