import type { KeyBody } from './kinds.ts'
import type { Records, TypedRecord } from './records.ts'

// A key created with another key has it as its ancestor: it counts against the budgets and limits of all its ancestors, and stops
// working when one of them is revoked or expires. An ancestor that was revoked while the keys created with it were kept no longer counts.

/** Maximum ancestors of a key: each costs a ledger account and a look-up. */
export const maxAncestors = 8

/** Whether a key is neither revoked nor expired, by its own record alone. */
export const isActive = ({ revokedAt, expiresAt }: Pick<KeyBody, 'revokedAt' | 'expiresAt'>, now: number): boolean =>
  revokedAt === undefined && (expiresAt === undefined || expiresAt > now)

type KeyAncestry = Pick<TypedRecord<'key'>, 'workspaceId'> & { readonly body: Pick<KeyBody, 'ancestors'> }

/** The ancestors of a key, nearest first. Undefined if one of them is revoked, expired or deleted, because then the key must not work. */
export async function ancestorsOf(
  records: Records,
  { workspaceId, body: { ancestors = [] } }: KeyAncestry,
  now: number,
): Promise<readonly TypedRecord<'key'>[] | undefined> {
  if (ancestors.length === 0) return []
  const found = await Promise.all(ancestors.map(id => records.find('key', workspaceId, id)))
  return activeLine(found, now)
}

/**
 * The ids of the ancestors of each given key (of one workspace), by its id. Undefined: the key does not work, because one of them is revoked,
 * expired or deleted.
 */
export async function ancestorIdsOf(
  records: Records,
  keys: readonly TypedRecord<'key'>[],
  now: number,
): Promise<ReadonlyMap<string, readonly string[] | undefined>> {
  const ids = [...new Set(keys.flatMap(({ body }) => body.ancestors ?? []))]
  const workspaceId = keys[0]?.workspaceId ?? ''
  const found = new Map(await Promise.all(ids.map(async id => [id, await records.find('key', workspaceId, id)] as const)))
  return new Map(
    keys.map(({ id, body: { ancestors = [] } }) => {
      const line = ancestors.map(above => found.get(above))
      return [id, activeLine(line, now)?.map(above => above.id)]
    }),
  )
}

/** The keys of a line that count. Undefined if one of them is revoked, expired or deleted. */
function activeLine(line: readonly (TypedRecord<'key'> | undefined)[], now: number): readonly TypedRecord<'key'>[] | undefined {
  const counted = line.filter(key => key?.body.madeKept !== true)
  const active = counted.filter(key => key !== undefined && isActive(key.body, now))
  return active.length === counted.length ? (active as readonly TypedRecord<'key'>[]) : undefined
}
