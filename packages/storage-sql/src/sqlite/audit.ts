import type { AuditQuery, AuditRow, AuditStore } from '@signalbox/storage'
import { auditColumns } from '../columns.ts'
import type { Connection } from './connection.ts'
import { NOT_REFUSED, query, type Row, type Statement, statement, type Value } from './verb.ts'

const COLUMNS = auditColumns.names.join(', ')
const LAST = 'FROM audit WHERE workspace_id = ?1 ORDER BY place DESC LIMIT 1'
const CHAIN = `SELECT ${COLUMNS} FROM audit WHERE workspace_id = ?1 AND place > ?2 ORDER BY place LIMIT ?3`

/** Audit rows in SQLite. `await sqliteAudit(connection).last('ws_1')` */
export function sqliteAudit({ read }: Pick<Connection, 'read'>): AuditStore {
  return {
    last: workspaceId => read(query(statement(`SELECT ${COLUMNS} ${LAST}`, workspaceId), ([row]) => row && toAuditRow(row))),
    list: filter => read(query(listStatement(filter), rows => rows.map(toAuditRow))),
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
  SELECT ${auditColumns.names.map((_, n) => `value ->> ${n}`).join(', ')} FROM json_each(?1) WHERE ${NOT_REFUSED} ORDER BY key`

/** Audit rows as a parameter. */
export const auditText = (rows: readonly AuditRow[]): string => JSON.stringify(rows.map(auditColumns.valuesOf))

/** The statement that appends rows. The verb's refusals must include `REFUSED_AUDIT`. */
export const appendAudit = (rows: string): Statement => statement(APPEND, rows)

const toAuditRow = (found: Row): AuditRow => auditColumns.rowOf(found)
