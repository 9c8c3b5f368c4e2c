import { sql } from 'kysely'
import { fixedStatement, type Queries } from './compile.ts'

/** Statements that read routing state. `routingReads(queries).readers.text` */
export const routingReads = (queries: Queries) => ({
  /** The number of the last change that is kept. */
  last: fixedStatement<object>(() =>
    queries.selectNoFrom([
      queries
        .selectFrom('offer_statistics')
        .select(eb => eb.fn.max('offer_statistics.sequence').as('sequence'))
        .as('statistics'),
      queries
        .selectFrom('offer_pauses')
        .select(eb => eb.fn.max('offer_pauses.sequence').as('sequence'))
        .as('pauses'),
    ]),
  ),
  statistics: fixedStatement<{ writer: string; after: number; oldest: number }>(({ writer, after, oldest }) =>
    queries.selectFrom('offer_statistics').selectAll().where('sequence', '>', after).where('writer', '<>', writer).where('at', '>', oldest),
  ),
  pauses: fixedStatement<{ after: number; at: number }>(({ after, at }) =>
    queries.selectFrom('offer_pauses').select(['offer', 'until']).where('sequence', '>', after).where('until', '>', at),
  ),
  readers: fixedStatement<{ key: string; oldest: number }>(({ key, oldest }) =>
    queries
      .selectFrom('conversation_readers')
      .select(['offer', 'tokens', 'at'])
      .where('key', '=', key)
      .where('at', '>', sql<number>`${oldest}`)
      .orderBy('at', 'desc')
      .orderBy('tokens', 'desc')
      .orderBy('offer'),
  ),
})
