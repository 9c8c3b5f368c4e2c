import * as z from 'zod/v4'

/** The response bodies of the protocol of `@ai-sdk/gateway`. */
export const aiGatewaySchemas = () => ({
  LanguageModelResult: z
    .object({
      content: z
        .array(z.looseObject({ type: z.string().describe('Kind of content.') }))
        .describe('Text, reasoning, calls, files and sources.'),
      structuredOutputText: z.string().optional().describe('The final answer, if the model wrote commentary before it.'),
      finishReason: finishReason(),
      usage: usage(),
      providerMetadata: metadata(),
      response: z
        .object({
          id: z.string().meta({ description: 'Id of the response.', example: 'resp_01a1fd6c4db376f2bb09734d779bb6f4' }),
          modelId: z.string().meta({ description: 'The model that answered.', example: 'gpt-5-mini' }),
          timestamp: z.iso.datetime().describe('When the request arrived.'),
        })
        .describe('Metadata of the response.'),
      warnings: z.array(z.looseObject({ type: z.string().describe('Kind of warning.') })).describe('What was dropped or changed.'),
    })
    .describe('A complete response, in the AI SDK’s language model specification, version 4.'),
  LanguageModelStreamPart: z
    .looseObject({ type: z.string().meta({ description: 'Kind of part.', example: 'text-delta' }) })
    .describe('A part of a streamed response, in the AI SDK’s language model specification, version 4.'),
  LanguageModelList: z.object({ models: z.array(languageModel()).describe('The models.') }).describe('The models that can be called.'),
  Credits: z
    .object({
      balance: z.string().meta({ description: 'Credit of the workspace, in USD.', example: '12.5' }),
      total_used: z.string().meta({ description: 'Total credit spent, in USD.', example: '7.5' }),
    })
    .describe('The credit of the workspace.'),
  AiGatewayError: z
    .object({
      error: z
        .looseObject({
          message: z.string().describe('What happened and how to fix it.'),
          type: z.string().describe('Kind of error, as `@ai-sdk/gateway` knows it.'),
          param: z.string().nullable().describe('Path of the invalid field, or null.'),
          code: z.string().describe('Error code.'),
        })
        .describe('The error.'),
      generationId: z.string().optional().describe('Id of the request.'),
    })
    .describe('An error.'),
})

const finishReason = () =>
  z
    .object({
      unified: z.string().meta({ description: 'The finish reason of the AI SDK.', example: 'stop' }),
      raw: z.string().optional().meta({ description: 'The same as named by the gateway.', example: 'completed' }),
    })
    .describe('Why the response ended.')

const count = (what: string) => z.int().optional().meta({ description: what, example: 12 })

const usage = () =>
  z
    .object({
      inputTokens: z
        .object({
          total: count('Total.'),
          noCache: count('Not cached.'),
          cacheRead: count('Read from a prompt cache.'),
          cacheWrite: count('Written to a prompt cache.'),
        })
        .describe('Input tokens.'),
      outputTokens: z
        .object({ total: count('Total.'), text: count('Text of the response.'), reasoning: count('Reasoning.') })
        .describe('Output tokens.'),
      raw: z.looseObject({}).optional().describe('The same as named by the gateway.'),
    })
    .describe('Token counts.')

const metadata = () =>
  z
    .looseObject({ gateway: z.looseObject({}).describe('The id of the response, the provider that answered, its cost, and all warnings.') })
    .describe('Data that the gateway adds.')

const tokenPrice = (what: string) =>
  z
    .string()
    .optional()
    .meta({ description: `USD per ${what} token.`, example: '0.00000025' })

const languageModel = () =>
  z.object({
    id: z.string().meta({ description: 'Canonical id.', example: 'gpt-5-mini' }),
    name: z.string().meta({ description: 'Display name.', example: 'GPT-5 mini' }),
    pricing: z
      .object({
        input: tokenPrice('input'),
        output: tokenPrice('output'),
        input_cache_read: tokenPrice('cached input'),
        input_cache_write: tokenPrice('cache write'),
      })
      .optional()
      .describe('Its lowest price.'),
    specification: z
      .object({
        specificationVersion: z.literal('v4').describe('Version of the specification.'),
        provider: z.string().meta({ description: 'Its first provider.', example: 'groq' }),
        modelId: z.string().meta({ description: 'Canonical id.', example: 'gpt-5-mini' }),
      })
      .describe('The model as the AI SDK identifies it.'),
    modelType: z.literal('language').describe('Kind of model.'),
  })
