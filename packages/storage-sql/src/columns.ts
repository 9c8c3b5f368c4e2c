import type { AuditRow, StoredRecord, UsageRow } from '@signalbox/storage'

// The columns of a table, once for all dialects: their names, and how rows of a store are written and read.

/** How a column holds a field. `flag`: 0 or 1. `json`: JSON text. `optional`: null where the field is absent. */
type ColumnKind = 'text' | 'integer' | 'flag' | 'json' | 'optional text' | 'optional integer' | 'optional json'

/** The fields of a record. */
const recordFields = {
  kind: 'text',
  id: 'text',
  workspaceId: 'text',
  version: 'integer',
  group: 'optional text',
  name: 'optional text',
  createdAt: 'integer',
  expiresAt: 'optional integer',
  usedAt: 'optional integer',
  body: 'text',
} as const satisfies Record<keyof StoredRecord, ColumnKind>

/** The fields of an audit row. */
const auditFields = {
  id: 'text',
  workspaceId: 'text',
  place: 'integer',
  event: 'text',
  actorKeyId: 'optional text',
  actorName: 'optional text',
  subjectType: 'text',
  subjectId: 'text',
  at: 'integer',
  requestId: 'optional text',
  ip: 'optional text',
  changes: 'text',
  previousHash: 'text',
  hash: 'text',
} as const satisfies Record<keyof AuditRow, ColumnKind>

/** The fields of a usage row, in the order of the parameters of `append_usage`. */
const usageFields = {
  id: 'text',
  workspaceId: 'text',
  keyId: 'text',
  at: 'integer',
  modelAsked: 'text',
  model: 'text',
  provider: 'text',
  credential: 'text',
  strategy: 'text',
  streamed: 'flag',
  inputTokens: 'integer',
  outputTokens: 'integer',
  cachedTokens: 'integer',
  cacheWriteTokens: 'integer',
  reasoningTokens: 'integer',
  estimated: 'flag',
  cost: 'integer',
  byokCost: 'integer',
  result: 'text',
  code: 'optional text',
  attempts: 'integer',
  durationMs: 'integer',
  firstContentMs: 'optional integer',
  warnings: 'json',
  metadata: 'optional json',
  routing: 'optional text',
  tags: 'optional json',
} as const satisfies Record<keyof UsageRow, ColumnKind>

/** The fields of a usage row that totals depend on. */
const countedFields = [
  ...(['workspaceId', 'keyId', 'at', 'model', 'provider', 'credential', 'inputTokens', 'outputTokens', 'cachedTokens'] as const),
  ...(['cacheWriteTokens', 'reasoningTokens', 'cost', 'byokCost', 'result', 'attempts', 'durationMs', 'firstContentMs', 'tags'] as const),
] as const satisfies readonly (keyof UsageRow)[]

/** How rows of one table are written and read. */
export interface ColumnCodec<StoreRow> {
  /** The columns, in the order of the table of fields. */
  readonly columns: readonly { readonly name: string; readonly field: keyof StoreRow & string; readonly type: ColumnType }[]
  readonly names: readonly string[]
  /** The values of a row, in the order of the columns. */
  valuesOf(row: StoreRow): readonly (string | number | null)[]
  /** A row of the store. `toInteger` reads numbers where a driver returns them as text. */
  rowOf(found: Readonly<Record<string, unknown>>, toInteger?: (value: unknown) => number): StoreRow
}

type ColumnType = 'text' | 'integer' | 'flag' | 'json'

function columnCodec<StoreRow>(
  kinds: Readonly<Record<string, ColumnKind>>,
  fields: readonly string[] = Object.keys(kinds),
): ColumnCodec<StoreRow> {
  const columns = Object.entries(kinds)
    .filter(([field]) => fields.includes(field))
    .map(([field, kind]) => ({
      field: field as keyof StoreRow & string,
      // `group` is a word of SQL.
      name: field === 'group' ? 'grp' : field.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`),
      type: kind.replace('optional ', '') as ColumnType,
    }))
  return {
    columns,
    names: columns.map(({ name }) => name),
    valuesOf: row =>
      columns.map(({ field, type }) => {
        const value: unknown = row[field]
        if (value === undefined) return null
        if (type === 'json') return JSON.stringify(value)
        return type === 'flag' ? Number(value) : (value as string | number)
      }),
    rowOf(found, toInteger = Number) {
      const row: Partial<Record<keyof StoreRow, unknown>> = {}
      for (const { field, name, type } of columns) {
        const value = found[name]
        if (value === null) continue
        if (type === 'text') row[field] = value
        else if (type === 'json') row[field] = JSON.parse(String(value))
        else row[field] = type === 'flag' ? toInteger(value) === 1 : toInteger(value)
      }
      return row as StoreRow
    },
  }
}

export const recordColumns = columnCodec<StoredRecord>(recordFields)
export const auditColumns = columnCodec<AuditRow>(auditFields)
export const usageColumns = columnCodec<UsageRow>(usageFields)
export const countedColumns = columnCodec<Pick<UsageRow, (typeof countedFields)[number]>>(usageFields, countedFields)
