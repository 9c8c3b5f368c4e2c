import type { CountedRow } from '@signalbox/storage/usage-totals'
import { countedColumns, usageColumns } from '../columns.ts'
import type { Row } from './verb.ts'

/** All columns, in the order of `usageColumns.valuesOf`. */
export const USAGE_COLUMNS = usageColumns.names.join(', ')

/** The columns that totals depend on, by the names of their fields, and the row's number. */
export const COUNTED_COLUMNS = `seq, ${countedColumns.columns.map(({ name, field }) => `${name} AS ${field}`).join(', ')}`

export interface PlacedRow extends CountedRow {
  readonly seq: number
  readonly workspaceId: string
}

/** Converts a row of `COUNTED_COLUMNS`. `totals.addRow(toPlaced(row))` */
export const toPlaced = (row: Row): PlacedRow => {
  const found = row as unknown as Omit<PlacedRow, 'firstContentMs' | 'tags'> & {
    firstContentMs?: number | null | undefined
    tags?: string | readonly string[] | null | undefined
  }
  // Set instead of deleted: `delete` would make every later access to the row slow.
  if (found.firstContentMs === null) found.firstContentMs = undefined
  found.tags = typeof found.tags === 'string' ? JSON.parse(found.tags) : undefined
  return found as PlacedRow
}
