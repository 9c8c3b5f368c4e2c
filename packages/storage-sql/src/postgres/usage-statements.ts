import type { UsageQuery } from '@signalbox/storage'
import { countedColumns, usageColumns } from '../columns.ts'
import type { SqlStatement } from './client.ts'
import { allOfConditions, SqlValues } from './reads.ts'

/** Which stored totals a query reads. */
export interface StoredTotalsQuery {
  readonly workspaceId: string
  readonly dimension: string
  readonly span: number
  /** Absent: of all values. */
  readonly value?: string
  readonly from: number
  readonly to: number
}

/** Statements that read usage rows and their totals. `usageReads('signalbox').find` */
export function usageReads(schema: string) {
  const columnsOf = (names: readonly string[]): string => names.map(name => `u.${name}`).join(', ')
  const rowColumns = columnsOf(usageColumns.names)
  const totalsColumns = columnsOf(['seq', ...countedColumns.names])
  /** By way of `usage_ids`, which names the one partition that has the row. */
  const rowOfId = `FROM ${schema}.usage_ids i JOIN ${schema}.usage u ON u.at = i.at AND u.seq = i.seq WHERE i.id = $1 AND u.workspace_id = $2`
  const mark = `SELECT r.seq FROM ${schema}.usage_rolled r`
  const matching = ({ workspaceId, from, to, keyId, model, provider, tag }: UsageQuery, values: SqlValues): string =>
    `FROM ${schema}.usage u WHERE ${allOfConditions([
      `u.workspace_id = ${values.add(workspaceId)} AND u.at >= ${values.add(from)} AND u.at < ${values.add(to)}`,
      keyId !== undefined && `u.key_id = ${values.add(keyId)}`,
      model !== undefined && `u.model = ${values.add(model)}`,
      provider !== undefined && `u.provider = ${values.add(provider)}`,
      tag !== undefined && `u.tags::jsonb @> to_jsonb(${values.add(tag)}::text)`,
    ])}`
  const cellsOf = ({ workspaceId, dimension, span }: StoredTotalsQuery, values: SqlValues): string =>
    `FROM ${schema}.usage_totals t WHERE t.workspace_id = ${values.add(workspaceId)} AND t.dimension = ${values.add(dimension)}
      AND t.span = ${values.add(span)}`

  return {
    find: `SELECT ${rowColumns} ${rowOfId}`,
    placeOf: `SELECT u.at, u.seq ${rowOfId}`,
    mark,
    /** Rows of all workspaces that the stored totals do not count yet: after a mark, up to a horizon, with a limit. */
    unrolledUpTo: `SELECT ${totalsColumns} FROM ${schema}.usage u WHERE u.seq > $1 AND u.seq <= $2 ORDER BY u.seq LIMIT $3`,
    /** Newest first, before a place. */
    page(query: UsageQuery, { last, seq, limit }: { readonly last: number; readonly seq: number; readonly limit: number }): SqlStatement {
      const values = new SqlValues()
      const text = `SELECT ${rowColumns} ${matching(query, values)} AND (u.at < ${values.add(last)} OR u.seq < ${values.add(seq)})
        ORDER BY u.at DESC, u.seq DESC LIMIT ${values.add(limit)}`
      return { text, values: values.list }
    },
    count(query: UsageQuery, limit: number): SqlStatement {
      const values = new SqlValues()
      const text = `SELECT count(*) AS rows FROM (SELECT u.seq ${matching(query, values)} LIMIT ${values.add(limit)}) found`
      return { text, values: values.list }
    },
    /** Oldest first, after a place. */
    counted(query: UsageQuery, { seq, limit }: { readonly seq: number; readonly limit: number }): SqlStatement {
      const values = new SqlValues()
      const text = `SELECT ${totalsColumns} ${matching(query, values)} AND (u.at > ${values.add(query.from)} OR u.seq > ${values.add(seq)})
        ORDER BY u.at, u.seq LIMIT ${values.add(limit)}`
      return { text, values: values.list }
    },
    /** Matching rows that the stored totals do not count yet. */
    unrolled: (query: UsageQuery, values: SqlValues): string => `SELECT ${totalsColumns} ${matching(query, values)} AND u.seq > (${mark})`,
    /** The hours of a value that have stored totals. */
    storedHours(query: StoredTotalsQuery): SqlStatement {
      const values = new SqlValues()
      const text = `SELECT t.start ${cellsOf(query, values)} AND t.value = ${values.add(query.value ?? '')}
        AND t.start > ${values.add(query.from - query.span)} AND t.start < ${values.add(query.to)}`
      return { text, values: values.list }
    },
    stored: (query: StoredTotalsQuery, values: SqlValues): string =>
      `SELECT t.start, t.value, t.total ${cellsOf(query, values)} AND t.start >= ${values.add(query.from)} AND t.start < ${values.add(query.to)}
        ${query.value === undefined ? '' : `AND t.value = ${values.add(query.value)}`}`,
  }
}
