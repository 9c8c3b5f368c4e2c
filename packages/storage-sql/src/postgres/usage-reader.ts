import type { UsageQuery } from '@signalbox/storage'
import { intervalMs, startOf } from '@signalbox/storage/usage-totals'
import { dimensions } from '../stored-totals.ts'
import type { PostgresConnection } from './connection.ts'
import { toInteger } from './parameters.ts'
import { type PostgresReads, postgresReads, SqlValues } from './reads.ts'
import { type NumberedRow, toNumberedRow } from './usage-columns.ts'
import { type PostgresRollup, postgresRollup } from './usage-rollup.ts'
import { usageReads } from './usage-statements.ts'

// A month of a busy workspace has a million rows, so rows are read in pages, and with a filter only from hours with matching rows.

/** Reads many usage rows in small steps. */
export interface UsageReader {
  readonly reads: PostgresReads
  readonly statements: ReturnType<typeof usageReads>
  readonly rollup: PostgresRollup
  /** The starts of the hours that may have matching rows, oldest first. */
  hoursOf(query: UsageQuery): Promise<readonly number[]>
  /** Calls `onRow` with every matching row, oldest first. */
  each(query: UsageQuery, onRow: (row: NumberedRow) => void): Promise<void>
}

/** Rows read by one statement. */
const PAGE_ROWS = 2_048

/** Creates the reader of a schema. `await createUsageReader(connection).each(query, row => totals.addRow(row))` */
export function createUsageReader(connection: PostgresConnection): UsageReader {
  const reads = postgresReads(connection, 'report')
  const statements = usageReads(connection.schema)
  return {
    reads,
    statements,
    rollup: postgresRollup(connection, { reads, statements }),
    async hoursOf(query) {
      const { workspaceId, from, to } = query
      // Read before the stored totals, so that a row counted between the two reads is seen twice instead of never.
      const values = new SqlValues()
      const unrolled = await reads.query({ text: statements.unrolled(query, values), values: values.list })
      const young = unrolled.map(({ at }) => startOf(toInteger(at), intervalMs.hour))
      const old = await Promise.all(
        dimensions.flatMap(({ name: dimension, wantedBy }) => {
          const value = wantedBy(query)
          if (value === undefined) return []
          const hours = statements.storedHours({ workspaceId, dimension, value, span: intervalMs.hour, from, to })
          return [reads.query(hours).then(rows => new Set(rows.map(({ start }) => toInteger(start))))]
        }),
      )
      const common = [...(old[0] ?? [])].filter(hour => old.every(hours => hours.has(hour)))
      return [...new Set([...young, ...common])].sort((a, b) => a - b)
    },
    async each(query, onRow) {
      let place = { from: query.from, seq: -1 }
      for (;;) {
        const rows = (await reads.query(statements.counted({ ...query, from: place.from }, { seq: place.seq, limit: PAGE_ROWS }))).map(
          toNumberedRow,
        )
        for (const row of rows) onRow(row)
        const last = rows.at(-1)
        if (!last || rows.length < PAGE_ROWS) return
        place = { from: last.at, seq: last.seq }
      }
    },
  }
}
