import { bodyCaps } from '@signalbox/dialects/protocol'
import * as z from 'zod/v4'
import {
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
} from '../../schema-fields.ts'
import {
  clientFields,
  extensionsField,
  functionFields,
  gateway,
  metadataField,
  modelField,
  modelRule,
  passthrough,
  samplingFields,
} from '../gateway-schemas.ts'

// The body of `POST /v1/responses`.

const cacheBreakpoint = () => z.unknown().optional().describe('Marks the end of a prefix of the prompt that the provider may cache.')

const partTypes = ['input_text', 'output_text', 'text', 'input_image', 'input_file', 'input_audio', 'refusal']

const contentPart = () =>
  namedUnion('InputContentPart', 'A part of the content of a message.', [
    z
      .looseObject({
        type: z.enum(['input_text', 'output_text', 'text']).describe('`input_text` from the user, `output_text` from the model.'),
        text: textField('The text.'),
        annotations: z.unknown().optional().describe('Citations of an earlier response.'),
        prompt_cache_breakpoint: cacheBreakpoint(),
      })
      .meta({ title: 'Text' }),
    variant('input_image', 'An image by URL.', {
      image_url: nonEmpty('An https or data URL of the image.'),
      detail: optionalText('Resolution to use: `low`, `high` or `auto`.'),
      prompt_cache_breakpoint: cacheBreakpoint(),
    }).meta({ title: 'Image' }),
    variant('input_image', 'An image that the provider stores.', {
      image_url: z.null().optional().describe('Not used with `file_id`.'),
      file_id: textField('Id of the file at the provider. Only providers of this format can read it.'),
      detail: optionalText('Resolution to use: `low`, `high` or `auto`.'),
    }).meta({ title: 'Stored image' }),
    ...fileParts(),
    variant('input_audio', 'Audio.', {
      input_audio: openObject('The audio.', { data: nonEmpty('The bytes in base64.'), format: nonEmpty('`wav` or `mp3`.') }),
    }).meta({ title: 'Audio' }),
    variant('refusal', 'A refusal of an earlier response.', { refusal: textField('Its text.') }).meta({ title: 'Refusal' }),
    otherVariant(partTypes, 'Any other type is passed on unchanged.').meta({ title: 'Other part' }),
  ])

const fileParts = () => {
  const filename = () => optionalText('Name of the file.')
  return [
    variant('input_file', 'A file by URL.', {
      file_url: nonEmpty('An https URL of the file.'),
      file_data: nonEmpty().nullish().describe('Ignored if `file_url` is set.'),
      filename: filename(),
      prompt_cache_breakpoint: cacheBreakpoint(),
    }).meta({ title: 'File by URL' }),
    variant('input_file', 'A file by its bytes.', {
      file_url: z.null().optional().describe('Not used with `file_data`.'),
      file_data: nonEmpty('A data URL, or the bytes in base64.'),
      filename: filename(),
      prompt_cache_breakpoint: cacheBreakpoint(),
    }).meta({ title: 'File' }),
    variant('input_file', 'A file that the provider stores.', {
      file_url: z.null().optional().describe('Not used with `file_id`.'),
      file_data: z.null().optional().describe('Not used with `file_id`.'),
      file_id: textField('Id of the file at the provider. Only providers of this format can read it.'),
      filename: filename(),
    }).meta({ title: 'Stored file' }),
  ] as const
}

const itemTypes = ['message', 'function_call', 'function_call_output', 'reasoning', 'item_reference']

const inputItem = () => {
  const parts = z.array(contentPart()).max(bodyCaps.parts)
  const id = () => optionalText('Id of the item in an earlier response.')
  return namedUnion('InputItem', 'An item of the conversation.', [
    z
      .looseObject({
        type: z.literal('message').nullish().describe('Optional.'),
        role: z.enum(['user', 'assistant', 'system', 'developer']).describe('Role of the message.'),
        content: unionField('A string, or parts.', [z.string(), parts]),
        id: id(),
        phase: optionalText('`commentary` or `final_answer`, as in an earlier response.'),
        status: optionalText('As in an earlier response.'),
      })
      .meta({ title: 'Message' }),
    variant('function_call', 'A function call by the model.', {
      call_id: nonEmpty('Id of the call, which its output refers to.'),
      name: nonEmpty('Name of the function.'),
      arguments: textField('Arguments as JSON text.'),
      id: id(),
    }).meta({ title: 'Function call' }),
    variant('function_call_output', 'The result of a call.', {
      call_id: nonEmpty('The `call_id` of the call.'),
      output: unionField('The result as a string or as parts.', [z.string(), parts]),
    }).meta({ title: 'Function call output' }),
    variant('reasoning', 'Reasoning of an earlier response, to continue from.', {
      id: id(),
      summary: optionalList('Summary blocks, each with a `text`.', z.looseObject({})),
      content: optionalList('Reasoning texts, each with a `text`.', z.looseObject({})),
      encrypted_content: optionalText('State sealed by the gateway, which only the gateway can read.'),
    }).meta({ title: 'Reasoning' }),
    variant(
      'item_reference',
      'A reference to an item of an earlier response of the workspace. Items are stored for an hour after their last use.',
      { id: nonEmpty('Id of the item.') },
    ).meta({ title: 'Reference' }),
    z
      .looseObject({
        type: z.null().optional().describe('Optional.'),
        role: z.never().optional().describe('Must be absent. An item with a role is a message.'),
        id: nonEmpty('Id of the item. Its type may be included, but no other fields.'),
      })
      .meta({ title: 'Short reference' }),
    otherVariant(itemTypes, 'Any other type, as in an earlier response, is passed on unchanged.').meta({ title: 'Other item' }),
  ])
}

const tool = () =>
  namedUnion('Tool', 'A tool that the model may call.', [
    variant('function', 'A function that the client runs.', {
      ...functionFields(),
    }).meta({ title: 'Function' }),
    z
      .looseObject({ type: otherType(['function']).min(1).describe('A hosted tool such as `web_search`, passed on unchanged.') })
      .meta({ title: 'Hosted tool' }),
  ])

const toolChoice = () =>
  z.union([
    z.enum(['auto', 'none', 'required']),
    variant('function', 'A specific function.', { name: nonEmpty('Name of the function.') }),
    z.looseObject({ type: otherType(['function']).min(1).describe('A hosted tool, or `allowed_tools`.') }),
  ])

const textFormat = () =>
  z.union([
    z.looseObject({ type: z.enum(['text', 'json_object']).describe('Free text, or any JSON object.') }),
    variant('json_schema', 'JSON that matches a schema.', {
      name: nonEmpty('Name of the schema.'),
      schema: openObject('The JSON schema.', {}),
      strict: optionalFlag('Whether the response must match the schema.'),
      description: optionalText('Purpose of the response.'),
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
      input: unionField('A string, or the items of the conversation.', [z.string(), z.array(inputItem()).max(bodyCaps.messages)]),
      instructions: optionalText('System instructions.'),
      tools: z.array(tool()).max(bodyCaps.tools).nullish().describe('Tools that the model may call.'),
      tool_choice: toolChoice().nullish().describe('Whether the model calls a tool, and which. Default: `auto`.'),
      parallel_tool_calls: optionalFlag('Whether several tools may be called at once. Default: true.'),
      max_output_tokens: z.int().min(1).nullish().describe('Maximum number of output tokens, including reasoning.'),
      max_tool_calls: z.int().min(1).nullish().describe('Maximum number of calls of hosted tools. Functions are not counted.'),
      ...samplingFields(),
      stream: optionalFlag('Whether to send the response as server-sent events. Default: false.'),
      stream_options: optionalObject('Has no effect.', {}),
      text: optionalObject('Options of the response text.', {
        format: textFormat().nullish().describe('Format of the response. Default: text.'),
        verbosity: optionalText('Length of the response: `low`, `medium` or `high`.'),
      }),
      reasoning: reasoning().nullish().describe('Options of reasoning models.'),
      truncation: optionalText('How to handle a conversation that is too long: `auto` or `disabled`.'),
      metadata: metadataField(),
      include: optionalList('Additional data to return, as in `reasoning.encrypted_content`.', z.string()),
      ...clientFields(),
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
