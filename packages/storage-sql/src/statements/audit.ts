import type { AuditQuery } from '@signalbox/storage'
import type { Compilable } from 'kysely'
import type { Tables } from '../schema.ts'
import { fixedStatement, type Queries } from './compile.ts'

/** Statements that read audit rows. `auditReads(queries).last.text` */
export const auditReads = (queries: Queries) => ({
  last: fixedStatement<{ workspaceId: string }>(({ workspaceId }) =>
    queries.selectFrom('audit').selectAll().where('workspace_id', '=', workspaceId).orderBy('place', 'desc').limit(1),
  ),
  chain: fixedStatement<{ workspaceId: string; after: number; limit: number }>(({ workspaceId, after, limit }) =>
    queries
      .selectFrom('audit')
      .selectAll()
      .where('workspace_id', '=', workspaceId)
      .where('place', '>', after)
      .orderBy('place')
      .limit(limit),
  ),
  /** Newest first; nothing comes after an unknown id. */
  list({ workspaceId, event, actorKeyId, from, to, after, limit }: AuditQuery): Compilable<Tables['audit']> {
    let query = queries.selectFrom('audit').selectAll().where('workspace_id', '=', workspaceId)
    if (event !== undefined) query = query.where('event', '=', event)
    if (actorKeyId !== undefined) query = query.where('actor_key_id', '=', actorKeyId)
    if (from !== undefined) query = query.where('at', '>=', from)
    if (to !== undefined) query = query.where('at', '<', to)
    if (after !== undefined) {
      const place = queries.selectFrom('audit as cursor').select('cursor.place')
      query = query.where('place', '<', place.where('cursor.workspace_id', '=', workspaceId).where('cursor.id', '=', after).limit(1))
    }
    return query.orderBy('place', 'desc').limit(Math.max(0, limit))
  },
})
