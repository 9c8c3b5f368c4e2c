import * as z from 'zod/v4'
import {
  closedObject,
  integerField,
  namedUnion,
  openObject,
  optionalList,
  optionalText,
  otherVariant,
  textField,
  variant,
} from '../../schema-fields.ts'
import { routingMetadata, warnings } from '../gateway-schemas.ts'

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
