import type { SessionCountBody } from '@signalbox/core/access'
import { changedRecord, newRecord, type TypedRecord } from '@signalbox/core/access'
import { GatewayError } from '@signalbox/dialects/errors'
import type { RecordPut } from '@signalbox/storage'

/** Maximum live sessions of a workspace. */
const maxSessions = 100_000
/** Sessions are counted by the quarter of an hour in which they expire: one day takes 97 numbers. */
const quarterMs = 900_000

/** The count with one more session. Throws if there are too many. */
export function countWith(
  { ends }: SessionCountBody = { ends: [] },
  { expiresAt, now, max = maxSessions }: { readonly expiresAt: number; readonly now: number; readonly max?: number },
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
export const changedCount = (counted: TypedRecord<'session_count'> | undefined, { workspaceId, count, at }: NewCount): RecordPut =>
  counted
    ? changedRecord(counted, { body: count })
    : newRecord('session_count', { id: workspaceId, workspaceId, createdAt: at, body: count })

function countedAt(ends: SessionCountBody['ends'], expiresAt: number, more: 1 | -1): SessionCountBody['ends'] {
  const end = Math.ceil(expiresAt / quarterMs) * quarterMs
  const before = ends.find(([each]) => each === end)?.[1] ?? 0
  const others = ends.filter(([each]) => each !== end)
  return before + more > 0 ? [...others, [end, before + more]] : others
}
