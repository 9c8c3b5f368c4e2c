import { toUsd } from '@signalbox/core'
import type { Analytics } from '@signalbox/core/management'
import { dateTime } from './answers.ts'

/** A row of the request log, on the wire. */
export type RequestView = ReturnType<typeof requestView>

type LoggedRequest = Awaited<ReturnType<Analytics['request']>>

export const requestView = (row: LoggedRequest) => ({
  id: row.id,
  at: dateTime(row.at),
  api_key_id: row.keyId,
  model_requested: row.modelAsked,
  model: row.model,
  provider: row.provider === '' ? null : row.provider,
  strategy: row.strategy,
  status: row.result,
  error_code: row.code ?? null,
  stream: row.streamed,
  byok: row.credential === 'workspace',
  tokens: {
    input: row.inputTokens,
    output: row.outputTokens,
    total: row.inputTokens + row.outputTokens,
    cached: row.cachedTokens,
    cache_write: row.cacheWriteTokens,
    reasoning: row.reasoningTokens,
  },
  estimated: row.estimated,
  cost_usd: toUsd(row.cost),
  byok_cost_usd: toUsd(row.byokCost),
  ttft_ms: row.firstContentMs ?? null,
  duration_ms: row.durationMs,
  attempts: row.attempts,
  warnings: row.warnings,
  metadata: row.metadata ?? {},
  tags: row.tags ?? [],
})
