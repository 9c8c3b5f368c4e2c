import type { UsageRow } from '@signalbox/storage'
import type { CountedRow } from '@signalbox/storage/usage-totals'
import type { Row } from './verb.ts'

interface UsageColumns {
  readonly id: string
  readonly workspace_id: string
  readonly key_id: string
  readonly at: number
  readonly model_asked: string
  readonly model: string
  readonly provider: string
  readonly credential: UsageRow['credential']
  readonly strategy: string
  readonly streamed: number
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cached_tokens: number
  readonly cache_write_tokens: number
  readonly reasoning_tokens: number
  readonly estimated: number
  readonly cost: number
  readonly byok_cost: number
  readonly result: UsageRow['result']
  readonly code: string | null
  readonly attempts: number
  readonly duration_ms: number
  readonly first_content_ms: number | null
  readonly warnings: string
  readonly metadata: string | null
  readonly routing: string | null
  readonly tags: string | null
}

/** All columns, in the order of `toValues`. */
export const USAGE_COLUMNS = `id, workspace_id, key_id, at, model_asked, model, provider, credential, strategy, streamed,
  input_tokens, output_tokens, cached_tokens, cache_write_tokens, reasoning_tokens, estimated, cost, byok_cost,
  result, code, attempts, duration_ms, first_content_ms, warnings, metadata, routing, tags`

/** The columns that totals depend on, and the row's number. */
export const COUNTED_COLUMNS = `seq, workspace_id AS workspaceId, key_id AS keyId, at, model, provider, credential,
  input_tokens AS inputTokens, output_tokens AS outputTokens, cached_tokens AS cachedTokens, cache_write_tokens AS cacheWriteTokens,
  reasoning_tokens AS reasoningTokens, cost, byok_cost AS byokCost, result, attempts,
  duration_ms AS durationMs, first_content_ms AS firstContentMs, tags`

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

/** The values of `USAGE_COLUMNS`. `statement(APPEND, ...toValues(row))` */
export const toValues = (row: UsageRow): readonly (string | number | null)[] => [
  row.id,
  row.workspaceId,
  row.keyId,
  row.at,
  row.modelAsked,
  row.model,
  row.provider,
  row.credential,
  row.strategy,
  Number(row.streamed),
  row.inputTokens,
  row.outputTokens,
  row.cachedTokens,
  row.cacheWriteTokens,
  row.reasoningTokens,
  Number(row.estimated),
  row.cost,
  row.byokCost,
  row.result,
  row.code ?? null,
  row.attempts,
  row.durationMs,
  row.firstContentMs ?? null,
  row.warnings.length === 0 ? '[]' : JSON.stringify(row.warnings),
  row.metadata === undefined ? null : JSON.stringify(row.metadata),
  row.routing ?? null,
  row.tags === undefined ? null : JSON.stringify(row.tags),
]

/** Converts a row of `USAGE_COLUMNS`. `rows.map(toUsageRow)` */
export const toUsageRow = (found: Row): UsageRow => {
  const row = found as unknown as UsageColumns
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    keyId: row.key_id,
    at: row.at,
    modelAsked: row.model_asked,
    model: row.model,
    provider: row.provider,
    credential: row.credential,
    strategy: row.strategy,
    streamed: row.streamed === 1,
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    cachedTokens: row.cached_tokens,
    cacheWriteTokens: row.cache_write_tokens,
    reasoningTokens: row.reasoning_tokens,
    estimated: row.estimated === 1,
    cost: row.cost,
    byokCost: row.byok_cost,
    result: row.result,
    ...(row.code !== null && { code: row.code }),
    attempts: row.attempts,
    durationMs: row.duration_ms,
    ...(row.first_content_ms !== null && { firstContentMs: row.first_content_ms }),
    warnings: JSON.parse(row.warnings),
    ...(row.metadata !== null && { metadata: JSON.parse(row.metadata) }),
    ...(row.routing !== null && { routing: row.routing }),
    ...(row.tags !== null && { tags: JSON.parse(row.tags) }),
  }
}
