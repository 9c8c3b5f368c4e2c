import type { Series, Summary } from '@signalbox/workspaces'
import { fieldsOf, type ReplyTable, replyOf } from './reply-table.ts'
import { tokensField } from './tokens.ts'

type Figures = Omit<Summary, 'from' | 'to'>

const { integer, usd } = fieldsOf<Figures>()

const share = (part: number, whole: number): number => (whole === 0 ? 0 : Math.round((part / whole) * 1e6) / 1e6)
const rate = (description: string, example: number, from: (figures: Figures) => number) =>
  ({ kind: 'number', min: 0, max: 1, reply: 'always', description, example, from }) as const

const quantile = (percent: number, example: number) =>
  ({ kind: 'number', reply: 'nullable', description: `Value that ${percent} % of the requests did not exceed.`, example }) as const
const p50 = quantile(50, 820)
const quantiles = (what: string, from: (figures: Figures) => Summary['durationMs']) =>
  ({
    kind: 'object',
    fields: { p50, p95: quantile(95, 2_400), p99: quantile(99, 4_100) },
    reply: 'always',
    description: `${what}, in milliseconds, exact to 2.5 %. null: nothing was measured.`,
    from: (figures: Figures) => ({ p50: null, p95: null, p99: null, ...from(figures) }),
  }) as const

const figures: ReplyTable<Figures> = {
  requestCount: integer({ description: 'Number of requests.', example: 1_204, from: ({ requests }) => requests }),
  errorCount: integer({ description: 'Requests that failed.', example: 7, from: ({ errors }) => errors }),
  rateLimitCount: integer({
    description: 'Requests that were admitted, but rate limited by every provider.',
    example: 3,
    from: ({ rateLimited }) => rateLimited,
  }),
  abandonedCount: integer({ description: 'Requests whose client disconnected.', example: 3, from: ({ abandoned }) => abandoned }),
  interruptedCount: integer({
    description: 'Requests that were running when their process ended. They are billed by the usage recorded until then.',
    example: 0,
    from: ({ interrupted }) => interrupted,
  }),
  fallbackCount: integer({ description: 'Requests with more than one attempt.', example: 12, from: ({ fallbacks }) => fallbacks }),
  errorRate: rate('Share of the requests that failed.', 0.006, ({ errors, requests }) => share(errors, requests)),
  fallbackRate: rate('Share of the requests with more than one attempt.', 0.01, ({ fallbacks, requests }) => share(fallbacks, requests)),
  tokens: tokensField,
  cacheHitRate: rate('Share of the input tokens that were read from a prompt cache.', 0.42, ({ cachedTokens, inputTokens }) =>
    share(cachedTokens, inputTokens),
  ),
  cost: usd({ description: 'Charged to the workspace, in USD.', example: 1.84, from: ({ cost }) => cost }),
  byok: {
    kind: 'object',
    fields: {
      requestCount: { kind: 'integer', reply: 'always', description: 'Number of these requests.', example: 80 },
      cost: { kind: 'usd', reply: 'always', description: 'Amount that the providers bill for them, in USD at list price.', example: 0.31 },
    },
    reply: 'always',
    description: 'Requests with provider keys of the workspace. They are not charged.',
    from: ({ byokRequests, byokCost }) => ({ requestCount: byokRequests, cost: byokCost }),
  },
  latencyMs: quantiles('Time to the end of the response', ({ durationMs }) => durationMs),
  ttftMs: quantiles('Time to the first content', ({ firstContentMs }) => firstContentMs),
  throughputTps: {
    kind: 'object',
    fields: { p50: quantile(50, 84) },
    reply: 'always',
    description: 'Output tokens per second.',
    from: ({ tokensPerSecond }) => ({ p50: null, ...tokensPerSecond }),
  },
}

const time = (description: string) => ({ kind: 'time', reply: 'always', description, example: '2026-11-01T00:00:00.000Z' }) as const

/** Usage, cost and latency of a workspace. */
export const summaryReply: ReplyTable<Summary> = {
  from: { ...time('Start of the range.'), from: ({ from }) => from },
  to: { ...time('End of the range, exclusive.'), from: ({ to }) => to },
  ...figures,
}

/** The same of one interval. */
export const pointReply: ReplyTable<Series['points'][number]> = {
  start: { ...time('Start of the interval.'), from: ({ start }) => start },
  ...figures,
}

export const seriesView = ({ group, points }: Series) => ({ group: group ?? null, points: points.map(point => replyOf(pointReply, point)) })
