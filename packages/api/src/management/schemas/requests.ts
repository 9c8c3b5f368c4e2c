import * as z from 'zod/v4'
import { pageSchema } from './page.ts'

export const requestSchemas = () => ({
  LoggedRequest: loggedRequest().describe('A request of the log.'),
  RequestLog: pageSchema(loggedRequest()).describe('A page of the request log.'),
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
        .describe('One entry for each attempt: what was chosen, and why.'),
      attempts: z.array(z.looseObject({})).describe('How each attempt went.'),
      counterfactuals: z.looseObject({}).nullable().describe('What other strategies would have chosen.'),
    })
    .describe('How a request was routed.'),
  RequestExport: z.string().meta({
    description: 'CSV: a line of names, then one for each request. Cells that a spreadsheet would run begin with a quote.',
    example: 'id,at,api_key_id,model_requested,model,provider\r\n',
  }),
})

const tokenCount = (description: string, example: number) => z.int().meta({ description, example })

export const tokens = () =>
  z
    .object({
      input: tokenCount('Input tokens, cached ones included.', 1_200),
      output: tokenCount('Output tokens, reasoning included.', 340),
      total: tokenCount('Input and output tokens.', 1_540),
      cached: tokenCount('Input tokens read from a prompt cache.', 500),
      cache_write: tokenCount('Input tokens written to a prompt cache.', 0),
      reasoning: tokenCount('Output tokens of reasoning.', 120),
    })
    .describe('Token counts.')

const loggedRequest = () =>
  z.object({
    id: z.string().meta({ description: 'Id of the request: its `X-Request-ID`.', example: '01a1fd6c-4db3-76f2-bb09-734d779bb6f4' }),
    at: z.iso.datetime().describe('When it came.'),
    api_key_id: z.string().meta({
      description: 'Id of its API key, or `user:` and the id of a user of the app.',
      example: '01a1fd6c-4db3-76f2-bb09-734d779bb6f4',
    }),
    model_requested: z.string().meta({ description: 'Model by the name in the request.', example: 'gpt-5-mini-latest' }),
    model: z.string().meta({ description: 'Canonical id of the model.', example: 'gpt-5-mini' }),
    provider: z.string().nullable().meta({ description: 'Provider that answered; null: none did.', example: 'groq' }),
    strategy: z.string().meta({ description: 'Strategy that chose the provider.', example: 'balanced' }),
    status: z.enum(['ok', 'incomplete', 'error', 'rate_limited', 'abandoned', 'interrupted']).describe('How it ended.'),
    error_code: z.string().nullable().meta({ description: 'Error code; null without an error.', example: null }),
    stream: z.boolean().describe('Whether the response was streamed.'),
    byok: z.boolean().meta({ description: 'Whether a provider key of the workspace’s own was used.', example: false }),
    tokens: tokens(),
    estimated: z.boolean().meta({ description: 'Whether the gateway counted the tokens, since the provider did not.', example: false }),
    cost_usd: z.number().meta({ description: 'Charged to the workspace, in USD.', example: 0.0021 }),
    byok_cost_usd: z.number().meta({ description: 'Paid to the provider with the workspace’s own key, in USD by list price.', example: 0 }),
    ttft_ms: z.number().nullable().meta({ description: 'Milliseconds to the first content; null if none came.', example: 412 }),
    duration_ms: z.number().meta({ description: 'Milliseconds to the end of the response.', example: 1_830 }),
    attempts: z.int().meta({ description: 'Calls of providers.', example: 1 }),
    warnings: z.array(z.string()).meta({ description: 'Codes of its warnings.', example: [] }),
    metadata: z.record(z.string(), z.string()).meta({ description: '`gateway.metadata` of the request.', example: { feature: 'search' } }),
    tags: z.array(z.string()).meta({ description: 'Tags of its caller, and of `gateway.metadata.tags`.', example: ['plan:pro'] }),
  })
