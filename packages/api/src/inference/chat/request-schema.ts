import { bodyCaps } from '@signalbox/core/protocol'
import * as z from 'zod/v4'
import {
  extensionsField,
  gateway,
  metadataField,
  modelField,
  modelRule,
  nonEmpty,
  otherType,
  passthrough,
  serviceTierField,
} from '../gateway-schemas.ts'

// The body of `POST /v1/chat/completions`.

const partTypes = ['text', 'refusal', 'image_url', 'input_audio', 'file']

const contentPart = () => {
  const filename = () => z.string().nullish().describe('Name of the file.')
  return z
    .union([
      z.looseObject({ type: z.literal('text').describe('Text.'), text: z.string().describe('The text.') }),
      z.looseObject({
        type: z.literal('refusal').describe('A refusal of an earlier response.'),
        refusal: z.string().describe('Its text.'),
      }),
      z.looseObject({
        type: z.literal('image_url').describe('An image.'),
        image_url: z
          .looseObject({
            url: nonEmpty().describe('An https or data URL of the image.'),
            detail: z.string().nullish().describe('Resolution to use: `low`, `high` or `auto`.'),
          })
          .describe('The image.'),
      }),
      z.looseObject({
        type: z.literal('input_audio').describe('Audio.'),
        input_audio: z
          .looseObject({ data: nonEmpty().describe('The bytes in base64.'), format: nonEmpty().describe('`wav` or `mp3`.') })
          .describe('The audio.'),
      }),
      z.looseObject({
        type: z.literal('file').describe('A file.'),
        file: z
          .union([
            z.looseObject({
              file_data: nonEmpty().describe('A data URL, or the bytes in base64.'),
              filename: filename(),
              file_id: nonEmpty().nullish().describe('Ignored if `file_data` is set.'),
            }),
            z.looseObject({
              file_data: z.null().optional().describe('Not used with `file_id`.'),
              filename: filename(),
              file_id: nonEmpty().describe('Id of the file at the provider. Only providers of this format can read it.'),
            }),
          ])
          .describe('The file, by its bytes or by its id.'),
      }),
      z.looseObject({ type: otherType(partTypes).describe('Any other type is passed on unchanged.') }),
    ])
    .meta({ id: 'ChatContentPart', description: 'A part of the content of a chat message.' })
}

const functionCall = () =>
  z.looseObject({ name: nonEmpty().describe('Name of the function.'), arguments: z.string().nullish().describe('Arguments as JSON text.') })

const toolCall = () =>
  z
    .union([
      z.looseObject({
        id: nonEmpty().describe('Id of the call, which its result refers to.'),
        type: z.literal('function').nullish().describe('A function call.'),
        function: functionCall().describe('The call.'),
      }),
      z.looseObject({
        id: nonEmpty().describe('Id of the call, which its result refers to.'),
        type: otherType(['function']).describe('A call of another kind of tool, passed on unchanged.'),
      }),
    ])
    .meta({ id: 'ChatToolCall', description: 'A tool call of an earlier response.' })

const requestMessage = () => {
  const content = z.union([z.string(), z.array(contentPart()).max(bodyCaps.parts)])
  return z
    .union([
      z.looseObject({
        role: z.enum(['system', 'developer', 'user']).describe('Role of the message.'),
        content: content.describe('A string, or parts.'),
      }),
      z.looseObject({
        role: z.literal('assistant').describe('An earlier response.'),
        content: content.nullish().describe('A string, or parts.'),
        refusal: z.string().nullish().describe('Text of a refusal.'),
        tool_calls: z.array(toolCall()).nullish().describe('Tools that were called.'),
        function_call: functionCall().nullish().describe('Deprecated form of `tool_calls`.'),
        reasoning_content: z.string().nullish().describe('Reasoning of the response.'),
        reasoning: z.string().nullish().describe('Alternative name of `reasoning_content`.'),
        reasoning_details: z.array(z.looseObject({})).nullish().describe('Sealed reasoning state, as received with the response.'),
      }),
      z.looseObject({
        role: z.literal('tool').describe('The result of a tool call.'),
        tool_call_id: nonEmpty().describe('Id of the call.'),
        content: content.describe('The result as a string or as parts.'),
      }),
      z.looseObject({
        role: z.literal('function').describe('Deprecated form of a result.'),
        name: nonEmpty().describe('Name of the function.'),
        content: content.nullish().describe('The result.'),
      }),
    ])
    .meta({ id: 'ChatMessage', description: 'A message of the conversation.' })
}

const functionFields = () => ({
  name: nonEmpty().describe('Name that the model uses to call it.'),
  description: z.string().nullish().describe('What it does, and when to call it.'),
  parameters: z.looseObject({}).nullish().describe('JSON schema of its arguments.'),
  strict: z.boolean().nullish().describe('Whether arguments must match the schema.'),
})

const tool = () =>
  z
    .union([
      z.looseObject({
        type: z.literal('function').nullish().describe('A function that the client runs.'),
        function: z.looseObject(functionFields()).describe('The function.'),
      }),
      z.looseObject({ type: otherType(['function']).min(1).describe('Another kind of tool, passed on unchanged.') }),
    ])
    .meta({ id: 'ChatTool', description: 'A tool that the model may call.' })

const toolChoice = () =>
  z.union([
    z.enum(['auto', 'none', 'required']),
    z.looseObject({
      type: z.literal('function').describe('A specific function.'),
      function: z.looseObject({ name: nonEmpty().describe('Name of the function.') }).describe('The function.'),
    }),
    z.looseObject({
      type: z.literal('allowed_tools').describe('Some of the tools.'),
      allowed_tools: z
        .looseObject({
          mode: z.enum(['auto', 'required']).describe('Whether one of them must be called.'),
          tools: z.array(z.looseObject({ type: nonEmpty().describe('Kind of tool.') })).describe('The tools.'),
        })
        .describe('The tools that may be called.'),
    }),
    z.looseObject({ type: otherType(['function', 'allowed_tools']).min(1).describe('Another kind of tool.') }),
  ])

const responseFormat = () =>
  z.union([
    z.looseObject({ type: z.enum(['text', 'json_object']).describe('Free text, or any JSON object.') }),
    z.looseObject({
      type: z.literal('json_schema').describe('JSON that matches a schema.'),
      json_schema: z
        .looseObject({
          name: nonEmpty().describe('Name of the schema.'),
          schema: z.looseObject({}).describe('The JSON schema.'),
          strict: z.boolean().nullish().describe('Whether the response must match the schema.'),
          description: z.string().nullish().describe('Purpose of the response.'),
        })
        .describe('The schema.'),
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
        .union([z.enum(['auto', 'none']), z.looseObject({ name: nonEmpty().describe('Name of the function.') })])
        .nullish()
        .describe('Deprecated form of `tool_choice`.'),
      parallel_tool_calls: z.boolean().nullish().describe('Whether several tools may be called at once. Default: true.'),
      max_completion_tokens: z.int().min(1).nullish().describe('Maximum number of output tokens, including reasoning.'),
      max_tokens: z.int().min(1).nullish().describe('Deprecated name of `max_completion_tokens`.'),
      temperature: z.number().min(0).max(2).nullish().describe('Sampling temperature.'),
      top_p: z.number().min(0).max(1).nullish().describe('Probability mass of nucleus sampling.'),
      top_k: z.int().nullish().describe('Number of candidate tokens to sample from.'),
      logprobs: z.boolean().nullish().describe('Whether to return log probabilities of the output tokens.'),
      top_logprobs: z.int().min(0).max(20).nullish().describe('Number of alternatives to return for each token.'),
      frequency_penalty: z.number().nullish().describe('Penalty for tokens by how often they occurred.'),
      presence_penalty: z.number().nullish().describe('Penalty for tokens that occurred.'),
      stop: z
        .union([z.string(), z.array(z.string())])
        .nullish()
        .describe('Sequences that end the response.'),
      seed: z.int().nullish().describe('Seed for sampling, for reproducible responses.'),
      n: z.literal(1).nullish().describe('Number of choices. Only 1 is supported.'),
      stream: z.boolean().nullish().describe('Whether to send the response as server-sent events. Default: false.'),
      stream_options: z
        .looseObject({ include_usage: z.boolean().nullish().describe('Whether the last chunk contains the usage.') })
        .nullish()
        .describe('Options of a stream.'),
      response_format: responseFormat().nullish().describe('Format of the response. Default: text.'),
      reasoning_effort: z
        .enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'off', 'default'])
        .nullish()
        .describe('Amount of reasoning. `off` is the same as `none`; `default` leaves it to the model.'),
      verbosity: z.string().nullish().describe('Length of the response: `low`, `medium` or `high`.'),
      metadata: metadataField(),
      user: z.string().nullish().describe('Identifier of the end user.'),
      safety_identifier: z.string().nullish().describe('Identifier of the end user for safety policies.'),
      prompt_cache_key: z.string().nullish().describe('Key that groups requests with the same prompt prefix.'),
      service_tier: serviceTierField(),
      store: z.literal(false).nullish().describe('Nothing is stored; `true` is an error.'),
      gateway: gateway(),
      extensions: extensionsField(),
    })
    .meta({
      description: passthrough,
      example: { model: 'gpt-5-mini', messages: [{ role: 'user', content: 'Name three primes.' }] },
      ...modelRule,
    })
