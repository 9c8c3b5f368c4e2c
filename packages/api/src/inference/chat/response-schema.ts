import * as z from 'zod/v4'
import { routingMetadata, serviceTierField, warnings } from '../gateway-schemas.ts'

// The responses of `POST /v1/chat/completions`: the completion, and the chunks of a stream.

const usage = () =>
  z
    .looseObject({
      prompt_tokens: z.int().meta({ description: 'Input tokens, including cached ones.', example: 12 }),
      completion_tokens: z.int().meta({ description: 'Output tokens, including reasoning.', example: 9 }),
      total_tokens: z.int().meta({ description: 'Input and output tokens.', example: 21 }),
      prompt_tokens_details: z
        .looseObject({
          cached_tokens: z.int().meta({ description: 'Input tokens read from the prompt cache.', example: 0 }),
          cache_write_tokens: z.int().optional().meta({ description: 'Input tokens written to the prompt cache.', example: 0 }),
        })
        .optional()
        .describe('Parts of the input.'),
      completion_tokens_details: z
        .looseObject({ reasoning_tokens: z.int().meta({ description: 'Output tokens of reasoning.', example: 0 }) })
        .optional()
        .describe('Parts of the output.'),
    })
    .meta({ id: 'ChatUsage', description: 'Token counts.' })

const call = () =>
  z
    .looseObject({
      name: z.string().optional().describe('Name of the tool.'),
      arguments: z.string().optional().describe('Arguments as JSON text.'),
    })
    .optional()
    .describe('A function call.')

const customCall = () => z.looseObject({}).optional().describe('A call of a custom tool: `name` and `input`.')

const extra = () => ({
  annotations: z
    .array(z.looseObject({ type: z.string().describe('`url_citation`.') }))
    .optional()
    .describe('Citations.'),
  images: z
    .array(z.looseObject({ type: z.string().describe('`image_url`.') }))
    .optional()
    .describe('Images that the model generated: `image_url.url` is a data URL or an https URL.'),
  reasoning_content: z.string().optional().describe('Reasoning of the model.'),
  reasoning_details: z
    .array(z.looseObject({}))
    .optional()
    .describe('Sealed state. Send it back with the message to continue the reasoning.'),
})

const finishReason = () => z.enum(['stop', 'length', 'tool_calls', 'content_filter'])
const logprobs = () => z.looseObject({}).nullish().describe('Log probabilities, if requested.')
const systemFingerprint = () => z.string().nullish().describe('Version of the model, if the provider reports it.')

export const chatCompletion = () =>
  z
    .looseObject({
      id: z.string().meta({ description: 'Id of the completion.', example: 'chatcmpl-01a1fd6c4db376f2bb09734d779bb6f4' }),
      object: z.literal('chat.completion').describe('Type of the object.'),
      created: z.int().meta({ description: 'Unix time of creation, in seconds.', example: 1_893_456_000 }),
      model: z.string().meta({ description: 'Model that answered.', example: 'gpt-5-mini' }),
      choices: z
        .array(
          z.looseObject({
            index: z.int().meta({ description: 'Always 0.', example: 0 }),
            message: z
              .looseObject({
                role: z.literal('assistant').describe('Always `assistant`.'),
                content: z
                  .string()
                  .nullable()
                  .meta({ description: 'Text of the response; null if there is none.', example: '2, 3 and 5.' }),
                refusal: z.string().nullish().describe('Text of a refusal.'),
                tool_calls: z
                  .array(
                    z.looseObject({
                      id: z.string().describe('Id of the call, which its result refers to.'),
                      type: z.string().describe('`function` or `custom`.'),
                      function: call(),
                      custom: customCall(),
                    }),
                  )
                  .optional()
                  .describe('Tools that the model calls.'),
                ...extra(),
              })
              .describe('The message.'),
            finish_reason: finishReason().describe('Why the response ended.'),
            logprobs: logprobs(),
          }),
        )
        .describe('The only choice.'),
      usage: usage().optional(),
      service_tier: serviceTierField(),
      system_fingerprint: systemFingerprint(),
      routing_metadata: routingMetadata().optional(),
      warnings: warnings(),
    })
    .describe('A chat completion.')

/** The data of one server-sent event of a streamed chat completion. */
export const chatCompletionChunk = () =>
  z
    .union([
      z.looseObject({
        id: z.string().describe('Id of the completion.'),
        object: z.literal('chat.completion.chunk').describe('Type of the object.'),
        created: z.int().describe('Unix time of creation, in seconds.'),
        model: z.string().describe('Model that answers.'),
        choices: z
          .array(
            z.looseObject({
              index: z.int().describe('Always 0.'),
              delta: z
                .looseObject({
                  role: z.literal('assistant').optional().describe('In the first chunk.'),
                  content: z.string().optional().describe('Text to append to the content.'),
                  refusal: z.string().nullish().describe('Text to append to the refusal.'),
                  tool_calls: z
                    .array(
                      z.looseObject({
                        index: z.int().describe('Index of the call.'),
                        id: z.string().optional().describe('Id of the call, in its first chunk.'),
                        type: z.string().optional().describe('`function` or `custom`, in its first chunk.'),
                        function: call(),
                        custom: customCall(),
                      }),
                    )
                    .optional()
                    .describe('What to append to tool calls.'),
                  ...extra(),
                })
                .describe('What to append to the message.'),
              finish_reason: finishReason().nullable().describe('Why the response ended; null until then.'),
              logprobs: logprobs(),
            }),
          )
          .describe('The only choice. Empty in a chunk that contains only the usage.'),
        usage: usage().nullish().describe('Token counts in the last chunk, if `stream_options.include_usage` is set.'),
        service_tier: serviceTierField(),
        system_fingerprint: systemFingerprint(),
        routing_metadata: routingMetadata().optional(),
        warnings: warnings(),
      }),
      z.looseObject({ error: z.looseObject({ message: z.string().describe('What went wrong.') }).describe('Why the stream failed.') }),
      z.literal('[DONE]').describe('The end of the stream, as plain text.'),
    ])
    .meta({
      description: 'The data of one server-sent event. The last one is `[DONE]`, or a chunk with `error`.',
      example: {
        id: 'chatcmpl-1',
        object: 'chat.completion.chunk',
        created: 1_893_456_000,
        model: 'gpt-5-mini',
        choices: [{ index: 0, delta: { content: '2, 3' }, logprobs: null, finish_reason: null }],
      },
    })
