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

// The body of `POST /v1/responses`.

const cacheBreakpoint = () => z.unknown().optional().describe('Marks the end of a prefix of the prompt that the provider may cache.')

const partTypes = ['input_text', 'output_text', 'text', 'input_image', 'input_file', 'input_audio', 'refusal']

const contentPart = () =>
  z
    .union([
      z
        .looseObject({
          type: z.enum(['input_text', 'output_text', 'text']).describe('`input_text` from the user, `output_text` from the model.'),
          text: z.string().describe('The text.'),
          annotations: z.unknown().optional().describe('Citations of an earlier response.'),
          prompt_cache_breakpoint: cacheBreakpoint(),
        })
        .meta({ title: 'Text' }),
      z
        .looseObject({
          type: z.literal('input_image').describe('An image by URL.'),
          image_url: nonEmpty().describe('An https or data URL of the image.'),
          detail: z.string().nullish().describe('Resolution to use: `low`, `high` or `auto`.'),
          prompt_cache_breakpoint: cacheBreakpoint(),
        })
        .meta({ title: 'Image' }),
      z
        .looseObject({
          type: z.literal('input_image').describe('An image that the provider stores.'),
          image_url: z.null().optional().describe('Not used with `file_id`.'),
          file_id: z.string().describe('Id of the file at the provider. Only providers of this format can read it.'),
          detail: z.string().nullish().describe('Resolution to use: `low`, `high` or `auto`.'),
        })
        .meta({ title: 'Stored image' }),
      ...fileParts(),
      z
        .looseObject({
          type: z.literal('input_audio').describe('Audio.'),
          input_audio: z
            .looseObject({ data: nonEmpty().describe('The bytes in base64.'), format: nonEmpty().describe('`wav` or `mp3`.') })
            .describe('The audio.'),
        })
        .meta({ title: 'Audio' }),
      z
        .looseObject({
          type: z.literal('refusal').describe('A refusal of an earlier response.'),
          refusal: z.string().describe('Its text.'),
        })
        .meta({ title: 'Refusal' }),
      z.looseObject({ type: otherType(partTypes).describe('Any other type is passed on unchanged.') }).meta({ title: 'Other part' }),
    ])
    .meta({ id: 'InputContentPart', description: 'A part of the content of a message.' })

const fileParts = () => {
  const filename = () => z.string().nullish().describe('Name of the file.')
  return [
    z
      .looseObject({
        type: z.literal('input_file').describe('A file by URL.'),
        file_url: nonEmpty().describe('An https URL of the file.'),
        file_data: nonEmpty().nullish().describe('Ignored if `file_url` is set.'),
        filename: filename(),
        prompt_cache_breakpoint: cacheBreakpoint(),
      })
      .meta({ title: 'File by URL' }),
    z
      .looseObject({
        type: z.literal('input_file').describe('A file by its bytes.'),
        file_url: z.null().optional().describe('Not used with `file_data`.'),
        file_data: nonEmpty().describe('A data URL, or the bytes in base64.'),
        filename: filename(),
        prompt_cache_breakpoint: cacheBreakpoint(),
      })
      .meta({ title: 'File' }),
    z
      .looseObject({
        type: z.literal('input_file').describe('A file that the provider stores.'),
        file_url: z.null().optional().describe('Not used with `file_id`.'),
        file_data: z.null().optional().describe('Not used with `file_id`.'),
        file_id: z.string().describe('Id of the file at the provider. Only providers of this format can read it.'),
        filename: filename(),
      })
      .meta({ title: 'Stored file' }),
  ] as const
}

const itemTypes = ['message', 'function_call', 'function_call_output', 'reasoning', 'item_reference']

const inputItem = () => {
  const parts = z.array(contentPart()).max(bodyCaps.parts)
  const id = () => z.string().nullish().describe('Id of the item in an earlier response.')
  return z
    .union([
      z
        .looseObject({
          type: z.literal('message').nullish().describe('Optional.'),
          role: z.enum(['user', 'assistant', 'system', 'developer']).describe('Role of the message.'),
          content: z.union([z.string(), parts]).describe('A string, or parts.'),
          id: id(),
          phase: z.string().nullish().describe('`commentary` or `final_answer`, as in an earlier response.'),
          status: z.string().nullish().describe('As in an earlier response.'),
        })
        .meta({ title: 'Message' }),
      z
        .looseObject({
          type: z.literal('function_call').describe('A function call by the model.'),
          call_id: nonEmpty().describe('Id of the call, which its output refers to.'),
          name: nonEmpty().describe('Name of the function.'),
          arguments: z.string().describe('Arguments as JSON text.'),
          id: id(),
        })
        .meta({ title: 'Function call' }),
      z
        .looseObject({
          type: z.literal('function_call_output').describe('The result of a call.'),
          call_id: nonEmpty().describe('The `call_id` of the call.'),
          output: z.union([z.string(), parts]).describe('The result as a string or as parts.'),
        })
        .meta({ title: 'Function call output' }),
      z
        .looseObject({
          type: z.literal('reasoning').describe('Reasoning of an earlier response, to continue from.'),
          id: id(),
          summary: z.array(z.looseObject({})).nullish().describe('Summary blocks, each with a `text`.'),
          content: z.array(z.looseObject({})).nullish().describe('Reasoning texts, each with a `text`.'),
          encrypted_content: z.string().nullish().describe('State sealed by the gateway, which only the gateway can read.'),
        })
        .meta({ title: 'Reasoning' }),
      z
        .looseObject({
          type: z
            .literal('item_reference')
            .describe('A reference to an item of an earlier response of the workspace. Items are stored for an hour after their last use.'),
          id: nonEmpty().describe('Id of the item.'),
        })
        .meta({ title: 'Reference' }),
      z
        .looseObject({
          type: z.null().optional().describe('Optional.'),
          role: z.never().optional().describe('Must be absent. An item with a role is a message.'),
          id: nonEmpty().describe('Id of the item. Its type may be included, but no other fields.'),
        })
        .meta({ title: 'Short reference' }),
      z
        .looseObject({ type: otherType(itemTypes).describe('Any other type, as in an earlier response, is passed on unchanged.') })
        .meta({ title: 'Other item' }),
    ])
    .meta({ id: 'InputItem', description: 'An item of the conversation.' })
}

const tool = () =>
  z
    .union([
      z
        .looseObject({
          type: z.literal('function').describe('A function that the client runs.'),
          name: nonEmpty().describe('Name that the model uses to call it.'),
          description: z.string().nullish().describe('What it does, and when to call it.'),
          parameters: z.looseObject({}).nullish().describe('JSON schema of its arguments.'),
          strict: z.boolean().nullish().describe('Whether arguments must match the schema.'),
        })
        .meta({ title: 'Function' }),
      z
        .looseObject({ type: otherType(['function']).min(1).describe('A hosted tool such as `web_search`, passed on unchanged.') })
        .meta({ title: 'Hosted tool' }),
    ])
    .meta({ id: 'Tool', description: 'A tool that the model may call.' })

const toolChoice = () =>
  z.union([
    z.enum(['auto', 'none', 'required']),
    z.looseObject({ type: z.literal('function').describe('A specific function.'), name: nonEmpty().describe('Name of the function.') }),
    z.looseObject({ type: otherType(['function']).min(1).describe('A hosted tool, or `allowed_tools`.') }),
  ])

const textFormat = () =>
  z.union([
    z.looseObject({ type: z.enum(['text', 'json_object']).describe('Free text, or any JSON object.') }),
    z.looseObject({
      type: z.literal('json_schema').describe('JSON that matches a schema.'),
      name: nonEmpty().describe('Name of the schema.'),
      schema: z.looseObject({}).describe('The JSON schema.'),
      strict: z.boolean().nullish().describe('Whether the response must match the schema.'),
      description: z.string().nullish().describe('Purpose of the response.'),
    }),
  ])

const summary = () => z.enum(['auto', 'concise', 'detailed']).nullish()

const reasoning = () =>
  z.looseObject({
    effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'off']).nullish().describe('Amount of reasoning.'),
    summary: summary().describe('Whether and how reasoning is summarized.'),
    generate_summary: summary().describe('Deprecated name of `summary`.'),
  })

const unsupported = () => z.literal(false).nullish().describe('Not supported, because nothing is stored. Only null and false are accepted.')

export const createResponse = () =>
  z
    .looseObject({
      model: modelField(),
      input: z.union([z.string(), z.array(inputItem()).max(bodyCaps.messages)]).describe('A string, or the items of the conversation.'),
      instructions: z.string().nullish().describe('System instructions.'),
      tools: z.array(tool()).max(bodyCaps.tools).nullish().describe('Tools that the model may call.'),
      tool_choice: toolChoice().nullish().describe('Whether the model calls a tool, and which. Default: `auto`.'),
      parallel_tool_calls: z.boolean().nullish().describe('Whether several tools may be called at once. Default: true.'),
      max_output_tokens: z.int().min(1).nullish().describe('Maximum number of output tokens, including reasoning.'),
      max_tool_calls: z.int().min(1).nullish().describe('Maximum number of calls of hosted tools. Functions are not counted.'),
      temperature: z.number().min(0).max(2).nullish().describe('Sampling temperature.'),
      top_p: z.number().min(0).max(1).nullish().describe('Probability mass of nucleus sampling.'),
      top_k: z.int().nullish().describe('Number of candidate tokens to sample from.'),
      top_logprobs: z.int().min(0).max(20).nullish().describe('Number of alternatives to return for each token.'),
      frequency_penalty: z.number().nullish().describe('Penalty for tokens by how often they occurred.'),
      presence_penalty: z.number().nullish().describe('Penalty for tokens that occurred.'),
      stream: z.boolean().nullish().describe('Whether to send the response as server-sent events. Default: false.'),
      stream_options: z.looseObject({}).nullish().describe('Has no effect.'),
      text: z
        .looseObject({
          format: textFormat().nullish().describe('Format of the response. Default: text.'),
          verbosity: z.string().nullish().describe('Length of the response: `low`, `medium` or `high`.'),
        })
        .nullish()
        .describe('Options of the response text.'),
      reasoning: reasoning().nullish().describe('Options of reasoning models.'),
      truncation: z.string().nullish().describe('How to handle a conversation that is too long: `auto` or `disabled`.'),
      metadata: metadataField(),
      include: z.array(z.string()).nullish().describe('Additional data to return, as in `reasoning.encrypted_content`.'),
      user: z.string().nullish().describe('Identifier of the end user.'),
      safety_identifier: z.string().nullish().describe('Identifier of the end user for safety policies.'),
      prompt_cache_key: z.string().nullish().describe('Key that groups requests with the same prompt prefix.'),
      service_tier: serviceTierField(),
      store: z.literal(false).nullish().describe('Responses are not stored; `true` is an error.'),
      previous_response_id: unsupported(),
      conversation: unsupported(),
      background: unsupported(),
      prompt: unsupported(),
      gateway: gateway(),
      extensions: extensionsField(),
    })
    .meta({ description: passthrough, example: { model: 'gpt-5-mini', input: 'Name three primes.', max_output_tokens: 100 }, ...modelRule })

export const compactResponse = () =>
  createResponse()
    .omit({ stream: true, stream_options: true })
    .meta({
      description: `The conversation to compact, with the fields of a request to create a response. ${passthrough}`,
      example: {
        model: 'gpt-5-mini',
        input: [
          { role: 'user', content: 'Plan a bakery.' },
          { role: 'assistant', content: 'First, a place.' },
        ],
      },
      ...modelRule,
    })
