import * as z from 'zod/v4'
import { tokens } from './requests.ts'

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
