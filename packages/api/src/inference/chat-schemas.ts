import { bodyCaps } from '@signalbox/dialects/protocol'
import * as z from 'zod/v4'
import {
  integerField,
  listField,
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
  clientFields,
  extensionsField,
  functionFields,
  gateway,
  inputDetails,
  metadataField,
  modelField,
  modelRule,
  outputDetails,
  passthrough,
  routingMetadata,
  samplingFields,
  serviceTierField,
  warnings,
} from './gateway-schemas.ts'

// The body of `POST /v1/chat/completions`.

const partTypes = ['text', 'refusal', 'image_url', 'input_audio', 'file']

const contentPart = () => {
  const filename = () => optionalText('Name of the file.')
  return namedUnion('ChatContentPart', 'A part of the content of a chat message.', [
    variant('text', 'Text.', { text: textField('The text.') }),
    variant('refusal', 'A refusal of an earlier response.', { refusal: textField('Its text.') }),
    variant('image_url', 'An image.', {
      image_url: unionField('The image, or its address.', [
        openObject('The image.', {
          url: nonEmpty('An https or data URL of the image.'),
          detail: optionalText('Resolution to use: `low`, `high` or `auto`.'),
        }),
        nonEmpty('An https or data URL of the image.'),
      ]),
    }),
    variant('input_audio', 'Audio.', {
      input_audio: openObject('The audio.', { data: nonEmpty('The bytes in base64.'), format: nonEmpty('`wav` or `mp3`.') }),
    }),
    variant('file', 'A file.', {
      file: unionField('The file, by its bytes or by its id.', [
        z.looseObject({
          file_data: nonEmpty('A data URL, or the bytes in base64.'),
          filename: filename(),
          file_id: nonEmpty().nullish().describe('Ignored if `file_data` is set.'),
        }),
        z.looseObject({
          file_data: z.null().optional().describe('Not used with `file_id`.'),
          filename: filename(),
          file_id: nonEmpty('Id of the file at the provider. Only providers of this format can read it.'),
        }),
      ]),
    }),
    otherVariant(partTypes, 'Any other type is passed on unchanged.'),
  ])
}

const functionCall = () => z.looseObject({ name: nonEmpty('Name of the function.'), arguments: optionalText('Arguments as JSON text.') })

const toolCall = () =>
  namedUnion('ChatToolCall', 'A tool call of an earlier response.', [
    z.looseObject({
      id: nonEmpty('Id of the call, which its result refers to.'),
      type: z.literal('function').nullish().describe('A function call.'),
      function: functionCall().describe('The call.'),
    }),
    z.looseObject({
      id: nonEmpty('Id of the call, which its result refers to.'),
      type: otherType(['function']).describe('A call of another kind of tool, passed on unchanged.'),
    }),
  ])

const requestMessage = () => {
  const content = z.union([z.string(), z.array(contentPart()).max(bodyCaps.parts)])
  return namedUnion('ChatMessage', 'A message of the conversation.', [
    z.looseObject({
      role: z.enum(['system', 'developer', 'user']).describe('Role of the message.'),
      content: content.describe('A string, or parts.'),
    }),
    z.looseObject({
      role: z.literal('assistant').describe('An earlier response.'),
      content: content.nullish().describe('A string, or parts.'),
      refusal: optionalText('Text of a refusal.'),
      tool_calls: optionalList('Tools that were called.', toolCall()),
      function_call: functionCall().nullish().describe('Deprecated form of `tool_calls`.'),
      reasoning_content: optionalText('Reasoning of the response.'),
      reasoning: optionalText('Alternative name of `reasoning_content`.'),
      reasoning_details: optionalList('Sealed reasoning state, as received with the response.', z.looseObject({})),
    }),
    z.looseObject({
      role: z.literal('tool').describe('The result of a tool call.'),
      tool_call_id: nonEmpty('Id of the call.'),
      content: content.describe('The result as a string or as parts.'),
    }),
    z.looseObject({
      role: z.literal('function').describe('Deprecated form of a result.'),
      name: nonEmpty('Name of the function.'),
      content: content.nullish().describe('The result.'),
    }),
  ])
}

const tool = () =>
  namedUnion('ChatTool', 'A tool that the model may call.', [
    z.looseObject({
      type: z.literal('function').nullish().describe('A function that the client runs.'),
      function: z.looseObject(functionFields()).describe('The function.'),
    }),
    z.looseObject({ type: otherType(['function']).min(1).describe('Another kind of tool, passed on unchanged.') }),
  ])

const toolChoice = () =>
  z.union([
    z.enum(['auto', 'none', 'required']),
    variant('function', 'A specific function.', { function: openObject('The function.', { name: nonEmpty('Name of the function.') }) }),
    variant('allowed_tools', 'Some of the tools.', {
      allowed_tools: openObject('The tools that may be called.', {
        mode: z.enum(['auto', 'required']).describe('Whether one of them must be called.'),
        tools: listField('The tools.', z.looseObject({ type: nonEmpty('Kind of tool.') })),
      }),
    }),
    z.looseObject({ type: otherType(['function', 'allowed_tools']).min(1).describe('Another kind of tool.') }),
  ])

const responseFormat = () =>
  z.union([
    z.looseObject({ type: z.enum(['text', 'json_object']).describe('Free text, or any JSON object.') }),
    variant('json_schema', 'JSON that matches a schema.', {
      json_schema: openObject('The schema.', {
        name: nonEmpty('Name of the schema.'),
        schema: openObject('The JSON schema.', {}),
        strict: optionalFlag('Whether the response must match the schema.'),
        description: optionalText('Purpose of the response.'),
      }),
    }),
  ])

export const createChatCompletion = () =>
  z
    .looseObject({
      model: modelField(),
      messages: z.array(requestMessage()).min(1).max(bodyCaps.messages).describe('The conversation.'),
      tools: z.array(tool()).max(bodyCaps.tools).nullish().describe('Tools that the model may call.'),
      tool_choice: toolChoice().nullish().describe('Whether the model calls a tool, and which. Default: `auto`.'),
      functions: z.array(z.looseObject(functionFields())).max(bodyCaps.tools).nullish().describe('Deprecated form of `tools`.'),
      function_call: z
        .union([z.enum(['auto', 'none']), z.looseObject({ name: nonEmpty('Name of the function.') })])
        .nullish()
        .describe('Deprecated form of `tool_choice`.'),
      parallel_tool_calls: optionalFlag('Whether several tools may be called at once. Default: true.'),
      max_completion_tokens: z.int().min(1).nullish().describe('Maximum number of output tokens, including reasoning.'),
      max_tokens: z.int().min(1).nullish().describe('Deprecated name of `max_completion_tokens`.'),
      ...samplingFields(),
      logprobs: optionalFlag('Whether to return log probabilities of the output tokens.'),
      stop: z
        .union([z.string(), z.array(z.string())])
        .nullish()
        .describe('Sequences that end the response.'),
      seed: z.int().nullish().describe('Seed for sampling, for reproducible responses.'),
      n: z.literal(1).nullish().describe('Number of choices. Only 1 is supported.'),
      stream: optionalFlag('Whether to send the response as server-sent events. Default: false.'),
      stream_options: optionalObject('Options of a stream.', { include_usage: optionalFlag('Whether the last chunk contains the usage.') }),
      response_format: responseFormat().nullish().describe('Format of the response. Default: text.'),
      reasoning_effort: z
        .enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'off', 'default'])
        .nullish()
        .describe('Amount of reasoning. `off` is the same as `none`; `default` leaves it to the model.'),
      verbosity: optionalText('Length of the response: `low`, `medium` or `high`.'),
      metadata: metadataField(),
      ...clientFields(),
      store: z.literal(false).nullish().describe('Nothing is stored; `true` is an error.'),
      gateway: gateway(),
      extensions: extensionsField(),
    })
    .meta({
      description: passthrough,
      example: { model: 'gpt-5-mini', messages: [{ role: 'user', content: 'Name three primes.' }] },
      ...modelRule,
    })

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
