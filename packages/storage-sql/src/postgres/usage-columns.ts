import type { UsageRow } from '@signalbox/storage'
import type { CountedRow } from '@signalbox/storage/usage-totals'
import { countedColumns, usageColumns } from '../columns.ts'
import type { SqlRow } from './client.ts'
import { keptText, numberArray, textArray, toInteger } from './parameters.ts'

/** A row to be counted in totals, with its number and its workspace. */
export interface NumberedRow extends CountedRow {
  readonly seq: number
  readonly workspaceId: string
}

const parameterTypes = { text: 'text[]', json: 'text[]', integer: 'bigint[]', flag: 'smallint[]' } as const

/** The types of the parameters of `append_usage`. */
export const usageParameterTypes: readonly string[] = usageColumns.columns.map(({ type }) => parameterTypes[type])

/** The parameters of `append_usage` for a batch. A row is not lost for a NUL. `send(usageParameters(rows))` */
export function usageParameters(rows: readonly UsageRow[]): readonly string[] {
  const values = rows.map(row => usageColumns.valuesOf(keptTags(row)))
  return usageColumns.columns.map(({ type }, index) =>
    parameterTypes[type] === 'text[]'
      ? textArray(values.map(row => keptText(row[index] as string | null)))
      : numberArray(values.map(row => row[index] as number | null)),
  )
}

/** The database looks into the list of tags, and refuses escapes of what is no character. */
const keptTags = (row: UsageRow): UsageRow => (row.tags ? { ...row, tags: row.tags.map(tag => keptText(tag).toWellFormed()) } : row)

/** Converts the columns of a usage row. `rows.map(fromUsageColumns)` */
export const fromUsageColumns = (found: SqlRow): UsageRow => usageColumns.rowOf(found, toInteger)

/** Converts the columns that totals depend on. `totals.addRow(toNumberedRow(row))` */
export const toNumberedRow = (found: SqlRow): NumberedRow => ({ ...countedColumns.rowOf(found, toInteger), seq: toInteger(found.seq) })
