import type { Change, Conflict, RecordStore, StoredRecord } from '@signalbox/storage'
import { faultOfChange, faultOfExpiry, faultOfUse } from '@signalbox/storage/faults'
import { auditColumns, recordColumns } from '../columns.ts'
import type { SqlRow } from './client.ts'
import type { PostgresConnection } from './connection.ts'
import type { Months } from './months.ts'
import { jsonParameter, numberArray, textArray, toInteger } from './parameters.ts'
import { allOfConditions, postgresReads, SqlValues } from './reads.ts'

interface Touch {
  readonly kind: string
  readonly uses: readonly { readonly id: string; readonly at: number }[]
}

/** Records in PostgreSQL. `await postgresRecords(connection).findByName('key', sha256(secret))` */
export function postgresRecords(connection: PostgresConnection, months: Months): RecordStore {
  const reads = postgresReads(connection)
  const table = `${connection.schema}.records`
  const columns = recordColumns.names.join(', ')
  const commit = connection.batched(commitVerb)
  const touch = connection.batched(touchVerb)
  const expire = connection.caller('records.expire', 'expire', ['bigint', 'bigint'])
  return {
    commit(change) {
      const fault = faultOfChange(change)
      if (fault) return Promise.reject(fault)
      // Serialized now, because the caller may change the object before the batch is sent.
      const text = toChangeText(change)
      return months.open('audit', change.audit ?? [])?.then(() => commit(text)) ?? commit(text)
    },
    async find(kind, workspaceId, id) {
      const text = `SELECT ${columns} FROM ${table} WHERE kind = $1 AND id = $2 AND workspace_id = $3`
      return firstRecord(await reads.fixed(text, [kind, id, workspaceId]))
    },
    findByName: async (kind, name) =>
      firstRecord(await reads.fixed(`SELECT ${columns} FROM ${table} WHERE kind = $1 AND name = $2`, [kind, name])),
    /** In the order of creation; nothing comes after an unknown id. */
    async list({ kind, workspaceId, groups, after, limit }) {
      if (groups?.length === 0) return []
      const values = new SqlValues()
      const ofKind = values.add(kind)
      const workspace = workspaceId === undefined ? undefined : values.add(workspaceId)
      const where = allOfConditions([
        `kind = ${ofKind}`,
        workspace && `workspace_id = ${workspace}`,
        groups && `grp IN (${groups.map(group => values.add(group)).join(', ')})`,
        after !== undefined &&
          `seq > (SELECT c.seq FROM ${table} c WHERE c.kind = ${ofKind} AND c.id = ${values.add(after)}${workspace ? ` AND c.workspace_id = ${workspace}` : ''})`,
      ])
      const text = `SELECT ${columns} FROM ${table} WHERE ${where} ORDER BY seq LIMIT ${values.add(Math.max(0, limit))}`
      return (await reads.query({ text, values: values.list })).map(toStoredRecord)
    },
    async touch(kind, uses) {
      for (const use of uses) {
        const fault = faultOfUse(use)
        if (fault) throw fault
      }
      if (uses.length > 0) await touch({ kind, uses: uses.map(({ id, at }) => ({ id, at })) })
    },
    async expire(at, limit) {
      const fault = faultOfExpiry(at)
      if (fault) throw fault
      return toInteger(await expire([at, Math.max(0, limit)]))
    },
  }
}

function toChangeText({ puts = [], removals = [], credits = [], audit = [] }: Change): string {
  const put = puts.map(({ kind, id, workspaceId, version, group, name, createdAt, expiresAt, body }) => ({
    ...{ kind, id, workspace_id: workspaceId, version, grp: group, name, created_at: createdAt, expires_at: expiresAt, body },
    is_removal: false,
  }))
  const removed = removals.map(({ kind, id, workspaceId, version }) => ({ kind, id, workspace_id: workspaceId, version, is_removal: true }))
  return jsonParameter({
    records: [...put, ...removed],
    credits: credits.map(({ kind = 'credit', ...entry }) => ({ ...entry, kind })),
    audit: audit.map(row => Object.fromEntries(auditColumns.valuesOf(row).map((value, index) => [auditColumns.names[index], value]))),
  })
}

const commitVerb = {
  verb: 'records.commit' as const,
  name: 'commit_changes',
  types: ['json'],
  toValues: (changes: readonly string[]) => [`[${changes.join(',')}]`],
  toAnswers: (answer: unknown, changes: readonly string[]) => {
    const conflicts: (Conflict | undefined)[] = changes.map(() => undefined)
    const refused = typeof answer === 'string' ? (JSON.parse(answer) as readonly (readonly [number, Conflict])[]) : []
    for (const [number, conflict] of refused) conflicts[number - 1] = conflict
    return conflicts
  },
}

const touchVerb = {
  verb: 'records.touch' as const,
  name: 'touch',
  types: ['text[]', 'text[]', 'bigint[]'],
  toValues: (touches: readonly Touch[]) => {
    const uses = touches.flatMap(({ kind, uses }) => uses.map(use => ({ ...use, kind })))
    return [textArray(uses.map(({ kind }) => kind)), textArray(uses.map(({ id }) => id)), numberArray(uses.map(({ at }) => at))]
  },
  toAnswers: (_: unknown, touches: readonly Touch[]): readonly undefined[] => touches.map(() => undefined),
}

const firstRecord = ([row]: readonly SqlRow[]): StoredRecord | undefined => row && toStoredRecord(row)

const toStoredRecord = (row: SqlRow): StoredRecord => recordColumns.rowOf(row, toInteger)
