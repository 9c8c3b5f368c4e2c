import { bodyCaps } from '@signalbox/dialects/protocol'
import * as z from 'zod/v4'
import {
  closedObject,
  integerField,
  namedUnion,
  nonEmpty,
  openObject,
  optionalFlag,
  optionalList,
  optionalObject,
  optionalText,
  otherType,
  otherVariant,
  textField,
  unionField,
  variant,
} from '../schema-fields.ts'
import {
  extensionsField,
  gateway,
  modelField,
  modelRule,
  passthrough,
  routingMetadata,
  serviceTierField,
  warnings,
} from './gateway-schemas.ts'

// The bodies of `POST /v1/messages` and `POST /v1/messages/count_tokens`.

const cacheControl = () =>
  optionalObject('Marks the end of a prefix of the prompt that the provider may cache.', {
    ttl: z.enum(['5m', '1h']).nullish().describe('How long the provider keeps the prefix.'),
  })

const bytesSource = () =>
  variant('base64', 'The bytes.', { media_type: nonEmpty('Media type, as in `image/png`.'), data: nonEmpty('The bytes in base64.') })

const urlSource = () => variant('url', 'A URL.', { url: nonEmpty('The https URL.') })

const otherSource = (known: readonly string[]) =>
  otherVariant(known, 'Another source, as in an uploaded file. Only providers of this format can read it.')

const textBlock = () =>
  variant('text', 'Text.', {
    text: textField('The text.'),
    citations: z.unknown().optional().describe('Citations of an earlier response.'),
    cache_control: cacheControl(),
  })

const imageBlock = () =>
  variant('image', 'An image.', {
    source: unionField('The image.', [bytesSource(), urlSource(), otherSource(['base64', 'url'])]),
    cache_control: cacheControl(),
  })

const documentBlock = () =>
  variant('document', 'A document: PDF or plain text.', {
    source: unionField('The document.', [
      bytesSource(),
      urlSource(),
      variant('text', 'Plain text.', { data: textField('The text.') }),
      otherSource(['base64', 'url', 'text']),
    ]),
    title: optionalText('Title of the document.'),
    cache_control: cacheControl(),
  })

const partTypes = ['text', 'image', 'document']
const itemTypes = ['tool_use', 'tool_result', 'thinking', 'redacted_thinking']

const otherBlock = (known: readonly string[]) => otherVariant(known, 'Any other type is passed on unchanged.')

const blocks = (block: z.ZodType) => z.array(block).max(bodyCaps.parts)

const partBlock = () =>
  namedUnion('MessagesPart', 'Text, an image or a document.', [textBlock(), imageBlock(), documentBlock(), otherBlock(partTypes)])

const userBlock = (part: z.ZodType) =>
  namedUnion('UserBlock', 'A content block of the user.', [
    textBlock(),
    imageBlock(),
    documentBlock(),
    variant('tool_result', 'The result of a tool call.', {
      tool_use_id: nonEmpty('Id of the call.'),
      content: z
        .union([z.string(), blocks(part)])
        .nullish()
        .describe('The result as a string or as blocks.'),
      is_error: optionalFlag('Whether the tool failed.'),
      cache_control: cacheControl(),
    }),
    otherBlock([...partTypes, ...itemTypes]),
  ])

const assistantBlock = () =>
  namedUnion('AssistantBlock', 'A content block of an earlier response.', [
    textBlock(),
    imageBlock(),
    documentBlock(),
    variant('tool_use', 'A tool call.', {
      id: nonEmpty('Id of the call, which its result refers to.'),
      name: nonEmpty('Name of the tool.'),
      input: optionalObject('Arguments.', {}),
      cache_control: cacheControl(),
    }),
    variant('thinking', 'Reasoning.', {
      thinking: optionalText('Text of the reasoning.'),
      signature: optionalText('State sealed by the gateway, which only the gateway can read.'),
    }),
    variant('redacted_thinking', 'Reasoning that the provider does not show.', {
      data: nonEmpty('State sealed by the gateway, which only the gateway can read.'),
    }),
    otherBlock([...partTypes, ...itemTypes]),
  ])

const requestMessage = (part: z.ZodType) =>
  namedUnion('RequestMessage', 'A message of the conversation.', [
    z.looseObject({
      role: z.literal('user').describe('The user.'),
      content: unionField('A string, or blocks.', [z.string(), blocks(userBlock(part))]),
    }),
    z.looseObject({
      role: z.literal('assistant').describe('An earlier response.'),
      content: unionField('A string, or blocks.', [z.string(), blocks(assistantBlock())]),
    }),
    z.looseObject({
      role: z.literal('system').describe('Instructions within the conversation.'),
      content: unionField('A string, or blocks.', [
        z.string(),
        blocks(z.union([textBlock(), imageBlock(), documentBlock(), otherBlock([...partTypes, ...itemTypes])])),
      ]),
    }),
  ])

const tool = () =>
  namedUnion('MessagesTool', 'A tool that the model may call.', [
    z.looseObject({
      type: z.literal('custom').nullish().describe('A tool that the client runs.'),
      name: nonEmpty('Name that the model uses to call it.'),
      description: optionalText('What it does, and when to call it.'),
      input_schema: openObject('JSON schema of its arguments.', {}),
      strict: optionalFlag('Whether arguments must match the schema.'),
      cache_control: cacheControl(),
    }),
    otherVariant(['custom'], 'A tool of the provider, passed on unchanged.'),
  ])

const parallelSwitch = () => optionalFlag('Whether at most one tool may be called at a time.')

const toolChoice = () =>
  z.union([
    variant('tool', 'A specific tool.', { name: nonEmpty('Name of the tool.'), disable_parallel_tool_use: parallelSwitch() }),
    z.looseObject({
      type: otherType(['tool']).min(1).describe('`auto`, `any` or `none`.'),
      disable_parallel_tool_use: parallelSwitch(),
    }),
  ])

const thinking = () => {
  const display = () => optionalText('Whether the reasoning is shown: `summarized` or `omitted`.')
  return z.union([
    variant('enabled', 'Reason within a token budget.', {
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
    format: variant('json_schema', 'JSON that matches a schema.', { schema: openObject('The JSON schema.', {}) })
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
    stop_sequences: optionalList('Sequences that end the response.', nonEmpty()),
    temperature: z.number().min(0).max(1).nullish().describe('Sampling temperature.'),
    top_p: z.number().min(0).max(1).nullish().describe('Probability mass of nucleus sampling.'),
    top_k: z.int().min(0).nullish().describe('Number of candidate tokens to sample from.'),
    metadata: z
      .looseObject({ user_id: optionalText('Identifier of the end user.') })
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
      stream: optionalFlag('Whether to send the response as server-sent events. Default: false.'),
    })
    .meta({ description: passthrough, example: { ...example, max_tokens: 1024 }, ...modelRule })

export const countTokens = () =>
  z
    .looseObject({
      ...commonFields(),
      max_tokens: z.int().min(1).nullish().describe('Maximum number of output tokens. Used to derive the reasoning budget.'),
    })
    .meta({ description: passthrough, example, ...modelRule })

// The responses of `POST /v1/messages`: the message, the events of a stream, and errors.

const contentBlock = () =>
  namedUnion('ContentBlock', 'A content block of the response.', [
    variant('text', 'Text.', {
      text: textField('The text.'),
      citations: optionalList('Citations; null if there are none.', z.looseObject({})),
    }),
    variant('thinking', 'Reasoning.', {
      thinking: textField('Text of the reasoning.'),
      signature: textField('Sealed state. Send it back with the block to continue the reasoning.'),
    }),
    variant('redacted_thinking', 'Reasoning that the provider does not show.', { data: textField('Sealed state.') }),
    variant('tool_use', 'A tool call.', {
      id: textField('Id of the call, which its result refers to.'),
      name: textField('Name of the tool.'),
      input: openObject('Arguments.', {}),
    }),
    otherVariant(['text', 'thinking', 'redacted_thinking', 'tool_use'], 'A block of the provider, passed on unchanged.'),
  ])

const usage = () =>
  z
    .looseObject({
      input_tokens: integerField('Input tokens that were not cached.', 12),
      output_tokens: integerField('Output tokens, including reasoning.', 9),
      cache_creation_input_tokens: z.int().nullish().meta({ description: 'Input tokens written to the prompt cache.', example: 0 }),
      cache_read_input_tokens: z.int().nullish().meta({ description: 'Input tokens read from the prompt cache.', example: 0 }),
    })
    .meta({ id: 'MessagesUsage', description: 'Token counts.' })

interface MessageParts {
  readonly block: z.ZodType
  readonly usage: z.ZodType
  readonly routing: z.ZodType
  readonly warnings: z.ZodType
}

const messageObject = ({ block, usage, routing, warnings }: MessageParts) =>
  z
    .looseObject({
      id: textField('Id of the message.', 'msg_01a1fd6c4db376f2bb09734d779bb6f4'),
      type: z.literal('message').describe('Type of the object.'),
      role: z.literal('assistant').describe('Always `assistant`.'),
      model: textField('Model that answered.', 'claude-sonnet-4-5'),
      content: z
        .array(block)
        .meta({ description: 'Content blocks of the response.', example: [{ type: 'text', text: '2, 3 and 5.', citations: null }] }),
      stop_reason: z.string().nullable().meta({ description: 'Why the response ended; null while it is streamed.', example: 'end_turn' }),
      stop_sequence: z.string().nullable().meta({ description: 'The stop sequence that ended the response.', example: null }),
      usage,
      routing_metadata: routing.optional(),
      warnings,
    })
    .meta({ id: 'Message', description: 'A response of a model.' })

export const tokenCount = () =>
  closedObject('The input tokens of a request.', { input_tokens: integerField('Input tokens of the request.', 12) })

const errorFields = () =>
  openObject('The error.', {
    type: textField('Kind of error.'),
    message: textField('What happened and how to fix it.'),
    code: z.string().optional().describe('Error code of the gateway.'),
    param: optionalText('Path of the invalid field, or null.'),
    suggestion: z.string().optional().describe('A suggestion, such as the nearest known name.'),
    provider: z.string().optional().describe('Provider that failed.'),
    attempts: z.array(z.looseObject({})).optional().describe('The providers that were tried, and how each failed.'),
  })

export const messagesError = () =>
  closedObject('An error in the format of the Messages API.', {
    type: z.literal('error').describe('Type of the object.'),
    error: errorFields(),
    request_id: z.string().optional().describe('Id of the request.'),
  })

const index = () => ({ index: integerField('Index of the block in `content`.') })

/** The data of one server-sent event of a streamed message. */
const messageStreamEvent = ({ message, block, usage, routing, warnings }: MessageParts & { readonly message: z.ZodType }) =>
  z
    .union([
      variant('message_start', 'Start of the response.', { message }),
      variant('content_block_start', 'Start of a block.', { ...index(), content_block: block }),
      variant('content_block_delta', 'Content to append to a block.', {
        ...index(),
        delta: openObject('What to append.', {
          type: textField('`text_delta`, `input_json_delta`, `thinking_delta`, `signature_delta` or `citations_delta`.'),
        }),
      }),
      variant('content_block_stop', 'End of a block.', { ...index() }),
      variant('message_delta', 'The stop reason and final usage.', {
        delta: openObject('The end of the response.', { stop_reason: z.string().nullable().describe('Why the response ended.') }),
        usage,
        routing_metadata: routing.optional(),
        warnings,
      }),
      variant('message_stop', 'The end of the stream.'),
      variant('ping', 'Keeps a silent stream open.'),
      variant('error', 'The stream failed.', { error: errorFields() }),
    ])
    .meta({
      description: 'The data of one server-sent event. The last one is `message_stop` or `error`.',
      example: { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: '2, 3' } },
    })

export const messagesSchemas = () => {
  const parts: MessageParts = { block: contentBlock(), usage: usage(), routing: routingMetadata(), warnings: warnings() }
  const message = messageObject(parts)
  return { Message: message, MessageStreamEvent: messageStreamEvent({ ...parts, message }) }
}
