import type { AuditQuery, AuditRow, AuditStore } from '@signalbox/storage'
import type { Connection } from './connection.ts'
import { NOT_REFUSED, query, type Row, type Statement, statement, type Value } from './verb.ts'

interface AuditColumns {
  readonly id: string
  readonly workspace_id: string
  readonly place: number
  readonly event: string
  readonly actor_key_id: string | null
  readonly actor_name: string | null
  readonly subject_type: string
  readonly subject_id: string
  readonly at: number
  readonly request_id: string | null
  readonly ip: string | null
  readonly changes: string
  readonly previous_hash: string
  readonly hash: string
}

const COLUMNS = `id, workspace_id, place, event, actor_key_id, actor_name, subject_type, subject_id, at, request_id, ip, changes,
  previous_hash, hash`
const LAST = 'FROM audit WHERE workspace_id = ?1 ORDER BY place DESC LIMIT 1'
const CHAIN = `SELECT ${COLUMNS} FROM audit WHERE workspace_id = ?1 AND place > ?2 ORDER BY place LIMIT ?3`

/** Audit rows in SQLite. `await sqliteAudit(connection).last('ws_1')` */
export function sqliteAudit({ read }: Pick<Connection, 'read'>): AuditStore {
  return {
    last: workspaceId => read(query(statement(`SELECT ${COLUMNS} ${LAST}`, workspaceId), ([row]) => row && toAuditRow(row))),
    list: asked => read(query(listStatement(asked), rows => rows.map(toAuditRow))),
    chain: (workspaceId, { after, limit }) =>
      read(query(statement(CHAIN, workspaceId, after, Math.max(0, limit)), rows => rows.map(toAuditRow))),
  }
}

function listStatement({ workspaceId, event, actorKeyId, from, to, after, limit }: AuditQuery): Statement {
  const values: Value[] = [workspaceId, Math.max(0, limit)]
  const parameter = (value: Value): string => `?${values.push(value)}`
  const matches = ['workspace_id = ?1']
  // An unknown id compares with null, and returns nothing.
  if (after !== undefined) matches.push(`place < (SELECT place FROM audit WHERE workspace_id = ?1 AND id = ${parameter(after)})`)
  if (from !== undefined) matches.push(`at >= ${parameter(from)}`)
  if (to !== undefined) matches.push(`at < ${parameter(to)}`)
  if (event !== undefined) matches.push(`event = ${parameter(event)}`)
  if (actorKeyId !== undefined) matches.push(`actor_key_id = ${parameter(actorKeyId)}`)
  return { sql: `SELECT ${COLUMNS} FROM audit WHERE ${matches.join(' AND ')} ORDER BY place DESC LIMIT ?2`, values }
}

/** SQL for the workspace of the audit rows ?4, if the first of them does not follow the last of the chain. */
export const REFUSED_AUDIT = `
  SELECT json_array('audit', ?4 ->> '$[0][1]') AS verdict
  WHERE json_array_length(?4) > 0 AND json_array(?4 ->> '$[0][2]', ?4 ->> '$[0][12]') <> coalesce(
    (SELECT json_array(place + 1, hash) ${LAST.replace('?1', "?4 ->> '$[0][1]'")}), json_array(1, ''))`

const APPEND = `INSERT INTO audit (${COLUMNS})
  SELECT ${Array.from({ length: 14 }, (_, n) => `value ->> ${n}`).join(', ')} FROM json_each(?1) WHERE ${NOT_REFUSED} ORDER BY key`

/** Audit rows as a parameter. */
export const auditText = (rows: readonly AuditRow[]): string => JSON.stringify(rows.map(toValues))

/** The statement that appends rows. The verb's refusal must include `REFUSED_AUDIT`. */
export const appendAudit = (rows: string): Statement => statement(APPEND, rows)

const toValues = (row: AuditRow): readonly Value[] => [
  row.id,
  row.workspaceId,
  row.place,
  row.event,
  row.actorKeyId ?? null,
  row.actorName ?? null,
  row.subjectType,
  row.subjectId,
  row.at,
  row.requestId ?? null,
  row.ip ?? null,
  row.changes,
  row.previousHash,
  row.hash,
]

function toAuditRow(found: Row): AuditRow {
  const row = found as unknown as AuditColumns
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    place: row.place,
    event: row.event,
    ...(row.actor_key_id !== null && { actorKeyId: row.actor_key_id }),
    ...(row.actor_name !== null && { actorName: row.actor_name }),
    subjectType: row.subject_type,
    subjectId: row.subject_id,
    at: row.at,
    ...(row.request_id !== null && { requestId: row.request_id }),
    ...(row.ip !== null && { ip: row.ip }),
    changes: row.changes,
    previousHash: row.previous_hash,
    hash: row.hash,
  }
}
