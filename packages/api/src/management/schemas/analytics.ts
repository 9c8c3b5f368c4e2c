import * as z from 'zod/v4'
import { closedObject, listField, openObject, textField } from '../../schema-fields.ts'
import { pointReply, summaryReply } from '../replies/analytics.ts'
import { loggedRequestReply } from '../replies/logged-request.ts'
import { pageSchema } from './page.ts'
import { resourceSchema } from './resource.ts'

export const analyticsSchemas = () => ({
  AnalyticsSummary: resourceSchema(summaryReply, 'reply').describe('Usage, cost and latency of the workspace.'),
  AnalyticsTrends: closedObject('Usage, cost and latency of the workspace over time.', {
    interval: z.enum(['hour', 'day']).describe('Length of each point.'),
    group_by: z
      .enum(['model', 'provider', 'api_key', 'user', 'tag'])
      .nullable()
      .describe('What the requests are grouped by; null: all requests.'),
    series: listField(
      'One entry for each group.',
      z.object({
        group: z
          .string()
          .nullable()
          .meta({ description: 'Model, provider, key, user or tag of the series; null: all requests.', example: 'gpt-5-mini' }),
        points: listField('One entry for each interval.', resourceSchema(pointReply, 'reply')),
      }),
    ),
  }),
  LoggedRequest: resourceSchema(loggedRequestReply, 'reply').describe('A request of the log.'),
  RequestLog: pageSchema(resourceSchema(loggedRequestReply, 'reply')).describe('A page of the request log.'),
  RoutingEvidence: openObject('How a request was routed.', {
    detail: z.enum(['full', 'summary']).describe('Whether every candidate is listed, or only the chosen ones.'),
    excluded_counts: z.record(z.string(), z.int()).describe('How many candidates were excluded, by reason.'),
    seed: z.number().describe('Seed of the random choices, to replay them.'),
    strategy: z.unknown().meta({ description: 'Strategy that ranked the candidates.', example: 'balanced' }),
    order: z.array(z.string()).meta({ description: 'Candidates in the order of their rank.', example: ['groq/gpt-5-mini'] }),
    excluded: listField(
      'Candidates that could not be used.',
      z.looseObject({
        provider: textField('Id of the provider.', 'groq'),
        reason: textField('Why it could not be used.', 'data_policy'),
      }),
    ),
    decisions: listField(
      'One entry for each attempt: the chosen candidate, with the reason.',
      z.looseObject({ chosen: textField('The candidate that was chosen.', 'groq/gpt-5-mini') }),
    ),
    attempts: listField('The result of each attempt.', z.looseObject({})),
    counterfactuals: z.looseObject({}).nullable().describe('What other strategies would have chosen.'),
  }),
  RequestExport: textField(
    'CSV with a header line, then one line for each request. Cells that a spreadsheet would execute begin with a quote.',
    'id,at,api_key_id,model_requested,model,provider\r\n',
  ),
})
