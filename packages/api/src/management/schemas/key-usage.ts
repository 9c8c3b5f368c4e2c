import { keyUsageFields } from '@signalbox/core/resources'
import * as z from 'zod/v4'

export const keyUsageSchemas = () => ({
  ApiKeyUsage: z
    .object({
      key_id: z.string().meta({ description: 'Id of the API key.', example: '01a1fd6c-4db3-76f2-bb09-734d779bb6f4' }),
      workspace_id: z.string().meta({ description: 'Id of the workspace.', example: '01a1fd6c-4db3-76f2-bb09-734d779bb6f4' }),
      period: z.enum(keyUsageFields.period.values).describe('Length of the period.'),
      start_date: z.iso.date().describe('First day of the period, in UTC.'),
      end_date: z.iso.date().describe('Last day of the period, in UTC.'),
      request_count: z.int().meta({ description: 'Requests.', example: 120 }),
      error_count: z.int().meta({ description: 'Requests that failed.', example: 2 }),
      rate_limit_count: z.int().meta({
        description: 'Requests that got 429: refused by a limit of the key or its workspace, or rate limited by every provider.',
        example: 0,
      }),
      tokens_input: z.int().meta({ description: 'Input tokens.', example: 48_000 }),
      tokens_output: z.int().meta({ description: 'Output tokens.', example: 9_100 }),
      tokens_total: z.int().meta({ description: 'Input and output tokens.', example: 57_100 }),
      cost_usd: z.number().meta({
        description: 'Charged to the workspace, in USD. What its own provider keys cost at the providers is not included.',
        example: 0.18,
      }),
    })
    .describe('Usage of an API key in a period.'),
})
