import { bodyCaps } from '@signalbox/dialects/protocol'
import * as z from 'zod/v4'
import {
  closedObject,
  listField,
  nonEmpty,
  openObject,
  optionalFlag,
  optionalList,
  optionalObject,
  optionalText,
  textField,
  unionField,
  variant,
} from '../schema-fields.ts'

// The body of `POST /v4/ai/language-model`: the call options of the AI SDK's language model specification.

const partOptions = () => z.unknown().optional().describe('Options by provider. A cache control of any provider marks a prefix to cache.')

const fileData = () =>
  unionField('The content of the file.', [
    variant('data', 'The bytes.', { data: nonEmpty('The bytes in base64.') }),
    variant('url', 'A URL.', { url: nonEmpty('The URL.') }),
    variant('text', 'Plain text.', { text: textField('The text.') }),
  ])

const textPart = () => variant('text', 'Text.', { text: textField('The text.'), providerOptions: partOptions() })

const filePart = () =>
  variant('file', 'An image, a document or audio.', {
    mediaType: nonEmpty().meta({ description: 'Media type, or only its first part.', example: 'image/png' }),
    data: fileData(),
    filename: optionalText('Name of the file.'),
    providerOptions: partOptions(),
  })

const customPart = (type: 'custom' | 'reasoning-file') =>
  variant(type, 'Provider-specific content. Content of this gateway is sent back; other content is dropped.')

const toolOutput = () =>
  unionField('The result.', [
    z.looseObject({
      type: z.enum(['text', 'error-text']).describe('Text returned by a tool that succeeded or failed.'),
      value: textField('The text.'),
    }),
    z.looseObject({
      type: z.enum(['json', 'error-json']).describe('JSON returned by a tool that succeeded or failed.'),
      value: z.unknown().optional().describe('The value.'),
    }),
    variant('execution-denied', 'The user denied the execution of the tool.', { reason: optionalText('The reason.') }),
    variant('content', 'Content parts.', {
      value: z
        .array(z.union([textPart(), filePart(), customPart('custom')]))
        .max(bodyCaps.entries)
        .describe('The parts.'),
    }),
  ])

const toolResult = () =>
  variant('tool-result', 'The result of a call.', {
    toolCallId: nonEmpty('Id of the call.'),
    output: toolOutput(),
    providerOptions: partOptions(),
  })

const assistantPart = () =>
  z.union([
    textPart(),
    filePart(),
    variant('reasoning', 'Reasoning, as received.', { text: textField('The text.'), providerOptions: partOptions() }),
    variant('tool-call', 'A tool call.', {
      toolCallId: nonEmpty('Id of the call.'),
      toolName: nonEmpty('Name of the tool.'),
      input: z.unknown().optional().describe('The arguments.'),
      providerOptions: partOptions(),
    }),
    toolResult(),
    customPart('custom'),
    customPart('reasoning-file'),
  ])

const parts = (part: z.ZodType) => z.array(part).max(bodyCaps.parts).describe('The parts of the message.')

const message = () =>
  z.union([
    z.looseObject({
      role: z.literal('system').describe('Instructions.'),
      content: textField('The instructions.'),
      providerOptions: partOptions(),
    }),
    z.looseObject({
      role: z.literal('user').describe('The user.'),
      content: parts(z.union([textPart(), filePart()])),
      providerOptions: partOptions(),
    }),
    z.looseObject({ role: z.literal('assistant').describe('The model.'), content: parts(assistantPart()), providerOptions: partOptions() }),
    z.looseObject({
      role: z.literal('tool').describe('Tool results.'),
      content: parts(z.union([toolResult(), variant('tool-approval-response', 'Ignored, because the client runs its tools.')])),
      providerOptions: partOptions(),
    }),
  ])

const tool = () =>
  z.union([
    variant('function', 'A function that the client runs.', {
      name: nonEmpty('Name of the tool.'),
      description: optionalText('What it does.'),
      inputSchema: openObject('JSON Schema of its input.', {}),
      strict: optionalFlag('Whether the input must match the schema.'),
      providerOptions: partOptions(),
    }),
    variant('provider', 'A tool that a provider runs. It is dropped, with a warning.', { id: nonEmpty('Id of the tool.') }),
  ])

const format = () =>
  z
    .union([
      variant('text', 'Text.'),
      variant('json', 'JSON.', {
        schema: optionalObject('The JSON schema.', {}),
        name: nonEmpty().nullish().describe('Name of the schema.'),
        description: optionalText('Purpose of the schema.'),
      }),
    ])
    .nullish()
    .describe('Format of the response.')

const gatewayOptionsSchema = () =>
  z.looseObject({
    order: optionalList('Providers to try, in this order.', nonEmpty()),
    only: optionalList('The only providers that may be used.', nonEmpty()),
    sort: z.enum(['cost', 'tps', 'ttft']).nullish().describe('Criterion by which providers are ranked.'),
    models: optionalList('Models to try after that of the call.', nonEmpty()),
    user: optionalText('Stored in the request log as `metadata.user`.'),
    tags: optionalList('Stored in the request log as `metadata.tags`.', z.string()),
    zeroDataRetention: optionalFlag('Whether to use only providers with zero data retention.'),
  })

const optionalNumber = (what: string) => z.number().nullish().describe(what)

/** The call options. The model and whether to stream are in the headers `ai-language-model-id` and `ai-language-model-streaming`. */
export const languageModelCall = () =>
  openObject('The call options of the AI SDK’s language model specification, version 4.', {
    prompt: z.array(message()).min(1).max(bodyCaps.messages).describe('The conversation.'),
    maxOutputTokens: z.int().min(1).nullish().describe('Maximum number of output tokens.'),
    temperature: z.number().min(0).max(2).nullish().describe('Randomness of sampling.'),
    topP: z.number().min(0).max(1).nullish().describe('Probability mass of nucleus sampling.'),
    topK: z.int().nullish().describe('Number of candidate tokens to sample from.'),
    presencePenalty: optionalNumber('Penalty on tokens that have appeared.'),
    frequencyPenalty: optionalNumber('Penalty on tokens by how often they appeared.'),
    seed: z.int().nullish().describe('Seed for sampling.'),
    stopSequences: optionalList('Sequences that end the response.', z.string()),
    responseFormat: format(),
    reasoning: z
      .enum(['provider-default', 'none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'])
      .nullish()
      .describe('Amount of reasoning.'),
    tools: z.array(tool()).max(bodyCaps.tools).nullish().describe('The tools of the model.'),
    toolChoice: z
      .union([
        z.looseObject({ type: z.enum(['auto', 'none', 'required']).describe('Whether tools may or must be called.') }),
        variant('tool', 'One tool must be called.', { toolName: nonEmpty('Its name.') }),
      ])
      .nullish()
      .describe('Which tools may be called.'),
    includeRawChunks: optionalFlag('Whether a stream also contains the raw chunks of the provider.'),
    providerOptions: optionalObject('Options by provider. Options for unknown providers cause a warning.', {
      gateway: gatewayOptionsSchema().nullish().describe('Options of the gateway.'),
    }),
  })

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
