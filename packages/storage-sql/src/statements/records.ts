import type { RecordQuery } from '@signalbox/storage'
import type { Compilable } from 'kysely'
import { type ColumnsOf, recordColumns, type recordFields } from '../columns.ts'
import { fixedStatement, type Queries } from './compile.ts'

/** Statements that read records. `recordReads(queries).find.text` */
export const recordReads = (queries: Queries) => ({
  find: fixedStatement<{ kind: string; workspaceId: string; id: string }>(({ kind, workspaceId, id }) =>
    queries
      .selectFrom('records')
      .select(recordColumns.names)
      .where('kind', '=', kind)
      .where('id', '=', id)
      .where('workspace_id', '=', workspaceId),
  ),
  findByName: fixedStatement<{ kind: string; name: string }>(({ kind, name }) =>
    queries.selectFrom('records').select(recordColumns.names).where('kind', '=', kind).where('name', '=', name),
  ),
  /** In the order of creation; nothing comes after an unknown id. */
  list({ kind, workspaceId, groups, after, limit }: RecordQuery): Compilable<ColumnsOf<typeof recordFields>> {
    let query = queries.selectFrom('records').select(recordColumns.names).where('kind', '=', kind)
    if (workspaceId !== undefined) query = query.where('workspace_id', '=', workspaceId)
    if (groups) query = groups.length > 0 ? query.where('grp', 'in', groups) : query.where(eb => eb.lit(false))
    if (after !== undefined) {
      let place = queries
        .selectFrom('records as cursor')
        .select('cursor.seq')
        .where('cursor.kind', '=', kind)
        .where('cursor.id', '=', after)
      if (workspaceId !== undefined) place = place.where('cursor.workspace_id', '=', workspaceId)
      query = query.where('seq', '>', place)
    }
    return query.orderBy('seq').limit(Math.max(0, limit))
  },
})
