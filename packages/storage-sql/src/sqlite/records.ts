import type { RecordQuery, RecordStore, StoredRecord } from '@signalbox/storage'
import { faultOfChange, faultOfExpiry, faultOfUse } from '@signalbox/storage/faults'
import { recordColumns } from '../columns.ts'
import { commitVerb } from './commit.ts'
import type { Connection } from './connection.ts'
import { command, query, type Row, type Statement, statement, type Value } from './verb.ts'

const SELECT = `SELECT ${recordColumns.names.join(', ')} FROM records`
const FIND = `${SELECT} WHERE kind = ?1 AND id = ?2 AND workspace_id = ?3`
const FIND_BY_NAME = `${SELECT} WHERE kind = ?1 AND name = ?2`
const TOUCH = `
  UPDATE records SET used_at = uses.at FROM (
    SELECT value ->> 0 AS id, max(value ->> 1) AS at FROM json_each(?2) GROUP BY value ->> 0) AS uses
  WHERE records.kind = ?1 AND records.id = uses.id AND (used_at IS NULL OR used_at < uses.at)`
const EXPIRE = `
  DELETE FROM records WHERE seq IN (SELECT seq FROM records WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2) RETURNING 1 AS removed`

/** Records in SQLite. `await sqliteRecords(connection).findByName('key', sha256(secret))` */
export function sqliteRecords({ read, write }: Pick<Connection, 'read' | 'write'>): RecordStore {
  return {
    commit(change) {
      const fault = faultOfChange(change)
      return fault ? Promise.reject(fault) : write(commitVerb(change))
    },
    find: (kind, workspaceId, id) => read(query(statement(FIND, kind, id, workspaceId), toFound)),
    findByName: (kind, name) => read(query(statement(FIND_BY_NAME, kind, name), toFound)),
    list: filter => read(query(listStatement(filter), rows => rows.map(toRecord))),
    touch(kind, uses) {
      for (const use of uses) {
        const fault = faultOfUse(use)
        if (fault) return Promise.reject(fault)
      }
      return write(command(statement(TOUCH, kind, JSON.stringify(uses.map(({ id, at }) => [id, at])))))
    },
    expire(at, limit) {
      const fault = faultOfExpiry(at)
      return fault ? Promise.reject(fault) : write(query(statement(EXPIRE, at, Math.max(0, limit)), ({ length }) => length))
    },
  }
}

function listStatement({ kind, workspaceId, groups, after, limit }: RecordQuery): Statement {
  const values: Value[] = [kind, Math.max(0, limit)]
  const parameter = (value: Value): string => `?${values.push(value)}`
  const matches = ['kind = ?1']
  const ofWorkspace = workspaceId === undefined ? '' : ` AND workspace_id = ${parameter(workspaceId)}`
  // An unknown id compares with null, and returns nothing.
  if (after !== undefined) matches.push(`seq > (SELECT seq FROM records WHERE kind = ?1 AND id = ${parameter(after)}${ofWorkspace})`)
  if (groups !== undefined) matches.push(`grp IN (SELECT value FROM json_each(${parameter(JSON.stringify(groups))}))`)
  return { sql: `${SELECT} WHERE ${matches.join(' AND ')}${ofWorkspace} ORDER BY seq LIMIT ?2`, values }
}

const toFound = ([row]: readonly Row[]): StoredRecord | undefined => row && toRecord(row)

const toRecord = (found: Row): StoredRecord => recordColumns.rowOf(found)
