import { sessionTokenPrefix } from '@signalbox/dialects/protocol'
import { ancestorsOf, isActive } from './ancestors.ts'
import type { Caller } from './caller.ts'
import { userCaller } from './end-user.ts'
import type { OpenedSecret } from './key.ts'
import type { Records, TypedRecord } from './records.ts'
import { hashSecret } from './secret.ts'

// A token is opaque: a signed one could not be revoked without asking the storage, which a request asks for its policy in any case, and
// would need a key that all processes share. The storage knows its hash, and a look-up is a full match or nothing.

/** Whether a secret has the form of a session token. */
export const isSessionToken = (secret: string): boolean => secret.startsWith(sessionTokenPrefix)

/** Looks up the session of a token. Undefined if it does not exist or has expired, or a key that created it no longer works. */
export async function openSession(records: Records, token: string, now: number): Promise<OpenedSecret | undefined> {
  const session = await records.findByName('session', await hashSecret(token))
  if (!session || session.body.expiresAt <= now) return undefined
  const above = await keysAbove(records, session, now)
  if (!above) return undefined
  return {
    id: session.id,
    workspaceId: session.workspaceId,
    version: [session, ...above].map(each => each.version).join('.'),
    callerIn: workspace => callerOfSession(session, above, workspace),
  }
}

/**
 * The key that created a session and the keys above it now: a key may have been kept when one above it was revoked. Undefined: one of them is
 * inactive.
 */
async function keysAbove(
  records: Records,
  session: TypedRecord<'session'>,
  now: number,
): Promise<readonly TypedRecord<'key'>[] | undefined> {
  const [makerId] = session.body.ancestors ?? []
  if (makerId === undefined) return []
  const maker = await records.find('key', session.workspaceId, makerId)
  if (!maker || !isActive(maker.body, now)) return undefined
  const above = await ancestorsOf(records, maker, now)
  return above && [maker, ...above]
}

/** The user of a session, with the restrictions of the session. It expires with the earliest of the session and its keys. */
function callerOfSession(
  { id, createdAt, body }: TypedRecord<'session'>,
  above: readonly TypedRecord<'key'>[],
  workspace: TypedRecord<'workspace'>,
): Caller {
  const { prefix, expiresAt, origins, models, maxSpend, createdBy: _, ancestors: __, ...user } = body
  const caller = userCaller(workspace, user)
  // The expiry date shows when the account of the session ended.
  const until = new Date(expiresAt).toISOString().slice(0, 10)
  const account = { id: `${encodeURIComponent(workspace.id)}:session:${id}:${until}`, body: { ...sessionBudget, limit: maxSpend ?? 0 } }
  return {
    ...caller,
    keyPrefix: prefix,
    createdAt,
    session: { id, origins },
    expiresAt: Math.min(expiresAt, ...above.flatMap(key => key.body.expiresAt ?? [])),
    ...(models && { models }),
    ...(maxSpend !== undefined && { budgets: [...(caller.budgets ?? []), account] }),
    ...(above.length > 0 && { ancestors: above.map(each => ({ keyId: each.id, limits: each.body.limits })) }),
  }
}

const sessionBudget = { name: 'this session', period: 'total', enforce: true, includeByok: true, alertAt: [] } as const
