import { faultOfUsage, type UsageQuery, type UsageRow, type UsageStore, type UsageSum } from '@signalbox/storage'
import type { Connection } from './group.ts'

interface Row {
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
  readonly result: UsageRow['result']
  readonly code: string | null
  readonly attempts: number
  readonly duration_ms: number
  readonly first_content_ms: number | null
  readonly warnings: string
  readonly metadata: string | null
}

const COLUMNS = `id, workspace_id, key_id, at, model_asked, model, provider, credential, strategy, streamed,
  input_tokens, output_tokens, cached_tokens, cache_write_tokens, reasoning_tokens, estimated, cost,
  result, code, attempts, duration_ms, first_content_ms, warnings, metadata`
const MARKS = COLUMNS.replaceAll(/\w+/g, '?')

const MATCHING = 'workspace_id = ? AND at >= ? AND at < ?'
const SUMS = `count(*) AS requests, total(result = 'error') AS errors, total(result = 'rate_limited') AS rateLimited,
  coalesce(sum(input_tokens), 0) AS inputTokens, coalesce(sum(output_tokens), 0) AS outputTokens, coalesce(sum(cost), 0) AS cost`

/** Usage rows in SQLite. `await sqliteUsage(connection).sum({ workspaceId: 'ws_1', from: 0, to: at })` */
export function sqliteUsage({ db, read, write }: Connection): UsageStore {
  const append = db.prepare(`INSERT INTO usage (${COLUMNS}) VALUES (${MARKS}) ON CONFLICT (id) DO NOTHING`)
  const find = db.prepare(`SELECT ${COLUMNS} FROM usage WHERE id = ? AND workspace_id = ?`)
  const ofAll = {
    sum: db.prepare(`SELECT ${SUMS} FROM usage WHERE ${MATCHING}`),
    list: db.prepare(`SELECT ${COLUMNS} FROM usage WHERE ${MATCHING} ORDER BY at DESC, seq DESC LIMIT ?`),
  }
  const ofKey = {
    sum: db.prepare(`SELECT ${SUMS} FROM usage WHERE ${MATCHING} AND key_id = ?`),
    list: db.prepare(`SELECT ${COLUMNS} FROM usage WHERE ${MATCHING} AND key_id = ? ORDER BY at DESC, seq DESC LIMIT ?`),
  }
  return {
    append(row) {
      const fault = faultOfUsage(row)
      if (fault) return Promise.reject(fault)
      const values = toValues(row)
      return write(() => {
        append.run(...values)
      })
    },
    find: (workspaceId, id) =>
      read(() => {
        const row = find.get(id, workspaceId)
        return row && toUsageRow(row as unknown as Row)
      }),
    sum: query => read(() => ({ ...(queryFor(query).sum.get(...boundsOf(query)) as unknown as UsageSum) })),
    list: ({ limit, ...query }) =>
      read(() =>
        queryFor(query)
          .list.all(...boundsOf(query), Math.max(0, limit))
          .map(row => toUsageRow(row as unknown as Row)),
      ),
  }

  function queryFor({ keyId }: UsageQuery) {
    return keyId === undefined ? ofAll : ofKey
  }
}

const boundsOf = ({ workspaceId, from, to, keyId }: UsageQuery): readonly (string | number)[] =>
  keyId === undefined ? [workspaceId, from, to] : [workspaceId, from, to, keyId]

const toValues = (row: UsageRow): readonly (string | number | null)[] => [
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
  row.result,
  row.code ?? null,
  row.attempts,
  row.durationMs,
  row.firstContentMs ?? null,
  row.warnings.length === 0 ? '[]' : JSON.stringify(row.warnings),
  row.metadata === undefined ? null : JSON.stringify(row.metadata),
]

const toUsageRow = (row: Row): UsageRow => ({
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
  result: row.result,
  ...(row.code !== null && { code: row.code }),
  attempts: row.attempts,
  durationMs: row.duration_ms,
  ...(row.first_content_ms !== null && { firstContentMs: row.first_content_ms }),
  warnings: JSON.parse(row.warnings),
  ...(row.metadata !== null && { metadata: JSON.parse(row.metadata) }),
})
