import type { Analytics, Series, Summary } from '@signalbox/core'
import * as z from 'zod'
import { json } from '../answer.ts'
import type { ApiReply } from '../exchange.ts'
import type { Call, WorkspaceRoute } from '../routes.ts'
import { dateTime } from './answers.ts'
import { filters, queryOf, tokens } from './requests.ts'
import { reading } from './rows.ts'

const path = '/v1/workspaces/:workspace_id/analytics'

const groups = { model: 'model', provider: 'provider', api_key: 'key' } as const

export const analyticsRoutes: readonly WorkspaceRoute[] = [
  {
    ...reading,
    path: `${path}/summary`,
    needs: ['usage:read'],
    summary: 'Tell how many requests there were, how they ended, what they cost and how long they took.',
    query: filters,
    reply: 'AnalyticsSummary',
    handler: async (call, { analytics }) => json(summaryView(await analytics.summary(queryOf(call)))),
  },
  {
    ...reading,
    path: `${path}/trends`,
    needs: ['usage:read'],
    summary: 'The same by the hour or the day (UTC), as one series or one for each group. Intervals without a request are left out.',
    query: [
      ...filters,
      { name: 'interval', description: 'Default: `day`.', values: ['hour', 'day'] },
      { name: 'group_by', description: 'One series for each. Default: one in all.', values: Object.keys(groups) },
    ],
    reply: 'AnalyticsTrends',
    handler: trends,
  },
]

async function trends(call: Call, { analytics }: { readonly analytics: Analytics }): Promise<ApiReply> {
  const interval = call.query.interval === 'hour' ? 'hour' : 'day'
  const groupBy = groups[call.query.group_by as keyof typeof groups]
  const series = await analytics.trends({ ...queryOf(call), interval, ...(groupBy && { groupBy }) })
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
  cost_usd: figures.cost / 1_000_000,
  byok: { request_count: figures.byokRequests, cost_usd: figures.byokCost / 1_000_000 },
  latency_ms: quantilesView(figures.durationMs),
  ttft_ms: quantilesView(figures.firstContentMs),
  throughput_tps: { p50: figures.tokensPerSecond.p50 ?? null },
})

const quantilesView = ({ p50, p95, p99 }: Summary['durationMs']) => ({ p50: p50 ?? null, p95: p95 ?? null, p99: p99 ?? null })

const share = (part: number, whole: number): number => (whole === 0 ? 0 : Math.round((part / whole) * 1e6) / 1e6)

export const analyticsSchemas = () => ({
  AnalyticsSummary: z.object({ from: z.iso.datetime(), to: z.iso.datetime(), ...figures() }),
  AnalyticsTrends: z.object({
    interval: z.enum(['hour', 'day']),
    group_by: z.enum(['model', 'provider', 'api_key']).nullable(),
    series: z.array(z.object({ group: z.string().nullable(), points: z.array(z.object({ start: z.iso.datetime(), ...figures() })) })),
  }),
})

const rate = () => z.number().min(0).max(1)
const quantiles = () =>
  z
    .object({ p50: z.number().nullable(), p95: z.number().nullable(), p99: z.number().nullable() })
    .meta({ description: 'Off by 2.5 % at most; null where nothing was measured.' })

const figures = () => ({
  request_count: z.int(),
  error_count: z.int(),
  rate_limit_count: z.int().meta({ description: 'Of requests that were admitted, and that all providers turned away.' }),
  abandoned_count: z.int(),
  interrupted_count: z.int().meta({ description: 'Under way when their process ended; billed by what was known of them.' }),
  fallback_count: z.int().meta({ description: 'Requests that took more than one attempt.' }),
  error_rate: rate(),
  fallback_rate: rate(),
  tokens: tokens(),
  cache_hit_rate: rate().meta({ description: 'Share of the input tokens that providers had read before.' }),
  cost_usd: z.number(),
  byok: z
    .object({ request_count: z.int(), cost_usd: z.number() })
    .meta({ description: 'With keys of the workspace’s own: not charged, by the list price.' }),
  latency_ms: quantiles(),
  ttft_ms: quantiles(),
  throughput_tps: z.object({ p50: z.number().nullable() }),
})
