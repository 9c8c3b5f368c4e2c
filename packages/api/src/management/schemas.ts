import { type Endpoint, resources } from '@signalbox/core/resources'
import { own } from '@signalbox/dialects/protocol'
import * as z from 'zod/v4'
import { integerField, listField, openObject, textField } from '../schema-fields.ts'
import { replies } from './replies/index.ts'
import { resourceSchema } from './resource-schema.ts'
import { managementRoutes } from './routes.ts'

/** The schemas of the workspace routes, for the OpenAPI document. Requests do not load them. */
export function managementSchemas(): Readonly<Record<string, z.ZodType>> {
  const pages = Object.values(resources)
    .flatMap(methods => Object.values<Endpoint>(methods))
    .flatMap(endpoint => (endpoint.route && endpoint.page ? [[endpoint.page, endpoint.reply] as const] : []))
  return {
    ...Object.fromEntries(
      managementRoutes.flatMap(({ body, input }) => (body && input ? [[body, resourceSchema(input.fields, input.mode)]] : [])),
    ),
    ...Object.fromEntries(
      Object.entries(replies).map(([name, { fields, description }]) => [name, described(resourceSchema(fields, 'reply'), description)]),
    ),
    ...Object.fromEntries(
      pages.map(([{ name, description }, reply]) => [
        name,
        described(pageSchema(resourceSchema(own(replies, reply)?.fields ?? {}, 'reply')), description),
      ]),
    ),
    RoutingEvidence: routingEvidence(),
    RequestExport: textField(
      'CSV with a header line, then one line for each request. Cells that a spreadsheet would execute begin with a quote.',
      'id,at,api_key_id,model_requested,model,provider\r\n',
    ),
  }
}

const described = (schema: z.ZodType, description: string | undefined): z.ZodType =>
  description === undefined ? schema : schema.describe(description)

/** A page of a list. */
const pageSchema = (entry: z.ZodType) =>
  z.object({
    object: z.literal('list').describe('Type of the object.'),
    data: listField('The entries.', entry),
    count: integerField('Number of entries on this page.', 1),
    has_more: z.boolean().meta({ description: 'Whether there is a next page.', example: false }),
    next: z.string().nullable().meta({ description: 'Send it as `after` to get the next page. null on the last page.', example: null }),
  })

const routingEvidence = () =>
  openObject('How a request was routed.', {
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
  })
