import { bodyCaps } from '@signalbox/core/protocol'
import * as z from 'zod/v4'
import { nonEmpty } from '../inference/gateway-schemas.ts'

// The body of `POST /v4/ai/language-model`: the call options of the AI SDK's language model specification.

const partOptions = () => z.unknown().optional().describe('Options by provider. A cache control of any provider marks a prefix to cache.')

const fileData = () =>
  z
    .union([
      z.looseObject({ type: z.literal('data').describe('The bytes.'), data: nonEmpty().describe('The bytes in base64.') }),
      z.looseObject({ type: z.literal('url').describe('A URL.'), url: nonEmpty().describe('The URL.') }),
      z.looseObject({ type: z.literal('text').describe('Plain text.'), text: z.string().describe('The text.') }),
    ])
    .describe('The content of the file.')

const textPart = () =>
  z.looseObject({ type: z.literal('text').describe('Text.'), text: z.string().describe('The text.'), providerOptions: partOptions() })

const filePart = () =>
  z.looseObject({
    type: z.literal('file').describe('An image, a document or audio.'),
    mediaType: nonEmpty().meta({ description: 'Media type, or only its first part.', example: 'image/png' }),
    data: fileData(),
    filename: z.string().nullish().describe('Name of the file.'),
    providerOptions: partOptions(),
  })

const customPart = (type: 'custom' | 'reasoning-file') =>
  z.looseObject({
    type: z.literal(type).describe('Provider-specific content. Content of this gateway is sent back; other content is dropped.'),
  })

const toolOutput = () =>
  z
    .union([
      z.looseObject({
        type: z.enum(['text', 'error-text']).describe('Text returned by a tool that succeeded or failed.'),
        value: z.string().describe('The text.'),
      }),
      z.looseObject({
        type: z.enum(['json', 'error-json']).describe('JSON returned by a tool that succeeded or failed.'),
        value: z.unknown().optional().describe('The value.'),
      }),
      z.looseObject({
        type: z.literal('execution-denied').describe('The user denied the execution of the tool.'),
        reason: z.string().nullish().describe('The reason.'),
      }),
      z.looseObject({
        type: z.literal('content').describe('Content parts.'),
        value: z
          .array(z.union([textPart(), filePart(), customPart('custom')]))
          .max(bodyCaps.entries)
          .describe('The parts.'),
      }),
    ])
    .describe('The result.')

const toolResult = () =>
  z.looseObject({
    type: z.literal('tool-result').describe('The result of a call.'),
    toolCallId: nonEmpty().describe('Id of the call.'),
    output: toolOutput(),
    providerOptions: partOptions(),
  })

const assistantPart = () =>
  z.union([
    textPart(),
    filePart(),
    z.looseObject({
      type: z.literal('reasoning').describe('Reasoning, as received.'),
      text: z.string().describe('The text.'),
      providerOptions: partOptions(),
    }),
    z.looseObject({
      type: z.literal('tool-call').describe('A tool call.'),
      toolCallId: nonEmpty().describe('Id of the call.'),
      toolName: nonEmpty().describe('Name of the tool.'),
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
      content: z.string().describe('The instructions.'),
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
      content: parts(
        z.union([
          toolResult(),
          z.looseObject({ type: z.literal('tool-approval-response').describe('Ignored, because the client runs its tools.') }),
        ]),
      ),
      providerOptions: partOptions(),
    }),
  ])

const tool = () =>
  z.union([
    z.looseObject({
      type: z.literal('function').describe('A function that the client runs.'),
      name: nonEmpty().describe('Name of the tool.'),
      description: z.string().nullish().describe('What it does.'),
      inputSchema: z.looseObject({}).describe('JSON Schema of its input.'),
      strict: z.boolean().nullish().describe('Whether the input must match the schema.'),
      providerOptions: partOptions(),
    }),
    z.looseObject({
      type: z.literal('provider').describe('A tool that a provider runs. It is dropped, with a warning.'),
      id: nonEmpty().describe('Id of the tool.'),
    }),
  ])

const format = () =>
  z
    .union([
      z.looseObject({ type: z.literal('text').describe('Text.') }),
      z.looseObject({
        type: z.literal('json').describe('JSON.'),
        schema: z.looseObject({}).nullish().describe('The JSON schema.'),
        name: nonEmpty().nullish().describe('Name of the schema.'),
        description: z.string().nullish().describe('Purpose of the schema.'),
      }),
    ])
    .nullish()
    .describe('Format of the response.')

const gatewayOptionsSchema = () =>
  z.looseObject({
    order: z.array(nonEmpty()).nullish().describe('Providers to try, in this order.'),
    only: z.array(nonEmpty()).nullish().describe('The only providers that may be used.'),
    sort: z.enum(['cost', 'tps', 'ttft']).nullish().describe('Criterion by which providers are ranked.'),
    models: z.array(nonEmpty()).nullish().describe('Models to try after that of the call.'),
    user: z.string().nullish().describe('Stored in the request log as `metadata.user`.'),
    tags: z.array(z.string()).nullish().describe('Stored in the request log as `metadata.tags`.'),
    zeroDataRetention: z.boolean().nullish().describe('Whether to use only providers with zero data retention.'),
  })

const optionalNumber = (what: string) => z.number().nullish().describe(what)

/** The call options. The model and whether to stream are in the headers `ai-language-model-id` and `ai-language-model-streaming`. */
export const languageModelCall = () =>
  z
    .looseObject({
      prompt: z.array(message()).min(1).max(bodyCaps.messages).describe('The conversation.'),
      maxOutputTokens: z.int().min(1).nullish().describe('Maximum number of output tokens.'),
      temperature: z.number().min(0).max(2).nullish().describe('Randomness of sampling.'),
      topP: z.number().min(0).max(1).nullish().describe('Probability mass of nucleus sampling.'),
      topK: z.int().nullish().describe('Number of candidate tokens to sample from.'),
      presencePenalty: optionalNumber('Penalty on tokens that have appeared.'),
      frequencyPenalty: optionalNumber('Penalty on tokens by how often they appeared.'),
      seed: z.int().nullish().describe('Seed for sampling.'),
      stopSequences: z.array(z.string()).nullish().describe('Sequences that end the response.'),
      responseFormat: format(),
      reasoning: z
        .enum(['provider-default', 'none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'])
        .nullish()
        .describe('Amount of reasoning.'),
      tools: z.array(tool()).max(bodyCaps.tools).nullish().describe('The tools of the model.'),
      toolChoice: z
        .union([
          z.looseObject({ type: z.enum(['auto', 'none', 'required']).describe('Whether tools may or must be called.') }),
          z.looseObject({ type: z.literal('tool').describe('One tool must be called.'), toolName: nonEmpty().describe('Its name.') }),
        ])
        .nullish()
        .describe('Which tools may be called.'),
      includeRawChunks: z.boolean().nullish().describe('Whether a stream also contains the raw chunks of the provider.'),
      providerOptions: z
        .looseObject({ gateway: gatewayOptionsSchema().nullish().describe('Options of the gateway.') })
        .nullish()
        .describe('Options by provider. Options for unknown providers cause a warning.'),
    })
    .describe('The call options of the AI SDK’s language model specification, version 4.')
