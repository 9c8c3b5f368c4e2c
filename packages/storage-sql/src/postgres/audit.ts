import type { AuditRow, AuditStore } from '@signalbox/storage'
import type { AuditTable } from '../schema.ts'
import { auditReads } from '../statements/audit.ts'
import type { SqlRow } from './client.ts'
import type { PostgresConnection } from './connection.ts'
import { toInteger } from './parameters.ts'
import { postgresReads } from './reads.ts'

/** Audit rows in PostgreSQL. `await postgresAudit(connection).last('ws_1')` */
export function postgresAudit(connection: PostgresConnection): AuditStore {
  const reads = postgresReads(connection)
  const statements = auditReads(reads.queries)
  return {
    async last(workspaceId) {
      const [row] = await reads.fixed(statements.last, { workspaceId })
      return row && fromAuditColumns(row)
    },
    list: async query => (await reads.query(statements.list(query))).map(fromAuditColumns),
    chain: async (workspaceId, { after, limit }) =>
      (await reads.fixed(statements.chain, { workspaceId, after, limit: Math.max(0, limit) })).map(fromAuditColumns),
  }
}

/** The columns of a row. `auditColumns(row).workspace_id` */
export const auditColumns = (row: AuditRow): AuditTable => ({
  workspace_id: row.workspaceId,
  place: row.place,
  id: row.id,
  event: row.event,
  actor_key_id: row.actorKeyId ?? null,
  actor_name: row.actorName ?? null,
  subject_type: row.subjectType,
  subject_id: row.subjectId,
  at: row.at,
  request_id: row.requestId ?? null,
  ip: row.ip ?? null,
  changes: row.changes,
  previous_hash: row.previousHash,
  hash: row.hash,
})

function fromAuditColumns(found: SqlRow): AuditRow {
  const row = found as unknown as AuditTable
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    place: toInteger(row.place),
    event: row.event,
    ...(row.actor_key_id !== null && { actorKeyId: row.actor_key_id }),
    ...(row.actor_name !== null && { actorName: row.actor_name }),
    subjectType: row.subject_type,
    subjectId: row.subject_id,
    at: toInteger(row.at),
    ...(row.request_id !== null && { requestId: row.request_id }),
    ...(row.ip !== null && { ip: row.ip }),
    changes: row.changes,
    previousHash: row.previous_hash,
    hash: row.hash,
  }
}
