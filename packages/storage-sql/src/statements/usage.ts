import type { UsageQuery } from '@signalbox/storage'
import { type Compilable, sql } from 'kysely'
import type { UsageTable } from '../schema.ts'
import { fixedStatement, type Queries } from './compile.ts'

const usageColumns = [
  ...([
    'usage.id',
    'workspace_id',
    'key_id',
    'usage.at',
    'model_asked',
    'model',
    'provider',
    'credential',
    'strategy',
    'streamed',
  ] as const),
  ...(['input_tokens', 'output_tokens', 'cached_tokens', 'cache_write_tokens', 'reasoning_tokens', 'estimated', 'cost'] as const),
  ...(['byok_cost', 'result', 'code', 'attempts', 'duration_ms', 'first_content_ms', 'warnings', 'metadata', 'routing', 'tags'] as const),
] as const

/** The columns that totals depend on, in the order of `toPlacedRow`, and the row's number. */
const countedColumns = [
  ...(['seq', 'workspace_id', 'key_id', 'at', 'model', 'provider', 'credential', 'input_tokens', 'output_tokens'] as const),
  ...(['cached_tokens', 'cache_write_tokens', 'reasoning_tokens', 'cost', 'byok_cost', 'result', 'attempts'] as const),
  ...(['duration_ms', 'first_content_ms', 'tags'] as const),
] as const

/** The columns of a usage row. */
export type UsageColumns = Omit<UsageTable, 'seq'>
/** The columns of a usage row that totals depend on. */
export type CountedColumns = Pick<UsageTable, (typeof countedColumns)[number]>

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
    find: fixedStatement<RowId>(row => rowOfId(queries, row).select(usageColumns)),
    placeOf: fixedStatement<RowId>(row => rowOfId(queries, row).select(['usage.at', 'usage.seq'])),
    /** Newest first, before a place. */
    page(
      query: UsageQuery,
      { last, seq, limit }: { readonly last: number; readonly seq: number; readonly limit: number },
    ): Compilable<UsageColumns> {
      return matching(query, usageColumns)
        .where(eb => eb.or([eb('at', '<', last), eb('seq', '<', seq)]))
        .orderBy('at', 'desc')
        .orderBy('seq', 'desc')
        .limit(limit) as Compilable<UsageColumns>
    },
    count(query: UsageQuery, limit: number): Compilable<{ readonly rows: unknown }> {
      return queries.selectFrom(matching(query, ['seq']).limit(limit).as('found')).select(eb => eb.fn.countAll().as('rows'))
    },
    /** Oldest first, after a place. */
    counted(query: UsageQuery, { seq, limit }: { readonly seq: number; readonly limit: number }): Compilable<CountedColumns> {
      return matching(query, countedColumns)
        .where(eb => eb.or([eb('at', '>', query.from), eb('seq', '>', seq)]))
        .orderBy('at')
        .orderBy('seq')
        .limit(limit) as Compilable<CountedColumns>
    },
    /** Matching rows that the stored totals do not count yet. */
    unrolled(query: UsageQuery): Compilable<CountedColumns> {
      return matching(query, countedColumns).where('seq', '>', mark) as Compilable<CountedColumns>
    },
    /** Rows of all workspaces that the stored totals do not count yet, up to a horizon. */
    unrolledUpTo: fixedStatement<{ mark: number; horizon: number; limit: number }>(stand =>
      queries
        .selectFrom('usage')
        .select(countedColumns)
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
