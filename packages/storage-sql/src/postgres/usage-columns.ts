import type { UsageRow } from '@signalbox/storage'
import type { CountedRow } from '@signalbox/storage/usage-totals'
import type { CountedColumns, UsageColumns } from '../statements/usage.ts'
import type { SqlRow } from './client.ts'
import { numberArray, textArray, toInteger } from './parameters.ts'

/** A row to be counted in totals, with its number and its workspace. */
export interface NumberedRow extends CountedRow {
  readonly seq: number
  readonly workspaceId: string
}

/** The parameters of `append_usage` in order: the type, and the value of a row. */
const parameters: readonly (readonly [type: 'text[]' | 'bigint[]' | 'smallint[]', read: (row: UsageRow) => string | number | undefined])[] =
  [
    ['text[]', row => row.id],
    ['text[]', row => row.workspaceId],
    ['text[]', row => row.keyId],
    ['bigint[]', row => row.at],
    ['text[]', row => row.modelAsked],
    ['text[]', row => row.model],
    ['text[]', row => row.provider],
    ['text[]', row => row.credential],
    ['text[]', row => row.strategy],
    ['smallint[]', row => Number(row.streamed)],
    ['bigint[]', row => row.inputTokens],
    ['bigint[]', row => row.outputTokens],
    ['bigint[]', row => row.cachedTokens],
    ['bigint[]', row => row.cacheWriteTokens],
    ['bigint[]', row => row.reasoningTokens],
    ['smallint[]', row => Number(row.estimated)],
    ['bigint[]', row => row.cost],
    ['bigint[]', row => row.byokCost],
    ['text[]', row => row.result],
    ['text[]', row => row.code],
    ['bigint[]', row => row.attempts],
    ['bigint[]', row => row.durationMs],
    ['bigint[]', row => row.firstContentMs],
    ['text[]', row => (row.warnings.length === 0 ? '[]' : JSON.stringify(row.warnings))],
    ['text[]', row => (row.metadata === undefined ? undefined : JSON.stringify(row.metadata))],
    ['text[]', row => row.routing],
    // The database parses the list, and rejects escapes of invalid characters.
    ['text[]', row => row.tags && JSON.stringify(row.tags.map(tag => keptText(tag)?.toWellFormed()))],
  ]

/** The types of the parameters of `append_usage`. */
export const usageParameterTypes: readonly string[] = parameters.map(([type]) => type)

/** The parameters of `append_usage` for a batch. `send(usageParameters(rows))` */
export const usageParameters = (rows: readonly UsageRow[]): readonly string[] =>
  parameters.map(([type, read]) =>
    type === 'text[]' ? textArray(rows.map(row => keptText(read(row)))) : numberArray(rows.map(row => read(row) as number | undefined)),
  )

/** A row must not be lost because of a character that PostgreSQL cannot store. */
const keptText = (value: string | number | undefined): string | undefined => {
  const text = value as string | undefined
  return text?.includes('\0') ? text.replaceAll('\0', '\ufffd') : text
}

/** Converts the columns of a usage row. `rows.map(fromUsageColumns)` */
export function fromUsageColumns(found: SqlRow): UsageRow {
  const row = found as unknown as UsageColumns
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    keyId: row.key_id,
    at: toInteger(row.at),
    modelAsked: row.model_asked,
    model: row.model,
    provider: row.provider,
    credential: row.credential as UsageRow['credential'],
    strategy: row.strategy,
    streamed: toInteger(row.streamed) === 1,
    inputTokens: toInteger(row.input_tokens),
    outputTokens: toInteger(row.output_tokens),
    cachedTokens: toInteger(row.cached_tokens),
    cacheWriteTokens: toInteger(row.cache_write_tokens),
    reasoningTokens: toInteger(row.reasoning_tokens),
    estimated: toInteger(row.estimated) === 1,
    cost: toInteger(row.cost),
    byokCost: toInteger(row.byok_cost),
    result: row.result as UsageRow['result'],
    ...(row.code !== null && { code: row.code }),
    attempts: toInteger(row.attempts),
    durationMs: toInteger(row.duration_ms),
    ...(row.first_content_ms !== null && { firstContentMs: toInteger(row.first_content_ms) }),
    warnings: JSON.parse(row.warnings),
    ...(row.metadata !== null && { metadata: JSON.parse(row.metadata) }),
    ...(row.routing !== null && { routing: row.routing }),
    ...(row.tags !== null && { tags: JSON.parse(row.tags) }),
  }
}

/** Converts the columns that totals depend on. `totals.addRow(toNumberedRow(row))` */
export function toNumberedRow(found: SqlRow): NumberedRow {
  const row = found as unknown as CountedColumns
  return {
    seq: toInteger(row.seq),
    workspaceId: row.workspace_id,
    keyId: row.key_id,
    at: toInteger(row.at),
    model: row.model,
    provider: row.provider,
    credential: row.credential as UsageRow['credential'],
    inputTokens: toInteger(row.input_tokens),
    outputTokens: toInteger(row.output_tokens),
    cachedTokens: toInteger(row.cached_tokens),
    cacheWriteTokens: toInteger(row.cache_write_tokens),
    reasoningTokens: toInteger(row.reasoning_tokens),
    cost: toInteger(row.cost),
    byokCost: toInteger(row.byok_cost),
    result: row.result as UsageRow['result'],
    attempts: toInteger(row.attempts),
    durationMs: toInteger(row.duration_ms),
    ...(row.first_content_ms !== null && { firstContentMs: toInteger(row.first_content_ms) }),
    ...(row.tags !== null && { tags: JSON.parse(row.tags) }),
  }
}
