import type { Analytics } from '@signalbox/workspaces'
import type { ApiReply } from '../api.ts'
import { json } from '../json-reply.ts'
import type { Call, WorkspaceRoute } from '../route.ts'
import { seriesView, summaryReply } from './replies/analytics.ts'
import { replyOf } from './replies/reply-table.ts'
import { filters, queryOf } from './requests.ts'
import { reporting } from './rows.ts'

const analyticsPath = '/v1/workspaces/:workspace_id/analytics'

const groups = { model: 'model', provider: 'provider', api_key: 'key', user: 'user', tag: 'tag' } as const

export const analyticsRoutes: readonly WorkspaceRoute[] = [
  {
    ...reporting,
    path: `${analyticsPath}/summary`,
    client: 'analytics.summary',
    needs: ['usage:read'],
    summary: 'Get the number, outcomes, cost and latency of requests.',
    query: filters,
    reply: 'AnalyticsSummary',
    handler: async (call, { analytics }) => json(replyOf(summaryReply, await analytics.summary(queryOf(call)))),
  },
  {
    ...reporting,
    path: `${analyticsPath}/trends`,
    client: 'analytics.trends',
    needs: ['usage:read'],
    summary: 'Get usage over time by hour or day (UTC), as one series or one for each group. Intervals without requests are omitted.',
    query: [
      ...filters,
      { name: 'interval', description: 'Default: `day`.', values: ['hour', 'day'] },
      {
        name: 'group_by',
        description: 'How to group the requests. A request counts once for each of its tags. Default: one series for all requests.',
        values: Object.keys(groups),
      },
      {
        name: 'top',
        description: 'Maximum number of series; those with the highest cost are returned. Default: 100.',
        whole: { min: 1, max: 100 },
      },
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
