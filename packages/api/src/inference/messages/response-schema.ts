import * as z from 'zod/v4'
import { routingMetadata, warnings } from '../gateway-schemas.ts'

// The responses of `POST /v1/messages`: the message, the events of a stream, and errors.

const contentBlock = () =>
  z
    .union([
      z.looseObject({
        type: z.literal('text').describe('Text.'),
        text: z.string().describe('The text.'),
        citations: z.array(z.looseObject({})).nullish().describe('Citations; null if there are none.'),
      }),
      z.looseObject({
        type: z.literal('thinking').describe('Reasoning.'),
        thinking: z.string().describe('Text of the reasoning.'),
        signature: z.string().describe('Sealed state. Send it back with the block to continue the reasoning.'),
      }),
      z.looseObject({
        type: z.literal('redacted_thinking').describe('Reasoning that the provider does not show.'),
        data: z.string().describe('Sealed state.'),
      }),
      z.looseObject({
        type: z.literal('tool_use').describe('A tool call.'),
        id: z.string().describe('Id of the call, which its result refers to.'),
        name: z.string().describe('Name of the tool.'),
        input: z.looseObject({}).describe('Arguments.'),
      }),
      z.looseObject({
        type: z.string().meta({
          description: 'A block of the provider, passed on unchanged.',
          not: { enum: ['text', 'thinking', 'redacted_thinking', 'tool_use'] },
        }),
      }),
    ])
    .meta({ id: 'ContentBlock', description: 'A content block of the response.' })

const usage = () =>
  z
    .looseObject({
      input_tokens: z.int().meta({ description: 'Input tokens that were not cached.', example: 12 }),
      output_tokens: z.int().meta({ description: 'Output tokens, including reasoning.', example: 9 }),
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
      id: z.string().meta({ description: 'Id of the message.', example: 'msg_01a1fd6c4db376f2bb09734d779bb6f4' }),
      type: z.literal('message').describe('Type of the object.'),
      role: z.literal('assistant').describe('Always `assistant`.'),
      model: z.string().meta({ description: 'Model that answered.', example: 'claude-sonnet-4-5' }),
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
  z
    .object({ input_tokens: z.int().meta({ description: 'Input tokens of the request.', example: 12 }) })
    .describe('The input tokens of a request.')

const errorFields = () =>
  z
    .looseObject({
      type: z.string().describe('Kind of error.'),
      message: z.string().describe('What happened and how to fix it.'),
      code: z.string().optional().describe('Error code of the gateway.'),
      param: z.string().nullish().describe('Path of the invalid field, or null.'),
      suggestion: z.string().optional().describe('A suggestion, such as the nearest known name.'),
      provider: z.string().optional().describe('Provider that failed.'),
      attempts: z.array(z.looseObject({})).optional().describe('The providers that were tried, and how each failed.'),
    })
    .describe('The error.')

export const messagesError = () =>
  z
    .object({
      type: z.literal('error').describe('Type of the object.'),
      error: errorFields(),
      request_id: z.string().optional().describe('Id of the request.'),
    })
    .describe('An error in the format of the Messages API.')

const index = () => ({ index: z.int().describe('Index of the block in `content`.') })

/** The data of one server-sent event of a streamed message. */
const messageStreamEvent = ({ message, block, usage, routing, warnings }: MessageParts & { readonly message: z.ZodType }) =>
  z
    .union([
      z.looseObject({ type: z.literal('message_start').describe('Start of the response.'), message }),
      z.looseObject({ type: z.literal('content_block_start').describe('Start of a block.'), ...index(), content_block: block }),
      z.looseObject({
        type: z.literal('content_block_delta').describe('Content to append to a block.'),
        ...index(),
        delta: z
          .looseObject({
            type: z.string().describe('`text_delta`, `input_json_delta`, `thinking_delta`, `signature_delta` or `citations_delta`.'),
          })
          .describe('What to append.'),
      }),
      z.looseObject({ type: z.literal('content_block_stop').describe('End of a block.'), ...index() }),
      z.looseObject({
        type: z.literal('message_delta').describe('The stop reason and final usage.'),
        delta: z
          .looseObject({ stop_reason: z.string().nullable().describe('Why the response ended.') })
          .describe('The end of the response.'),
        usage,
        routing_metadata: routing.optional(),
        warnings,
      }),
      z.looseObject({ type: z.literal('message_stop').describe('The end of the stream.') }),
      z.looseObject({ type: z.literal('ping').describe('Keeps a silent stream open.') }),
      z.looseObject({ type: z.literal('error').describe('The stream failed.'), error: errorFields() }),
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
