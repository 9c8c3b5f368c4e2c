import type { KeyUsage } from '@signalbox/core'
import * as z from 'zod'
import { json } from '../answer.ts'
import type { WorkspaceRoute } from '../routes.ts'
import { reading } from './rows.ts'

const periods = ['day', 'week', 'month'] as const

export const keyUsageRoutes: readonly WorkspaceRoute[] = [
  {
    ...reading,
    path: '/v1/workspaces/:workspace_id/api-keys/:api_key_id/usage',
    needs: ['keys:read', 'usage:read'],
    summary: 'Tell what a key was used for in the current day, week or month (UTC; weeks begin on Monday).',
    query: [{ name: 'period', description: 'Default: `month`.', values: periods }],
    reply: 'ApiKeyUsage',
    async handler({ params, query }, { apiKeys }) {
      const period = periods.find(each => each === query.period) ?? 'month'
      return json(view(await apiKeys.usage(params.api_key_id ?? '', { period })))
    },
  },
]

const view = (usage: KeyUsage) => ({
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
  cost_usd: usage.cost / 1_000_000,
})

const dateOf = (at: number): string => new Date(at).toISOString().slice(0, 10)

export const keyUsageSchemas = () => ({
  ApiKeyUsage: z.object({
    key_id: z.string(),
    workspace_id: z.string(),
    period: z.enum(periods),
    start_date: z.iso.date(),
    end_date: z.iso.date().meta({ description: 'The last day of the period.' }),
    request_count: z.int(),
    error_count: z.int(),
    rate_limit_count: z.int(),
    tokens_input: z.int(),
    tokens_output: z.int(),
    tokens_total: z.int(),
    cost_usd: z.number().meta({ description: 'What was charged: not what keys of the workspace’s own cost at their providers.' }),
  }),
})
