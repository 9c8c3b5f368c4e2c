import { toUsd } from '@signalbox/core'
import type { KeyUsage } from '@signalbox/core/management'
import * as z from 'zod'
import { json } from '../json-reply.ts'
import type { WorkspaceRoute } from '../route.ts'
import { reading } from './rows.ts'

const periods = ['day', 'week', 'month'] as const

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

export const keyUsageSchemas = () => ({
  ApiKeyUsage: z
    .object({
      key_id: z.string().meta({ description: 'Id of the API key.', example: '01a1fd6c-4db3-76f2-bb09-734d779bb6f4' }),
      workspace_id: z.string().meta({ description: 'Id of the workspace.', example: '01a1fd6c-4db3-76f2-bb09-734d779bb6f4' }),
      period: z.enum(periods).describe('Length of the period.'),
      start_date: z.iso.date().describe('First day of the period, in UTC.'),
      end_date: z.iso.date().describe('Last day of the period, in UTC.'),
      request_count: z.int().meta({ description: 'Requests.', example: 120 }),
      error_count: z.int().meta({ description: 'Requests that failed.', example: 2 }),
      rate_limit_count: z.int().meta({
        description: 'Requests that got 429: refused by a limit of the key or its workspace, or rate limited by every provider.',
        example: 0,
      }),
      tokens_input: z.int().meta({ description: 'Input tokens.', example: 48_000 }),
      tokens_output: z.int().meta({ description: 'Output tokens.', example: 9_100 }),
      tokens_total: z.int().meta({ description: 'Input and output tokens.', example: 57_100 }),
      cost_usd: z.number().meta({
        description: 'Charged to the workspace, in USD. What its own provider keys cost at the providers is not included.',
        example: 0.18,
      }),
    })
    .describe('Usage of an API key in a period.'),
})
