import { resources } from '@signalbox/core/resources'
import type { Analytics, KeyUsage, Series, Summary } from '@signalbox/workspaces'
import { fieldsOf, type ReplyTable, valuesOf } from './reply-table.ts'

/** The token counts of one or many requests. */
interface TokenCounts {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cachedTokens: number
  readonly cacheWriteTokens: number
  readonly reasoningTokens: number
}

const plain = fieldsOf<unknown>()

const tokensField = {
  kind: 'object',
  fields: {
    input: plain.integer('Input tokens, including cached ones.', 1_200),
    output: plain.integer('Output tokens, including reasoning.', 340),
    total: plain.integer('Input and output tokens.', 1_540),
    cached: plain.integer('Input tokens read from a prompt cache.', 500),
    cacheWrite: plain.integer('Input tokens written to a prompt cache.', 0),
    reasoning: plain.integer('Output tokens of reasoning.', 120),
  },
  reply: 'always',
  description: 'Token counts.',
  from: (row: TokenCounts) => ({
    input: row.inputTokens,
    output: row.outputTokens,
    total: row.inputTokens + row.outputTokens,
    cached: row.cachedTokens,
    cacheWrite: row.cacheWriteTokens,
    reasoning: row.reasoningTokens,
  }),
} as const

type Figures = Omit<Summary, 'from' | 'to'>

const { integer, usd } = fieldsOf<Figures>()

const share = (part: number, whole: number): number => (whole === 0 ? 0 : Math.round((part / whole) * 1e6) / 1e6)
const rate = (description: string, example: number, from: (figures: Figures) => number) =>
  ({ kind: 'number', min: 0, max: 1, reply: 'always', description, example, from }) as const

const quantile = (percent: number, example: number) =>
  plain.numberOrNull(`Value that ${percent} % of the requests did not exceed.`, example)
const quantiles = (what: string, from: (figures: Figures) => Summary['durationMs']) =>
  ({
    kind: 'object',
    fields: { p50: quantile(50, 820), p95: quantile(95, 2_400), p99: quantile(99, 4_100) },
    reply: 'always',
    description: `${what}, in milliseconds, exact to 2.5 %. null: nothing was measured.`,
    from: (figures: Figures) => ({ p50: null, p95: null, p99: null, ...from(figures) }),
  }) as const

const figures: ReplyTable<Figures> = {
  requestCount: integer('Number of requests.', 1_204, ({ requests }) => requests),
  errorCount: integer('Requests that failed.', 7, ({ errors }) => errors),
  rateLimitCount: integer('Requests that were admitted, but rate limited by every provider.', 3, ({ rateLimited }) => rateLimited),
  abandonedCount: integer('Requests whose client disconnected.', 3, ({ abandoned }) => abandoned),
  interruptedCount: integer(
    'Requests that were running when their process ended. They are billed by the usage recorded until then.',
    0,
    ({ interrupted }) => interrupted,
  ),
  fallbackCount: integer('Requests with more than one attempt.', 12, ({ fallbacks }) => fallbacks),
  errorRate: rate('Share of the requests that failed.', 0.006, ({ errors, requests }) => share(errors, requests)),
  fallbackRate: rate('Share of the requests with more than one attempt.', 0.01, ({ fallbacks, requests }) => share(fallbacks, requests)),
  tokens: tokensField,
  cacheHitRate: rate('Share of the input tokens that were read from a prompt cache.', 0.42, ({ cachedTokens, inputTokens }) =>
    share(cachedTokens, inputTokens),
  ),
  cost: usd('Charged to the workspace, in USD.', 1.84),
  byok: {
    kind: 'object',
    fields: {
      requestCount: plain.integer('Number of these requests.', 80),
      cost: plain.usd('Amount that the providers bill for them, in USD at list price.', 0.31),
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

const midnight = '2026-11-01T00:00:00.000Z'

/** Usage, cost and latency of a workspace. */
export const summaryReply: ReplyTable<Summary> = {
  from: plain.time('Start of the range.', midnight),
  to: plain.time('End of the range, exclusive.', midnight),
  ...figures,
}

const pointFields: ReplyTable<Series['points'][number]> = { start: plain.time('Start of the interval.', midnight), ...figures }

/** The same over time, as one series or one for each group. */
export const trendsReply: ReplyTable<readonly Series[]> = {
  interval: {
    kind: 'enum',
    values: ['hour', 'day'],
    reply: 'always',
    description: 'Length of each point.',
    from: (_, { query }) => query.interval ?? 'day',
  },
  groupBy: {
    kind: 'enum',
    values: ['model', 'provider', 'api_key', 'user', 'tag'],
    reply: 'nullable',
    description: 'What the requests are grouped by; null: all requests.',
    from: (_, { query }) => query.group_by,
  },
  series: {
    kind: 'list',
    of: {
      kind: 'object',
      fields: {
        group: plain.textOrNull('Model, provider, key, user or tag of the series; null: all requests.', 'gpt-5-mini'),
        points: {
          kind: 'list',
          of: { kind: 'object', fields: pointFields },
          reply: 'always',
          description: 'One entry for each interval.',
        },
      },
    },
    reply: 'always',
    description: 'One entry for each group.',
    from: (all, call) =>
      all.map(({ group = null, points }) => ({ group, points: points.map(point => valuesOf(pointFields, point, call)) })),
  },
}

const id = '01a1fd6c-4db3-76f2-bb09-734d779bb6f4'
const dateOf = (time: number): string => new Date(time).toISOString().slice(0, 10)
const ofKey = fieldsOf<KeyUsage>()

/** The usage of an API key in a period. */
export const keyUsageReply: ReplyTable<KeyUsage> = {
  keyId: ofKey.text('Id of the API key.', id),
  workspaceId: ofKey.text('Id of the workspace.', 'acme'),
  period: {
    kind: 'enum',
    values: resources.apiKeys.usage.options.period.values,
    reply: 'always',
    description: 'Length of the period.',
    example: 'month',
  },
  startDate: ofKey.text('First day of the period, in UTC.', '2026-11-01', ({ start }) => dateOf(start)),
  // The last day of the period, not the first of the next.
  endDate: ofKey.text('Last day of the period, in UTC.', '2026-11-30', ({ end }) => dateOf(end - 1)),
  requestCount: ofKey.integer('Number of requests.', 120, ({ requests }) => requests),
  errorCount: ofKey.integer('Requests that failed.', 2, ({ errors }) => errors),
  rateLimitCount: ofKey.integer(
    'Requests that got 429: refused by a limit of the key or its workspace, or rate limited by every provider.',
    0,
    ({ rateLimited }) => rateLimited,
  ),
  tokensInput: ofKey.integer('Input tokens.', 48_000, ({ inputTokens }) => inputTokens),
  tokensOutput: ofKey.integer('Output tokens.', 9_100, ({ outputTokens }) => outputTokens),
  tokensTotal: ofKey.integer('Input and output tokens.', 57_100, ({ inputTokens, outputTokens }) => inputTokens + outputTokens),
  cost: ofKey.usd('Charged to the workspace, in USD. Costs that providers bill to its own keys are not included.', 0.18),
}

/** A row of the request log, as core returns it. */
export type RequestRow = Awaited<ReturnType<Analytics['request']>>

const ofRequest = fieldsOf<RequestRow>()

/** A row of the request log. */
export const loggedRequestReply: ReplyTable<RequestRow> = {
  id: ofRequest.text('Id of the request, as in its `X-Request-ID`.', id),
  at: ofRequest.time('When the request arrived.', '2026-11-20T08:00:00.000Z'),
  apiKeyId: ofRequest.text('Id of its API key, or `user:` and the id of a user of the app.', id, ({ keyId }) => keyId),
  modelRequested: ofRequest.text('The model as the request named it.', 'gpt-5-mini-latest', ({ modelAsked }) => modelAsked),
  model: ofRequest.text('Canonical id of the model.', 'gpt-5-mini'),
  provider: ofRequest.textOrNull('The provider that answered. null: no provider was reached.', 'groq', ({ provider }) =>
    provider === '' ? undefined : provider,
  ),
  strategy: ofRequest.text('The routing strategy.', 'balanced'),
  status: {
    kind: 'enum',
    values: ['ok', 'incomplete', 'error', 'rate_limited', 'abandoned', 'interrupted'],
    reply: 'always',
    description: 'How the request ended.',
    example: 'ok',
    from: ({ result }) => result,
  },
  errorCode: ofRequest.textOrNull('The error code; null if the request did not fail.', null, ({ code }) => code),
  stream: ofRequest.flag('Whether the response was streamed.', true, ({ streamed }) => streamed),
  byok: ofRequest.flag('Whether a provider key of the workspace was used.', false, ({ credential }) => credential === 'workspace'),
  tokens: tokensField,
  estimated: ofRequest.flag('Whether the token counts are estimates of the gateway, because the provider reported none.', false),
  cost: ofRequest.usd('Charged to the workspace, in USD.', 0.0021),
  byokCost: ofRequest.usd('Amount that the provider bills to the provider key of the workspace, in USD at list price.', 0),
  ttftMs: ofRequest.numberOrNull(
    'Time to the first content, in milliseconds; null if there was none.',
    412,
    ({ firstContentMs }) => firstContentMs,
  ),
  durationMs: ofRequest.number('Time to the end of the response, in milliseconds.', 1_830),
  attempts: ofRequest.integer('Number of calls to providers.', 1),
  warnings: { kind: 'list', of: { kind: 'string' }, reply: 'always', description: 'Codes of the warnings.', example: [] },
  metadata: {
    kind: 'map',
    reply: 'always',
    description: '`gateway.metadata` of the request.',
    example: { feature: 'search' },
    from: ({ metadata = {} }) => metadata,
  },
  tags: {
    kind: 'list',
    of: { kind: 'string' },
    reply: 'always',
    description: 'Tags of the caller and of `gateway.metadata.tags`.',
    example: ['plan:pro'],
    from: ({ tags = [] }) => tags,
  },
}
