import { changedRecord, newRecord, type SessionCountBody, type TypedRecord } from '@signalbox/core/access'
import { GatewayError } from '@signalbox/dialects/errors'
import type { RecordPut } from '@signalbox/storage'
import type { Draft } from './change.ts'
import { originOfNewKey } from './descendant-keys.ts'
import { findWorkspace } from './find-workspace.ts'
import type { SessionDraft, SessionGroup } from './ports.ts'

// Changes of a workspace are committed one after the other, because each audit row has the hash of the previous one. Sessions may be
// created by the hundred, so those waiting for a running commit are committed together, each with its own audit row.

const maxGroup = 100

/**
 * Commits a session together with others waiting in its workspace. One with an `Idempotency-Key` is committed alone, because that may be
 * taken.
 */
export async function commitSession(draft: SessionDraft): Promise<TypedRecord<'session'>> {
  const { sessionGroups, workspaceId, actor } = draft.managed
  const waiting = actor.idempotency ? undefined : sessionGroups.get(workspaceId)
  const group = waiting && waiting.drafts.length < maxGroup ? waiting : beginGroup(draft)
  const place = waiting === group ? group.drafts.push(draft) - 1 : 0
  const made = (await group.made)[place]
  if (made?.status !== 'fulfilled') throw made?.reason
  return made.value
}

function beginGroup(first: SessionDraft): SessionGroup {
  const { sessionGroups: groups, commitWithAudit, workspaceId, actor } = first.managed
  const drafts = [first]
  const close = (): void => {
    if (groups.get(workspaceId)?.drafts === drafts) groups.delete(workspaceId)
  }
  // Each session is checked by itself, and a secret that was replaced may create some.
  const made = commitWithAudit(workspaceId, actor.idempotency ? { idempotency: actor.idempotency } : {}, () => {
    close()
    return decideGroup(drafts)
  }).finally(close)
  const group = { drafts, made }
  if (!actor.idempotency) groups.set(workspaceId, group)
  return group
}

/** A session that may not be created fails without affecting the others. */
async function decideGroup(drafts: readonly SessionDraft[]): Promise<Draft<readonly PromiseSettledResult<TypedRecord<'session'>>[]>> {
  const [first] = drafts
  if (!first) return { events: [], result: [] }
  const { records, clock, isForSetup, workspaceId } = first.managed
  await findWorkspace(records, workspaceId)
  const counted = await records.find('session_count', workspaceId, workspaceId)
  let count = counted?.body
  const origins = drafts.map(async each => originOfNewKey(each.managed))
  const result = await Promise.allSettled(
    drafts.map(async ({ record }, place): Promise<TypedRecord<'session'>> => {
      const { line, secretEndsAt = Infinity } = (await origins[place]) ?? { line: {} }
      const expiresAt = Math.min(record.body.expiresAt, secretEndsAt)
      const body = { ...record.body, ...line, expiresAt }
      count = countWith(count, { expiresAt, now: clock.now(), max: isForSetup ? Infinity : undefined })
      return { ...record, expiresAt, body, kind: 'session', version: 1 }
    }),
  )
  const made = result.flatMap(each => (each.status === 'fulfilled' ? each.value : []))
  return {
    puts: [
      ...made.map(record => newRecord('session', record)),
      ...(count ? [changedCount(counted, { workspaceId, count, at: clock.now() })] : []),
    ],
    events: drafts.flatMap(({ event, managed }, place) =>
      result[place]?.status === 'fulfilled' ? { ...event, actor: managed.actor } : [],
    ),
    result,
  }
}

/** Maximum live sessions of a workspace. */
const maxSessions = 100_000
/** Sessions are counted by the quarter of an hour in which they expire: one day takes 97 numbers. */
const quarterMs = 900_000

/** The count with one more session. Throws if there are too many. */
export function countWith(
  { ends }: SessionCountBody = { ends: [] },
  { expiresAt, now, max = maxSessions }: { readonly expiresAt: number; readonly now: number; readonly max?: number | undefined },
): SessionCountBody {
  const live = ends.filter(([end]) => end > now)
  const total = live.reduce((sum, [, sessions]) => sum + sessions, 0)
  if (total >= max)
    throw new GatewayError('state_precondition_failed', {
      message: `The workspace has ${maxSessions} active sessions, the maximum. Revoke some, or use a shorter \`expiresIn\`.`,
      param: 'expiresIn',
    })
  return { ends: countedAt(live, expiresAt, 1) }
}

/** The count with one session fewer. */
export const countWithout = ({ ends }: SessionCountBody, expiresAt: number): SessionCountBody => ({ ends: countedAt(ends, expiresAt, -1) })

interface NewCount {
  readonly workspaceId: string
  readonly count: SessionCountBody
  /** Unix milliseconds. */
  readonly at: number
}

/** The record of a count, for a commit. */
const changedCount = (counted: TypedRecord<'session_count'> | undefined, { workspaceId, count, at }: NewCount): RecordPut =>
  counted
    ? changedRecord(counted, { body: count })
    : newRecord('session_count', { id: workspaceId, workspaceId, createdAt: at, body: count })

function countedAt(ends: SessionCountBody['ends'], expiresAt: number, more: 1 | -1): SessionCountBody['ends'] {
  const end = Math.ceil(expiresAt / quarterMs) * quarterMs
  const before = ends.find(([each]) => each === end)?.[1] ?? 0
  const others = ends.filter(([each]) => each !== end)
  return before + more > 0 ? [...others, [end, before + more]] : others
}
