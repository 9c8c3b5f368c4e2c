import * as z from 'zod/v4'
import { integerField, listField, openObject, optionalObject, optionalText, textField } from '../../schema-fields.ts'
import { inputDetails, outputDetails, routingMetadata, serviceTierField, warnings } from '../gateway-schemas.ts'

// The responses of `POST /v1/chat/completions`: the completion, and the chunks of a stream.

const usage = () =>
  z
    .looseObject({
      prompt_tokens: integerField('Input tokens, including cached ones.', 12),
      completion_tokens: integerField('Output tokens, including reasoning.', 9),
      total_tokens: integerField('Input and output tokens.', 21),
      prompt_tokens_details: inputDetails(),
      completion_tokens_details: outputDetails(),
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
    .array(z.looseObject({ type: textField('`url_citation`.') }))
    .optional()
    .describe('Citations.'),
  images: z
    .array(z.looseObject({ type: textField('`image_url`.') }))
    .optional()
    .describe('Images that the model generated: `image_url.url` is a data URL or an https URL.'),
  reasoning_content: z.string().optional().describe('Reasoning of the model.'),
  reasoning_details: z
    .array(z.looseObject({}))
    .optional()
    .describe('Sealed state. Send it back with the message to continue the reasoning.'),
})

const finishReason = () => z.enum(['stop', 'length', 'tool_calls', 'content_filter'])
const logprobs = () => optionalObject('Log probabilities, if requested.', {})
const systemFingerprint = () => optionalText('Version of the model, if the provider reports it.')

export const chatCompletion = () =>
  openObject('A chat completion.', {
    id: textField('Id of the completion.', 'chatcmpl-01a1fd6c4db376f2bb09734d779bb6f4'),
    object: z.literal('chat.completion').describe('Type of the object.'),
    created: integerField('Unix time of creation, in seconds.', 1_893_456_000),
    model: textField('Model that answered.', 'gpt-5-mini'),
    choices: listField(
      'The only choice.',
      z.looseObject({
        index: integerField('Always 0.', 0),
        message: openObject('The message.', {
          role: z.literal('assistant').describe('Always `assistant`.'),
          content: z.string().nullable().meta({ description: 'Text of the response; null if there is none.', example: '2, 3 and 5.' }),
          refusal: optionalText('Text of a refusal.'),
          tool_calls: z
            .array(
              z.looseObject({
                id: textField('Id of the call, which its result refers to.'),
                type: textField('`function` or `custom`.'),
                function: call(),
                custom: customCall(),
              }),
            )
            .optional()
            .describe('Tools that the model calls.'),
          ...extra(),
        }),
        finish_reason: finishReason().describe('Why the response ended.'),
        logprobs: logprobs(),
      }),
    ),
    usage: usage().optional(),
    service_tier: serviceTierField(),
    system_fingerprint: systemFingerprint(),
    routing_metadata: routingMetadata().optional(),
    warnings: warnings(),
  })

/** The data of one server-sent event of a streamed chat completion. */
export const chatCompletionChunk = () =>
  z
    .union([
      z.looseObject({
        id: textField('Id of the completion.'),
        object: z.literal('chat.completion.chunk').describe('Type of the object.'),
        created: integerField('Unix time of creation, in seconds.'),
        model: textField('Model that answers.'),
        choices: listField(
          'The only choice. Empty in a chunk that contains only the usage.',
          z.looseObject({
            index: integerField('Always 0.'),
            delta: openObject('What to append to the message.', {
              role: z.literal('assistant').optional().describe('In the first chunk.'),
              content: z.string().optional().describe('Text to append to the content.'),
              refusal: optionalText('Text to append to the refusal.'),
              tool_calls: z
                .array(
                  z.looseObject({
                    index: integerField('Index of the call.'),
                    id: z.string().optional().describe('Id of the call, in its first chunk.'),
                    type: z.string().optional().describe('`function` or `custom`, in its first chunk.'),
                    function: call(),
                    custom: customCall(),
                  }),
                )
                .optional()
                .describe('What to append to tool calls.'),
              ...extra(),
            }),
            finish_reason: finishReason().nullable().describe('Why the response ended; null until then.'),
            logprobs: logprobs(),
          }),
        ),
        usage: usage().nullish().describe('Token counts in the last chunk, if `stream_options.include_usage` is set.'),
        service_tier: serviceTierField(),
        system_fingerprint: systemFingerprint(),
        routing_metadata: routingMetadata().optional(),
        warnings: warnings(),
      }),
      z.looseObject({ error: openObject('Why the stream failed.', { message: textField('What went wrong.') }) }),
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
