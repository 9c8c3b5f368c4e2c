import type { AuditRow, AuditStore } from '@signalbox/storage'
import { auditColumns } from '../columns.ts'
import type { SqlRow } from './client.ts'
import type { PostgresConnection } from './connection.ts'
import { toInteger } from './parameters.ts'
import { allOfConditions, postgresReads, SqlValues } from './reads.ts'

/** Audit rows in PostgreSQL. `await postgresAudit(connection).last('ws_1')` */
export function postgresAudit(connection: PostgresConnection): AuditStore {
  const reads = postgresReads(connection)
  const reports = postgresReads(connection, 'report')
  const table = `${connection.schema}.audit`
  const columns = auditColumns.names.join(', ')
  return {
    async last(workspaceId) {
      const text = `SELECT ${columns} FROM ${table} WHERE workspace_id = $1 ORDER BY place DESC LIMIT 1`
      const [row] = await reads.fixed(text, [workspaceId])
      return row && fromAuditColumns(row)
    },
    /** Newest first; nothing comes after an unknown id. */
    async list({ workspaceId, event, actorKeyId, from, to, after, limit }) {
      const values = new SqlValues()
      const workspace = values.add(workspaceId)
      const where = allOfConditions([
        `workspace_id = ${workspace}`,
        event !== undefined && `event = ${values.add(event)}`,
        actorKeyId !== undefined && `actor_key_id = ${values.add(actorKeyId)}`,
        from !== undefined && `at >= ${values.add(from)}`,
        to !== undefined && `at < ${values.add(to)}`,
        after !== undefined &&
          `place < (SELECT c.place FROM ${table} c WHERE c.workspace_id = ${workspace} AND c.id = ${values.add(after)} LIMIT 1)`,
      ])
      const text = `SELECT ${columns} FROM ${table} WHERE ${where} ORDER BY place DESC LIMIT ${values.add(Math.max(0, limit))}`
      return (await reports.query({ text, values: values.list })).map(fromAuditColumns)
    },
    async chain(workspaceId, { after, limit }) {
      const text = `SELECT ${columns} FROM ${table} WHERE workspace_id = $1 AND place > $2 ORDER BY place LIMIT $3`
      return (await reports.fixed(text, [workspaceId, after, Math.max(0, limit)])).map(fromAuditColumns)
    },
  }
}

const fromAuditColumns = (found: SqlRow): AuditRow => auditColumns.rowOf(found, toInteger)
