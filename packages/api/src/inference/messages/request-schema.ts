import { bodyCaps } from '@signalbox/core/protocol'
import * as z from 'zod/v4'
import { extensionsField, gateway, modelField, modelRule, nonEmpty, otherType, passthrough, serviceTierField } from '../gateway-schemas.ts'

// The bodies of `POST /v1/messages` and `POST /v1/messages/count_tokens`.

const cacheControl = () =>
  z
    .looseObject({ ttl: z.enum(['5m', '1h']).nullish().describe('How long the provider keeps the prefix.') })
    .nullish()
    .describe('Marks the end of a prefix of the prompt that the provider may cache.')

const bytesSource = () =>
  z.looseObject({
    type: z.literal('base64').describe('The bytes.'),
    media_type: nonEmpty().describe('Media type, as in `image/png`.'),
    data: nonEmpty().describe('The bytes in base64.'),
  })

const urlSource = () => z.looseObject({ type: z.literal('url').describe('A URL.'), url: nonEmpty().describe('The https URL.') })

const otherSource = (known: readonly string[]) =>
  z.looseObject({ type: otherType(known).describe('Another source, as in an uploaded file. Only providers of this format can read it.') })

const textBlock = () =>
  z.looseObject({
    type: z.literal('text').describe('Text.'),
    text: z.string().describe('The text.'),
    citations: z.unknown().optional().describe('Citations of an earlier response.'),
    cache_control: cacheControl(),
  })

const imageBlock = () =>
  z.looseObject({
    type: z.literal('image').describe('An image.'),
    source: z.union([bytesSource(), urlSource(), otherSource(['base64', 'url'])]).describe('The image.'),
    cache_control: cacheControl(),
  })

const documentBlock = () =>
  z.looseObject({
    type: z.literal('document').describe('A document: PDF or plain text.'),
    source: z
      .union([
        bytesSource(),
        urlSource(),
        z.looseObject({ type: z.literal('text').describe('Plain text.'), data: z.string().describe('The text.') }),
        otherSource(['base64', 'url', 'text']),
      ])
      .describe('The document.'),
    title: z.string().nullish().describe('Title of the document.'),
    cache_control: cacheControl(),
  })

const partTypes = ['text', 'image', 'document']
const itemTypes = ['tool_use', 'tool_result', 'thinking', 'redacted_thinking']

const otherBlock = (known: readonly string[]) =>
  z.looseObject({ type: otherType(known).describe('Any other type is passed on unchanged.') })

const blocks = (block: z.ZodType) => z.array(block).max(bodyCaps.parts)

const partBlock = () =>
  z
    .union([textBlock(), imageBlock(), documentBlock(), otherBlock(partTypes)])
    .meta({ id: 'MessagesPart', description: 'Text, an image or a document.' })

const userBlock = (part: z.ZodType) =>
  z
    .union([
      textBlock(),
      imageBlock(),
      documentBlock(),
      z.looseObject({
        type: z.literal('tool_result').describe('The result of a tool call.'),
        tool_use_id: nonEmpty().describe('Id of the call.'),
        content: z
          .union([z.string(), blocks(part)])
          .nullish()
          .describe('The result as a string or as blocks.'),
        is_error: z.boolean().nullish().describe('Whether the tool failed.'),
        cache_control: cacheControl(),
      }),
      otherBlock([...partTypes, ...itemTypes]),
    ])
    .meta({ id: 'UserBlock', description: 'A content block of the user.' })

const assistantBlock = () =>
  z
    .union([
      textBlock(),
      imageBlock(),
      documentBlock(),
      z.looseObject({
        type: z.literal('tool_use').describe('A tool call.'),
        id: nonEmpty().describe('Id of the call, which its result refers to.'),
        name: nonEmpty().describe('Name of the tool.'),
        input: z.looseObject({}).nullish().describe('Arguments.'),
        cache_control: cacheControl(),
      }),
      z.looseObject({
        type: z.literal('thinking').describe('Reasoning.'),
        thinking: z.string().nullish().describe('Text of the reasoning.'),
        signature: z.string().nullish().describe('State sealed by the gateway, which only the gateway can read.'),
      }),
      z.looseObject({
        type: z.literal('redacted_thinking').describe('Reasoning that the provider does not show.'),
        data: nonEmpty().describe('State sealed by the gateway, which only the gateway can read.'),
      }),
      otherBlock([...partTypes, ...itemTypes]),
    ])
    .meta({ id: 'AssistantBlock', description: 'A content block of an earlier response.' })

const requestMessage = (part: z.ZodType) =>
  z
    .union([
      z.looseObject({
        role: z.literal('user').describe('The user.'),
        content: z.union([z.string(), blocks(userBlock(part))]).describe('A string, or blocks.'),
      }),
      z.looseObject({
        role: z.literal('assistant').describe('An earlier response.'),
        content: z.union([z.string(), blocks(assistantBlock())]).describe('A string, or blocks.'),
      }),
      z.looseObject({
        role: z.literal('system').describe('Instructions within the conversation.'),
        content: z
          .union([z.string(), blocks(z.union([textBlock(), imageBlock(), documentBlock(), otherBlock([...partTypes, ...itemTypes])]))])
          .describe('A string, or blocks.'),
      }),
    ])
    .meta({ id: 'RequestMessage', description: 'A message of the conversation.' })

const tool = () =>
  z
    .union([
      z.looseObject({
        type: z.literal('custom').nullish().describe('A tool that the client runs.'),
        name: nonEmpty().describe('Name that the model uses to call it.'),
        description: z.string().nullish().describe('What it does, and when to call it.'),
        input_schema: z.looseObject({}).describe('JSON schema of its arguments.'),
        strict: z.boolean().nullish().describe('Whether arguments must match the schema.'),
        cache_control: cacheControl(),
      }),
      z.looseObject({ type: otherType(['custom']).describe('A tool of the provider, passed on unchanged.') }),
    ])
    .meta({ id: 'MessagesTool', description: 'A tool that the model may call.' })

const parallelSwitch = () => z.boolean().nullish().describe('Whether at most one tool may be called at a time.')

const toolChoice = () =>
  z.union([
    z.looseObject({
      type: z.literal('tool').describe('A specific tool.'),
      name: nonEmpty().describe('Name of the tool.'),
      disable_parallel_tool_use: parallelSwitch(),
    }),
    z.looseObject({
      type: otherType(['tool']).min(1).describe('`auto`, `any` or `none`.'),
      disable_parallel_tool_use: parallelSwitch(),
    }),
  ])

const thinking = () => {
  const display = () => z.string().nullish().describe('Whether the reasoning is shown: `summarized` or `omitted`.')
  return z.union([
    z.looseObject({
      type: z.literal('enabled').describe('Reason within a token budget.'),
      budget_tokens: z.int().min(1).describe('Maximum number of reasoning tokens.'),
      display: display(),
    }),
    z.looseObject({
      type: otherType(['enabled']).min(1).describe('`adaptive`: the model decides how much to reason. `disabled`: no reasoning.'),
      display: display(),
    }),
  ])
}

const outputConfig = () =>
  z.looseObject({
    effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).nullish().describe('Amount of reasoning.'),
    format: z
      .looseObject({
        type: z.literal('json_schema').describe('JSON that matches a schema.'),
        schema: z.looseObject({}).describe('The JSON schema.'),
      })
      .nullish()
      .describe('Format of the response. Default: text.'),
  })

const commonFields = () => {
  const part = partBlock()
  return {
    model: modelField(),
    messages: z.array(requestMessage(part)).min(1).max(bodyCaps.messages).describe('The conversation.'),
    system: z
      .union([z.string(), z.array(part)])
      .nullish()
      .describe('System instructions.'),
    tools: z.array(tool()).max(bodyCaps.tools).nullish().describe('Tools that the model may call.'),
    tool_choice: toolChoice().nullish().describe('Whether the model calls a tool, and which. Default: `auto`.'),
    thinking: thinking().nullish().describe('Whether and how much the model reasons.'),
    output_config: outputConfig().nullish().describe('Options of the response.'),
    stop_sequences: z.array(nonEmpty()).nullish().describe('Sequences that end the response.'),
    temperature: z.number().min(0).max(1).nullish().describe('Sampling temperature.'),
    top_p: z.number().min(0).max(1).nullish().describe('Probability mass of nucleus sampling.'),
    top_k: z.int().min(0).nullish().describe('Number of candidate tokens to sample from.'),
    metadata: z
      .looseObject({ user_id: z.string().nullish().describe('Identifier of the end user.') })
      .meta({ maxProperties: bodyCaps.metadata })
      .nullish()
      .describe('Metadata of the request.'),
    service_tier: serviceTierField(),
    gateway: gateway(),
    extensions: extensionsField(),
  }
}

const example = { model: 'claude-sonnet-4-5', messages: [{ role: 'user', content: 'Name three primes.' }] }

export const createMessage = () =>
  z
    .looseObject({
      ...commonFields(),
      max_tokens: z.int().min(1).describe('Maximum number of output tokens, including reasoning.'),
      stream: z.boolean().nullish().describe('Whether to send the response as server-sent events. Default: false.'),
    })
    .meta({ description: passthrough, example: { ...example, max_tokens: 1024 }, ...modelRule })

export const countTokens = () =>
  z
    .looseObject({
      ...commonFields(),
      max_tokens: z.int().min(1).nullish().describe('Maximum number of output tokens. Used to derive the reasoning budget.'),
    })
    .meta({ description: passthrough, example, ...modelRule })
