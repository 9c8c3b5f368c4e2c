import * as z from 'zod/v4'
import { closedObject, listField, openObject, textField } from '../schema-fields.ts'

/** The response bodies of the protocol of `@ai-sdk/gateway`. */
export const aiGatewaySchemas = () => ({
  LanguageModelResult: closedObject('A complete response, in the AI SDK’s language model specification, version 4.', {
    content: listField('Text, reasoning, calls, files and sources.', z.looseObject({ type: textField('Kind of content.') })),
    structuredOutputText: z.string().optional().describe('The final answer, if the model wrote commentary before it.'),
    finishReason: finishReason(),
    usage: usage(),
    providerMetadata: metadata(),
    response: closedObject('Metadata of the response.', {
      id: textField('Id of the response.', 'resp_01a1fd6c4db376f2bb09734d779bb6f4'),
      modelId: textField('The model that answered.', 'gpt-5-mini'),
      timestamp: z.iso.datetime().describe('When the request arrived.'),
    }),
    warnings: listField('What was dropped or changed.', z.looseObject({ type: textField('Kind of warning.') })),
  }),
  LanguageModelStreamPart: openObject('A part of a streamed response, in the AI SDK’s language model specification, version 4.', {
    type: textField('Kind of part.', 'text-delta'),
  }),
  LanguageModelList: closedObject('The models that can be called.', { models: listField('The models.', languageModel()) }),
  Credits: closedObject('The credit of the workspace.', {
    balance: textField('Credit of the workspace, in USD.', '12.5'),
    total_used: textField('Total credit spent, in USD.', '7.5'),
  }),
  AiGatewayError: closedObject('An error.', {
    error: openObject('The error.', {
      message: textField('What happened and how to fix it.'),
      type: textField('Kind of error, as `@ai-sdk/gateway` knows it.'),
      param: z.string().nullable().describe('Path of the invalid field, or null.'),
      code: textField('Error code.'),
    }),
    generationId: z.string().optional().describe('Id of the request.'),
  }),
})

const finishReason = () =>
  closedObject('Why the response ended.', {
    unified: textField('The finish reason of the AI SDK.', 'stop'),
    raw: z.string().optional().meta({ description: 'The same as named by the gateway.', example: 'completed' }),
  })

const count = (what: string) => z.int().optional().meta({ description: what, example: 12 })

const usage = () =>
  closedObject('Token counts.', {
    inputTokens: closedObject('Input tokens.', {
      total: count('Total.'),
      noCache: count('Not cached.'),
      cacheRead: count('Read from a prompt cache.'),
      cacheWrite: count('Written to a prompt cache.'),
    }),
    outputTokens: closedObject('Output tokens.', {
      total: count('Total.'),
      text: count('Text of the response.'),
      reasoning: count('Reasoning.'),
    }),
    raw: z.looseObject({}).optional().describe('The same as named by the gateway.'),
  })

const metadata = () =>
  openObject('Data that the gateway adds.', {
    gateway: openObject('The id of the response, the provider that answered, its cost, and all warnings.', {}),
  })

const tokenPrice = (what: string) =>
  z
    .string()
    .optional()
    .meta({ description: `USD per ${what} token.`, example: '0.00000025' })

const languageModel = () =>
  z.object({
    id: textField('Canonical id.', 'gpt-5-mini'),
    name: textField('Display name.', 'GPT-5 mini'),
    pricing: z
      .object({
        input: tokenPrice('input'),
        output: tokenPrice('output'),
        input_cache_read: tokenPrice('cached input'),
        input_cache_write: tokenPrice('cache write'),
      })
      .optional()
      .describe('Its lowest price.'),
    specification: closedObject('The model as the AI SDK identifies it.', {
      specificationVersion: z.literal('v4').describe('Version of the specification.'),
      provider: textField('Its first provider.', 'groq'),
      modelId: textField('Canonical id.', 'gpt-5-mini'),
    }),
    modelType: z.literal('language').describe('Kind of model.'),
  })
