import { toUsd } from '@signalbox/core'
import type { Analytics, Series, Summary } from '@signalbox/core/management'
import * as z from 'zod'
import type { ApiReply } from '../api.ts'
import { json } from '../json-reply.ts'
import type { Call, WorkspaceRoute } from '../route.ts'
import { dateTime } from './answers.ts'
import { filters, queryOf, tokens } from './requests.ts'
import { reading } from './rows.ts'

const analyticsPath = '/v1/workspaces/:workspace_id/analytics'

const groups = { model: 'model', provider: 'provider', api_key: 'key', user: 'user', tag: 'tag' } as const

export const analyticsRoutes: readonly WorkspaceRoute[] = [
  {
    ...reading,
    path: `${analyticsPath}/summary`,
    client: 'analytics.summary',
    needs: ['usage:read'],
    summary: 'Tell how many requests there were, how they ended, what they cost and how long they took.',
    query: filters,
    reply: 'AnalyticsSummary',
    handler: async (call, { analytics }) => json(summaryView(await analytics.summary(queryOf(call)))),
  },
  {
    ...reading,
    path: `${analyticsPath}/trends`,
    client: 'analytics.trends',
    needs: ['usage:read'],
    summary: 'The same by the hour or the day (UTC), as one series or one for each group. Intervals without a request are left out.',
    query: [
      ...filters,
      { name: 'interval', description: 'Default: `day`.', values: ['hour', 'day'] },
      {
        name: 'group_by',
        description: 'One series for each. A request counts in each of its tags. Default: one in all.',
        values: Object.keys(groups),
      },
      { name: 'top', description: 'Most series: those of the highest cost. Default: 100.', whole: { min: 1, max: 100 } },
    ],
    reply: 'AnalyticsTrends',
    handler: trends,
  },
]

async function trends(call: Call, { analytics }: { readonly analytics: Analytics }): Promise<ApiReply> {
  const interval = call.query.interval === 'hour' ? 'hour' : 'day'
  const groupBy = groups[call.query.group_by as keyof typeof groups]
  const { top } = call.query
  const series = await analytics.trends({
    ...queryOf(call),
    interval,
    ...(groupBy && { groupBy }),
    ...(top !== undefined && { top: Number(top) }),
  })
  return json({ interval, group_by: call.query.group_by ?? null, series: series.map(seriesView) })
}

const summaryView = (summary: Summary) => ({ from: dateTime(summary.from), to: dateTime(summary.to), ...figuresView(summary) })

const seriesView = ({ group, points }: Series) => ({
  group: group ?? null,
  points: points.map(point => ({ start: dateTime(point.start), ...figuresView(point) })),
})

const figuresView = (figures: Omit<Summary, 'from' | 'to'>) => ({
  request_count: figures.requests,
  error_count: figures.errors,
  rate_limit_count: figures.rateLimited,
  abandoned_count: figures.abandoned,
  interrupted_count: figures.interrupted,
  fallback_count: figures.fallbacks,
  error_rate: share(figures.errors, figures.requests),
  fallback_rate: share(figures.fallbacks, figures.requests),
  tokens: {
    input: figures.inputTokens,
    output: figures.outputTokens,
    total: figures.inputTokens + figures.outputTokens,
    cached: figures.cachedTokens,
    cache_write: figures.cacheWriteTokens,
    reasoning: figures.reasoningTokens,
  },
  cache_hit_rate: share(figures.cachedTokens, figures.inputTokens),
  cost_usd: toUsd(figures.cost),
  byok: { request_count: figures.byokRequests, cost_usd: toUsd(figures.byokCost) },
  latency_ms: quantilesView(figures.durationMs),
  ttft_ms: quantilesView(figures.firstContentMs),
  throughput_tps: { p50: figures.tokensPerSecond.p50 ?? null },
})

const quantilesView = ({ p50, p95, p99 }: Summary['durationMs']) => ({ p50: p50 ?? null, p95: p95 ?? null, p99: p99 ?? null })

const share = (part: number, whole: number): number => (whole === 0 ? 0 : Math.round((part / whole) * 1e6) / 1e6)

export const analyticsSchemas = () => ({
  AnalyticsSummary: z
    .object({
      from: z.iso.datetime().describe('Begin of the time that is counted.'),
      to: z.iso.datetime().describe('End of the time that is counted.'),
      ...figures(),
    })
    .describe('Usage, cost and latency of the workspace.'),
  AnalyticsTrends: z
    .object({
      interval: z.enum(['hour', 'day']).describe('Length of each point.'),
      group_by: z
        .enum(['model', 'provider', 'api_key', 'user', 'tag'])
        .nullable()
        .describe('What each series stands for; null: all requests.'),
      series: z
        .array(
          z.object({
            group: z
              .string()
              .nullable()
              .meta({ description: 'Model, provider, key, user or tag of the series; null: all requests.', example: 'gpt-5-mini' }),
            points: z
              .array(z.object({ start: z.iso.datetime().describe('Begin of the interval.'), ...figures() }))
              .describe('One entry for each interval.'),
          }),
        )
        .describe('One entry for each group.'),
    })
    .describe('Usage, cost and latency of the workspace over time.'),
})

const countField = (description: string, example = 3) => z.int().meta({ description, example })
const shareField = (description: string, example: number) => z.number().min(0).max(1).meta({ description, example })
const quantile = (percent: number, example: number) =>
  z
    .number()
    .nullable()
    .meta({ description: `Value that ${percent} % of the requests did not exceed.`, example })

const quantiles = (what: string) =>
  z
    .object({ p50: quantile(50, 820), p95: quantile(95, 2_400), p99: quantile(99, 4_100) })
    .describe(`${what} in milliseconds. Exact to 2.5 %; null where nothing was measured.`)

const figures = () => ({
  request_count: countField('Requests.', 1_204),
  error_count: countField('Requests that failed.', 7),
  rate_limit_count: countField('Requests that were admitted, and that all providers rate limited.'),
  abandoned_count: countField('Requests whose client disconnected.'),
  interrupted_count: countField('Requests that were under way when their process ended; billed by what was known of them.', 0),
  fallback_count: countField('Requests that took more than one attempt.', 12),
  error_rate: shareField('Share of the requests that failed.', 0.006),
  fallback_rate: shareField('Share of the requests that took more than one attempt.', 0.01),
  tokens: tokens(),
  cache_hit_rate: shareField('Share of the input tokens that were read from a prompt cache.', 0.42),
  cost_usd: z.number().meta({ description: 'Charged to the workspace, in USD.', example: 1.84 }),
  byok: z
    .object({
      request_count: countField('Requests with the workspace’s own provider keys.', 80),
      cost_usd: z.number().meta({ description: 'What they cost at the providers, in USD by list price.', example: 0.31 }),
    })
    .describe('Requests with the workspace’s own provider keys, which are not charged.'),
  latency_ms: quantiles('Time to the end of the response'),
  ttft_ms: quantiles('Time to the first content'),
  throughput_tps: z.object({ p50: quantile(50, 84) }).describe('Output tokens per second.'),
})
