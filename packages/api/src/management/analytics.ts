import { toUsd } from '@signalbox/core'
import type { Analytics, Series, Summary } from '@signalbox/core/management'
import type { ApiReply } from '../api.ts'
import { json } from '../json-reply.ts'
import type { Call, WorkspaceRoute } from '../route.ts'
import { dateTime } from './answers.ts'
import { filters, queryOf } from './requests.ts'
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
