import { toUsd } from '@signalbox/core'
import type { KeyUsage } from '@signalbox/core/management'
import { keyUsageFields } from '@signalbox/core/resources'
import { json } from '../json-reply.ts'
import type { WorkspaceRoute } from '../route.ts'
import { reading } from './rows.ts'

const periods = keyUsageFields.period.values

export const keyUsageRoutes: readonly WorkspaceRoute[] = [
  {
    ...reading,
    path: '/v1/workspaces/:workspace_id/api-keys/:api_key_id/usage',
    client: 'apiKeys.usage',
    needs: ['keys:read', 'usage:read'],
    summary: 'Tell what a key was used for in the current day, week or month (UTC; weeks begin on Monday).',
    query: [{ name: 'period', description: 'Default: `month`.', values: periods }],
    reply: 'ApiKeyUsage',
    async handler({ params, query }, { apiKeys }) {
      const period = periods.find(each => each === query.period) ?? 'month'
      return json(keyUsageView(await apiKeys.usage(params.api_key_id ?? '', { period })))
    },
  },
]

const keyUsageView = (usage: KeyUsage) => ({
  key_id: usage.keyId,
  workspace_id: usage.workspaceId,
  period: usage.period,
  start_date: dateOf(usage.start),
  // The last day of the period, not the first of the next.
  end_date: dateOf(usage.end - 1),
  request_count: usage.requests,
  error_count: usage.errors,
  rate_limit_count: usage.rateLimited,
  tokens_input: usage.inputTokens,
  tokens_output: usage.outputTokens,
  tokens_total: usage.inputTokens + usage.outputTokens,
  cost_usd: toUsd(usage.cost),
})

const dateOf = (at: number): string => new Date(at).toISOString().slice(0, 10)
