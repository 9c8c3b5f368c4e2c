import type { StoredTotal } from '@signalbox/storage/usage-totals'
import { cellsOf } from '../stored-totals.ts'
import type { PostgresConnection } from './connection.ts'
import { numberArray, textArray, toInteger } from './parameters.ts'
import type { PostgresReads } from './reads.ts'
import { toNumberedRow } from './usage-columns.ts'
import type { usageReads } from './usage-statements.ts'

// A mark records up to which row the stored totals count. Several processes may count at
// the same time: the one that moves the mark from where it was when it read wins, and the others read again.

/** The stored totals of a schema. */
export interface PostgresRollup {
  /** Records an appended row. Occasionally updates the totals, outside of any request. */
  note(): void
  /** Counts everything appended so far, except for about `left` rows. */
  catchUp(left: number): Promise<void>
}

/** Appended rows between two updates of the totals, for each process. */
const ROLL_EVERY = 500
/** Milliseconds between two updates of the totals, per process; each briefly blocks appends. */
const ROLL_PAUSE_MS = 1_000
/** Rows counted by one update. */
const ROLL_ROWS = 1_000

interface RollupParts {
  readonly reads: PostgresReads
  readonly statements: ReturnType<typeof usageReads>
}

/** Creates the totals stored next to the rows. `const rollup = postgresRollup(connection, parts); rollup.note()` */
export function postgresRollup(connection: PostgresConnection, { reads, statements }: RollupParts): PostgresRollup {
  const { schema } = connection
  const horizon = connection.caller('usage.totals', 'usage_horizon', [])
  const roll = connection.caller('usage.totals', 'roll_usage', [
    'bigint',
    'bigint',
    'text[]',
    'text[]',
    'bigint[]',
    'bigint[]',
    'text[]',
    'text[]',
  ])
  const newest = `SELECT (SELECT r.seq FROM ${schema}.usage_rolled r) AS rolled, (SELECT max(u.seq) FROM ${schema}.usage u) AS newest`
  const stored = `SELECT t.total FROM unnest($1::text::text[], $2::text::text[], $3::text::bigint[], $4::text::bigint[], $5::text::text[])
    WITH ORDINALITY c (workspace_id, dimension, span, start, value, place)
    LEFT JOIN ${schema}.usage_totals t USING (workspace_id, dimension, span, start, value) ORDER BY c.place`
  const state = { noted: 0, isRolling: false, rolledAt: Number.NEGATIVE_INFINITY }

  /** Counts the next rows up to the horizon; false if there are none. */
  const rollUp = async (upTo: number): Promise<boolean> => {
    const [found] = await reads.fixed(statements.mark, [])
    const mark = toInteger(found?.seq ?? 0)
    const rows = (await reads.fixed(statements.unrolledUpTo, [mark, upTo, ROLL_ROWS])).map(toNumberedRow)
    const last = rows.at(-1)
    if (!last) return false
    const cells = cellsOf(rows)
    const names = [
      textArray(cells.map(({ workspaceId }) => workspaceId)),
      textArray(cells.map(({ dimension }) => dimension)),
      numberArray(cells.map(({ span }) => span)),
      numberArray(cells.map(({ start }) => start)),
      textArray(cells.map(({ value }) => value)),
    ]
    const kept = await connection.run('usage.totals', { text: stored, values: names })
    for (const [index, { builder }] of cells.entries()) {
      const total = kept[index]?.total
      if (typeof total === 'string') builder.addTotal(JSON.parse(total) as StoredTotal)
    }
    await roll([mark, last.seq, ...names, textArray(cells.map(({ builder }) => JSON.stringify(builder.stored())))])
    return true
  }
  const rollAll = async (): Promise<void> => {
    const upTo = toInteger(await horizon([]))
    while (await rollUp(upTo));
  }

  return {
    note() {
      if (++state.noted < ROLL_EVERY || state.isRolling || performance.now() - state.rolledAt < ROLL_PAUSE_MS) return
      Object.assign(state, { noted: 0, isRolling: true, rolledAt: performance.now() })
      // Not awaited. A failure loses nothing, because the next query for totals counts the rest.
      rollAll()
        .catch(() => undefined)
        .finally(() => {
          state.isRolling = false
        })
    },
    async catchUp(left) {
      const [found] = await connection.run('report', { text: newest, values: [] })
      if (toInteger(found?.newest ?? 0) - left > toInteger(found?.rolled ?? 0)) await rollAll()
    },
  }
}
