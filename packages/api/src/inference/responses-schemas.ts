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

// The responses of `POST /v1/responses`: the response object, and the events of a stream.

const status = () => z.enum(['in_progress', 'completed', 'incomplete']).optional().describe('Whether the item is complete.')

const annotation = () => z.looseObject({ type: textField('Kind of citation, as in `url_citation`.') })

const outputPart = () =>
  namedUnion('OutputPart', 'A part of the content of an output item.', [
    variant('output_text', 'Text.', {
      text: textField('The text.'),
      annotations: listField('Citations.', annotation()),
      logprobs: z.array(z.looseObject({})).optional().describe('Log probabilities of its tokens, if requested.'),
    }),
    variant('refusal', 'The model refused.', { refusal: textField('The text of the refusal.') }),
    variant('reasoning_text', 'Reasoning.', { text: textField('The text.') }),
    otherVariant(['output_text', 'refusal', 'reasoning_text'], 'Another kind of part.'),
  ])

const summaryBlock = () => z.looseObject({ type: textField('Kind of block.'), text: textField('The text.') })

const outputItem = (part: z.ZodType) =>
  namedUnion('OutputItem', 'An item of the output.', [
    variant('message', 'A message of the model.', {
      id: textField('Id of the item.'),
      role: textField('`assistant`.'),
      status: status(),
      phase: z.enum(['commentary', 'final_answer']).optional().describe('Whether it is the final answer, or commentary before it.'),
      content: listField('The parts of the message.', part),
    }),
    variant('function_call', 'A function call.', {
      id: textField('Id of the item.'),
      call_id: textField('Id of the call, which its output refers to.'),
      name: textField('Name of the function.'),
      arguments: textField('Arguments as JSON text.'),
      status: status(),
    }),
    variant('reasoning', 'Reasoning of the model.', {
      id: textField('Id of the item.'),
      summary: listField('Summaries.', summaryBlock()),
      content: z.array(summaryBlock()).optional().describe('The reasoning itself, if the model shows it.'),
      encrypted_content: z.string().optional().describe('Sealed state. Send it back with the item to continue the reasoning.'),
    }),
    otherVariant(['message', 'function_call', 'reasoning'], 'An item of the provider, as in `web_search_call`, passed on unchanged.'),
  ])

const usage = () =>
  z
    .looseObject({
      input_tokens: integerField('Input tokens, including cached ones.', 12),
      output_tokens: integerField('Output tokens, including reasoning.', 9),
      total_tokens: integerField('Input and output tokens.', 21),
      input_tokens_details: inputDetails(),
      output_tokens_details: outputDetails(),
    })
    .meta({ id: 'Usage', description: 'Token counts.' })

const echo = (what: string) => `${what} that was used.`
const stringOrNull = () => z.string().nullish()

/** Options of the request as they were applied. */
const echoedOptions = () => ({
  instructions: stringOrNull().describe('System instructions of the request.'),
  tools: z
    .array(z.looseObject({ type: textField('Kind of tool.') }))
    .optional()
    .describe('Tools that were available.'),
  tool_choice: z.unknown().optional().describe(echo('Choice of tools')),
  parallel_tool_calls: z.boolean().optional().describe('Whether several tools could be called at once.'),
  temperature: z.number().optional().describe(echo('Sampling temperature')),
  top_p: z.number().optional().describe(echo('Probability mass')),
  top_logprobs: z.int().optional().describe('Number of alternatives for each token.'),
  frequency_penalty: z.number().optional().describe(echo('Frequency penalty')),
  presence_penalty: z.number().optional().describe(echo('Presence penalty')),
  max_output_tokens: z.int().nullish().describe('Maximum number of output tokens; null: no limit.'),
  max_tool_calls: z.int().nullish().describe('Maximum number of calls of hosted tools; null: no limit.'),
  text: z.looseObject({}).optional().describe(echo('Text configuration')),
  reasoning: optionalObject(echo('Reasoning configuration'), {}),
  truncation: z.string().optional().describe(echo('Truncation strategy')),
  metadata: z.record(z.string(), z.string()).nullish().describe('Strings of the request’s `metadata`.'),
  user: stringOrNull().describe('End user of the request.'),
  prompt_cache_key: stringOrNull().describe('Prompt cache key of the request.'),
  safety_identifier: stringOrNull().describe('Safety identifier of the request.'),
  service_tier: serviceTierField(),
  previous_response_id: stringOrNull().describe('Always null: nothing is stored.'),
  store: z.boolean().optional().describe('Whether the response is stored: false.'),
  background: z.boolean().optional().describe('Whether it is a background response: false.'),
})

const responseObject = (item: z.ZodType) =>
  z
    .looseObject({
      id: textField('Id of the response.', 'resp_01a1fd6c4db376f2bb09734d779bb6f4'),
      object: z.literal('response').describe('Type of the object.'),
      created_at: integerField('Unix time of creation, in seconds.', 1_893_456_000),
      completed_at: z.int().nullish().meta({ description: 'Unix time of completion, in seconds.', example: 1_893_456_001 }),
      model: textField('Model that answered.', 'gpt-5-mini'),
      status: z.enum(['completed', 'failed', 'incomplete', 'in_progress']).describe('Status of the response.'),
      output: z.array(item).meta({
        description: 'Items of the output.',
        example: [
          {
            type: 'message',
            id: 'msg_01a1fd6c4db376f2bb09734d779bb6f4',
            role: 'assistant',
            status: 'completed',
            content: [{ type: 'output_text', text: '2, 3 and 5.', annotations: [], logprobs: [] }],
          },
        ],
      }),
      output_text: z.string().optional().meta({ description: 'The text of all messages.', example: '2, 3 and 5.' }),
      usage: usage().nullish().describe('Token counts; null while in progress.'),
      error: optionalObject('Why the response failed; null otherwise.', {
        code: textField('Error code.'),
        message: textField('What went wrong.'),
      }),
      incomplete_details: optionalObject('Why the response is incomplete; null otherwise.', {
        reason: textField('As in `max_output_tokens` or `content_filter`.'),
      }),
      ...echoedOptions(),
      tool_usage: optionalObject('Usage of hosted tools, if the provider reports it.', {}),
      routing_metadata: routingMetadata().optional(),
      warnings: warnings(),
    })
    .meta({ id: 'Response', description: 'A response of a model.' })

const compactedResponse = () =>
  openObject('A compacted conversation.', {
    id: textField('Id of the request that created it.', 'resp_01a1fd6c4db376f2bb09734d779bb6f4'),
    object: z.literal('response.compaction').describe('Type of the object.'),
    created_at: integerField('Unix time of creation, in seconds.', 1_893_456_000),
    model: textField('Model that summarized the conversation.', 'gpt-5-mini'),
    output: z.array(z.looseObject({ type: textField('`message` or `compaction`.') })).meta({
      description: 'The user messages, as they were sent, then the compaction item. Send them instead of the conversation.',
      example: [
        { type: 'message', id: 'msg_1', role: 'user', status: 'completed', content: [{ type: 'input_text', text: 'Plan a bakery.' }] },
        { type: 'compaction', id: 'cmp_1', encrypted_content: 'gwc1.2.Zm9v.YmFy.YmF6' },
      ],
    }),
    usage: usage().nullish().describe('Token counts of the request.'),
    routing_metadata: routingMetadata().optional(),
    warnings: warnings(),
  })

const sequence = () => ({ sequence_number: integerField('Number of the event in its stream, from 0.') })
const itemPlace = () => ({
  item_id: textField('Id of the item.'),
  output_index: integerField('Index of the item in `output`.'),
})
const partPlace = () => ({ ...itemPlace(), content_index: integerField('Index of the part in `content`.') })
const summaryPlace = () => ({ ...itemPlace(), summary_index: integerField('Index of the summary.') })

interface ResponseParts {
  readonly part: z.ZodType
  readonly item: z.ZodType
  readonly response: z.ZodType
}

/** The fields of each event, by its names. */
const eventFields = ({ part, item, response }: ResponseParts): readonly (readonly [names: readonly string[], fields: z.ZodRawShape])[] => [
  [['response.created', 'response.in_progress', 'response.completed', 'response.incomplete', 'response.failed'], { response }],
  [
    ['error'],
    {
      code: textField('Error code.'),
      message: textField('What went wrong.'),
      param: z.string().nullable().describe('Path of the invalid field.'),
      error: openObject('The same facts in the shape of an HTTP error.', {}),
    },
  ],
  [['response.output_item.added', 'response.output_item.done'], { output_index: integerField('Index of the item in `output`.'), item }],
  [['response.content_part.added', 'response.content_part.done'], { ...partPlace(), part }],
  [
    ['response.output_text.delta', 'response.refusal.delta', 'response.reasoning_text.delta'],
    { ...partPlace(), delta: textField('Text to append to the part.') },
  ],
  [['response.output_text.done', 'response.reasoning_text.done'], { ...partPlace(), text: textField('The complete text of the part.') }],
  [['response.refusal.done'], { ...partPlace(), refusal: textField('The complete refusal.') }],
  [
    ['response.output_text.annotation.added'],
    { ...partPlace(), annotation_index: integerField('Index of the citation.'), annotation: annotation().describe('The citation.') },
  ],
  [
    ['response.reasoning_summary_part.added', 'response.reasoning_summary_part.done'],
    { ...summaryPlace(), part: summaryBlock().describe('The summary.') },
  ],
  [['response.reasoning_summary_text.delta'], { ...summaryPlace(), delta: textField('Text to append to the summary.') }],
  [['response.reasoning_summary_text.done'], { ...summaryPlace(), text: textField('The complete summary.') }],
  [['response.function_call_arguments.delta'], { ...itemPlace(), delta: textField('Text to append to the arguments.') }],
  [
    ['response.function_call_arguments.done'],
    { ...itemPlace(), name: textField('Name of the function.'), arguments: textField('The complete arguments as JSON text.') },
  ],
]

/** The data of one server-sent event of a streamed response. */
function responseStreamEvent(parts: ResponseParts) {
  const events = eventFields(parts)
  const known = events.map(([names, fields]) =>
    z.looseObject({ type: z.enum(names).describe('Name of the event.'), ...fields, ...sequence() }),
  )
  const names = events.flatMap(([names]) => names)
  return z
    .union([...known, otherVariant(names, 'An event of a hosted tool, as in `response.web_search_call.completed`.', sequence())])
    .meta({
      description: 'The data of one server-sent event. The last one is `response.completed`, `response.incomplete` or `response.failed`.',
      example: {
        type: 'response.output_text.delta',
        item_id: 'msg_1',
        output_index: 0,
        content_index: 0,
        delta: '2, 3',
        sequence_number: 4,
      },
    })
}

export const responsesSchemas = () => {
  const part = outputPart()
  const item = outputItem(part)
  const response = responseObject(item)
  return { Response: response, ResponseStreamEvent: responseStreamEvent({ part, item, response }), CompactedResponse: compactedResponse() }
}
