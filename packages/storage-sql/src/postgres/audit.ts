import type { AuditRow, AuditStore } from '@signalbox/storage'
import { auditColumns } from '../columns.ts'
import { auditReads } from '../statements/audit.ts'
import type { SqlRow } from './client.ts'
import type { PostgresConnection } from './connection.ts'
import { toInteger } from './parameters.ts'
import { postgresReads } from './reads.ts'

/** Audit rows in PostgreSQL. `await postgresAudit(connection).last('ws_1')` */
export function postgresAudit(connection: PostgresConnection): AuditStore {
  const reads = postgresReads(connection)
  const reports = postgresReads(connection, 'report')
  const statements = auditReads(reads.queries)
  return {
    async last(workspaceId) {
      const [row] = await reads.fixed(statements.last, { workspaceId })
      return row && fromAuditColumns(row)
    },
    list: async query => (await reports.query(statements.list(query))).map(fromAuditColumns),
    chain: async (workspaceId, { after, limit }) =>
      (await reports.fixed(statements.chain, { workspaceId, after, limit: Math.max(0, limit) })).map(fromAuditColumns),
  }
}

const fromAuditColumns = (found: SqlRow): AuditRow => auditColumns.rowOf(found, toInteger)
