import * as z from 'zod/v4'
import { pointReply, summaryReply } from '../replies/analytics.ts'
import { loggedRequestReply } from '../replies/logged-request.ts'
import { pageSchema } from './page.ts'
import { resourceSchema } from './resource.ts'

export const analyticsSchemas = () => ({
  AnalyticsSummary: resourceSchema(summaryReply, 'reply').describe('Usage, cost and latency of the workspace.'),
  AnalyticsTrends: z
    .object({
      interval: z.enum(['hour', 'day']).describe('Length of each point.'),
      group_by: z
        .enum(['model', 'provider', 'api_key', 'user', 'tag'])
        .nullable()
        .describe('What the requests are grouped by; null: all requests.'),
      series: z
        .array(
          z.object({
            group: z
              .string()
              .nullable()
              .meta({ description: 'Model, provider, key, user or tag of the series; null: all requests.', example: 'gpt-5-mini' }),
            points: z.array(resourceSchema(pointReply, 'reply')).describe('One entry for each interval.'),
          }),
        )
        .describe('One entry for each group.'),
    })
    .describe('Usage, cost and latency of the workspace over time.'),
  LoggedRequest: resourceSchema(loggedRequestReply, 'reply').describe('A request of the log.'),
  RequestLog: pageSchema(resourceSchema(loggedRequestReply, 'reply')).describe('A page of the request log.'),
  RoutingEvidence: z
    .looseObject({
      detail: z.enum(['full', 'summary']).describe('Whether every candidate is listed, or only the chosen ones.'),
      excluded_counts: z.record(z.string(), z.int()).describe('How many candidates were excluded, by reason.'),
      seed: z.number().describe('Seed of the random choices, to replay them.'),
      strategy: z.unknown().meta({ description: 'Strategy that ranked the candidates.', example: 'balanced' }),
      order: z.array(z.string()).meta({ description: 'Candidates in the order of their rank.', example: ['groq/gpt-5-mini'] }),
      excluded: z
        .array(
          z.looseObject({
            provider: z.string().meta({ description: 'Id of the provider.', example: 'groq' }),
            reason: z.string().meta({ description: 'Why it could not be used.', example: 'data_policy' }),
          }),
        )
        .describe('Candidates that could not be used.'),
      decisions: z
        .array(z.looseObject({ chosen: z.string().meta({ description: 'The candidate that was chosen.', example: 'groq/gpt-5-mini' }) }))
        .describe('One entry for each attempt: the chosen candidate, with the reason.'),
      attempts: z.array(z.looseObject({})).describe('The result of each attempt.'),
      counterfactuals: z.looseObject({}).nullable().describe('What other strategies would have chosen.'),
    })
    .describe('How a request was routed.'),
  RequestExport: z.string().meta({
    description: 'CSV with a header line, then one line for each request. Cells that a spreadsheet would execute begin with a quote.',
    example: 'id,at,api_key_id,model_requested,model,provider\r\n',
  }),
})
