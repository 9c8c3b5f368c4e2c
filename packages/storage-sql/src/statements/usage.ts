import type { UsageQuery } from '@signalbox/storage'
import { type Compilable, sql } from 'kysely'
import { countedColumns, usageColumns } from '../columns.ts'
import type { UsageTable } from '../schema.ts'
import { fixedStatement, type Queries } from './compile.ts'

/** `id` and `at` are columns of `usage_ids` too. */
const rowColumns = usageColumns.names.map(name => (name === 'id' || name === 'at' ? (`usage.${name}` as const) : name))
const totalsColumns = ['seq', ...countedColumns.names] as const

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

/** Statements that read usage rows and their totals. `usageReads(queries).find.text` */
export const usageReads = (queries: Queries) => ({ ...rowReads(queries), ...storedTotalReads(queries) })

interface RowId {
  readonly workspaceId: string
  readonly id: string
}

const rowOfId = (queries: Queries, { workspaceId, id }: RowId) =>
  queries
    .selectFrom('usage_ids')
    .innerJoin('usage', join => join.onRef('usage.at', '=', 'usage_ids.at').onRef('usage.seq', '=', 'usage_ids.seq'))
    .where('usage_ids.id', '=', id)
    .where('workspace_id', '=', workspaceId)

function rowReads(queries: Queries) {
  const matching = <Columns extends readonly (keyof UsageTable | 'usage.id' | 'usage.at')[]>(query: UsageQuery, columns: Columns) => {
    const { workspaceId, from, to, keyId, model, provider, tag } = query
    let rows = queries.selectFrom('usage').select(columns).where('workspace_id', '=', workspaceId)
    rows = rows.where('at', '>=', from).where('at', '<', to)
    if (keyId !== undefined) rows = rows.where('key_id', '=', keyId)
    if (model !== undefined) rows = rows.where('model', '=', model)
    if (provider !== undefined) rows = rows.where('provider', '=', provider)
    if (tag !== undefined) rows = rows.where(sql<boolean>`tags::jsonb @> to_jsonb(${tag}::text)`)
    return rows
  }
  const mark = queries.selectFrom('usage_rolled').select('usage_rolled.seq')

  return {
    /** By way of `usage_ids`, which names the one partition that has the row. */
    find: fixedStatement<RowId>(row => rowOfId(queries, row).select(rowColumns)),
    placeOf: fixedStatement<RowId>(row => rowOfId(queries, row).select(['usage.at', 'usage.seq'])),
    /** Newest first, before a place. */
    page(
      query: UsageQuery,
      { last, seq, limit }: { readonly last: number; readonly seq: number; readonly limit: number },
    ): Compilable<UsageTable> {
      return matching(query, rowColumns)
        .where(eb => eb.or([eb('at', '<', last), eb('seq', '<', seq)]))
        .orderBy('at', 'desc')
        .orderBy('seq', 'desc')
        .limit(limit) as Compilable<UsageTable>
    },
    count(query: UsageQuery, limit: number): Compilable<{ readonly rows: unknown }> {
      return queries.selectFrom(matching(query, ['seq']).limit(limit).as('found')).select(eb => eb.fn.countAll().as('rows'))
    },
    /** Oldest first, after a place. */
    counted(query: UsageQuery, { seq, limit }: { readonly seq: number; readonly limit: number }): Compilable<UsageTable> {
      return matching(query, totalsColumns)
        .where(eb => eb.or([eb('at', '>', query.from), eb('seq', '>', seq)]))
        .orderBy('at')
        .orderBy('seq')
        .limit(limit) as Compilable<UsageTable>
    },
    /** Matching rows that the stored totals do not count yet. */
    unrolled(query: UsageQuery): Compilable<UsageTable> {
      return matching(query, totalsColumns).where('seq', '>', mark) as Compilable<UsageTable>
    },
    /** Rows of all workspaces that the stored totals do not count yet, up to a horizon. */
    unrolledUpTo: fixedStatement<{ mark: number; horizon: number; limit: number }>(stand =>
      queries
        .selectFrom('usage')
        .select(totalsColumns)
        .where('seq', '>', stand.mark)
        .where('seq', '<=', stand.horizon)
        .orderBy('seq')
        .limit(stand.limit),
    ),
  }
}

const storedTotalReads = (queries: Queries) => ({
  /** The hours of a value that have stored totals. */
  storedHours(query: StoredTotalsQuery): Compilable<{ readonly start: number }> {
    return queries
      .selectFrom('usage_totals')
      .select('start')
      .where('workspace_id', '=', query.workspaceId)
      .where('dimension', '=', query.dimension)
      .where('span', '=', query.span)
      .where('value', '=', query.value ?? '')
      .where('start', '>', query.from - query.span)
      .where('start', '<', query.to)
  },
  stored(query: StoredTotalsQuery) {
    const cells = queries
      .selectFrom('usage_totals')
      .select(['start', 'value', 'total'])
      .where('workspace_id', '=', query.workspaceId)
      .where('dimension', '=', query.dimension)
      .where('span', '=', query.span)
      .where('start', '>=', query.from)
      .where('start', '<', query.to)
    return query.value === undefined ? cells : cells.where('value', '=', query.value)
  },
  mark: fixedStatement<object>(() => queries.selectFrom('usage_rolled').select('usage_rolled.seq')),
})
