import * as z from 'zod/v4'
import { routingMetadata, serviceTierField, warnings } from '../gateway-schemas.ts'

// The responses of `POST /v1/responses`: the response object, and the events of a stream.

const status = () => z.enum(['in_progress', 'completed', 'incomplete']).optional().describe('Whether the item is complete.')

const annotation = () => z.looseObject({ type: z.string().describe('Kind of citation, as in `url_citation`.') })

const outputPart = () =>
  z
    .union([
      z.looseObject({
        type: z.literal('output_text').describe('Text.'),
        text: z.string().describe('The text.'),
        annotations: z.array(annotation()).describe('Citations.'),
        logprobs: z.array(z.looseObject({})).optional().describe('Log probabilities of its tokens, if requested.'),
      }),
      z.looseObject({
        type: z.literal('refusal').describe('The model refused.'),
        refusal: z.string().describe('The text of the refusal.'),
      }),
      z.looseObject({ type: z.literal('reasoning_text').describe('Reasoning.'), text: z.string().describe('The text.') }),
      z.looseObject({
        type: z.string().meta({ description: 'Another kind of part.', not: { enum: ['output_text', 'refusal', 'reasoning_text'] } }),
      }),
    ])
    .meta({ id: 'OutputPart', description: 'A part of the content of an output item.' })

const summaryBlock = () => z.looseObject({ type: z.string().describe('Kind of block.'), text: z.string().describe('The text.') })

const outputItem = (part: z.ZodType) =>
  z
    .union([
      z.looseObject({
        type: z.literal('message').describe('A message of the model.'),
        id: z.string().describe('Id of the item.'),
        role: z.string().describe('`assistant`.'),
        status: status(),
        phase: z.enum(['commentary', 'final_answer']).optional().describe('Whether it is the final answer, or commentary before it.'),
        content: z.array(part).describe('The parts of the message.'),
      }),
      z.looseObject({
        type: z.literal('function_call').describe('A function call.'),
        id: z.string().describe('Id of the item.'),
        call_id: z.string().describe('Id of the call, which its output refers to.'),
        name: z.string().describe('Name of the function.'),
        arguments: z.string().describe('Arguments as JSON text.'),
        status: status(),
      }),
      z.looseObject({
        type: z.literal('reasoning').describe('Reasoning of the model.'),
        id: z.string().describe('Id of the item.'),
        summary: z.array(summaryBlock()).describe('Summaries.'),
        content: z.array(summaryBlock()).optional().describe('The reasoning itself, if the model shows it.'),
        encrypted_content: z.string().optional().describe('Sealed state. Send it back with the item to continue the reasoning.'),
      }),
      z.looseObject({
        type: z.string().meta({
          description: 'An item of the provider, as in `web_search_call`, passed on unchanged.',
          not: { enum: ['message', 'function_call', 'reasoning'] },
        }),
      }),
    ])
    .meta({ id: 'OutputItem', description: 'An item of the output.' })

const usage = () =>
  z
    .looseObject({
      input_tokens: z.int().meta({ description: 'Input tokens, including cached ones.', example: 12 }),
      output_tokens: z.int().meta({ description: 'Output tokens, including reasoning.', example: 9 }),
      total_tokens: z.int().meta({ description: 'Input and output tokens.', example: 21 }),
      input_tokens_details: z
        .looseObject({
          cached_tokens: z.int().meta({ description: 'Input tokens read from the prompt cache.', example: 0 }),
          cache_write_tokens: z.int().optional().meta({ description: 'Input tokens written to the prompt cache.', example: 0 }),
        })
        .optional()
        .describe('Parts of the input.'),
      output_tokens_details: z
        .looseObject({ reasoning_tokens: z.int().meta({ description: 'Output tokens of reasoning.', example: 0 }) })
        .optional()
        .describe('Parts of the output.'),
    })
    .meta({ id: 'Usage', description: 'Token counts.' })

const echo = (what: string) => `${what} that was used.`
const stringOrNull = () => z.string().nullish()

/** Options of the request as they were applied. */
const echoedOptions = () => ({
  instructions: stringOrNull().describe('System instructions of the request.'),
  tools: z
    .array(z.looseObject({ type: z.string().describe('Kind of tool.') }))
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
  reasoning: z.looseObject({}).nullish().describe(echo('Reasoning configuration')),
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
      id: z.string().meta({ description: 'Id of the response.', example: 'resp_01a1fd6c4db376f2bb09734d779bb6f4' }),
      object: z.literal('response').describe('Type of the object.'),
      created_at: z.int().meta({ description: 'Unix time of creation, in seconds.', example: 1_893_456_000 }),
      completed_at: z.int().nullish().meta({ description: 'Unix time of completion, in seconds.', example: 1_893_456_001 }),
      model: z.string().meta({ description: 'Model that answered.', example: 'gpt-5-mini' }),
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
      error: z
        .looseObject({ code: z.string().describe('Error code.'), message: z.string().describe('What went wrong.') })
        .nullish()
        .describe('Why the response failed; null otherwise.'),
      incomplete_details: z
        .looseObject({ reason: z.string().describe('As in `max_output_tokens` or `content_filter`.') })
        .nullish()
        .describe('Why the response is incomplete; null otherwise.'),
      ...echoedOptions(),
      tool_usage: z.looseObject({}).nullish().describe('Usage of hosted tools, if the provider reports it.'),
      routing_metadata: routingMetadata().optional(),
      warnings: warnings(),
    })
    .meta({ id: 'Response', description: 'A response of a model.' })

const compactedResponse = () =>
  z
    .looseObject({
      id: z.string().meta({ description: 'Id of the request that created it.', example: 'resp_01a1fd6c4db376f2bb09734d779bb6f4' }),
      object: z.literal('response.compaction').describe('Type of the object.'),
      created_at: z.int().meta({ description: 'Unix time of creation, in seconds.', example: 1_893_456_000 }),
      model: z.string().meta({ description: 'Model that summarized the conversation.', example: 'gpt-5-mini' }),
      output: z.array(z.looseObject({ type: z.string().describe('`message` or `compaction`.') })).meta({
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
    .describe('A compacted conversation.')

const sequence = () => ({ sequence_number: z.int().describe('Number of the event in its stream, from 0.') })
const itemPlace = () => ({
  item_id: z.string().describe('Id of the item.'),
  output_index: z.int().describe('Index of the item in `output`.'),
})
const partPlace = () => ({ ...itemPlace(), content_index: z.int().describe('Index of the part in `content`.') })
const summaryPlace = () => ({ ...itemPlace(), summary_index: z.int().describe('Index of the summary.') })

const event = (types: readonly string[], fields: z.ZodRawShape) =>
  z.looseObject({ type: z.enum(types).describe('Name of the event.'), ...fields, ...sequence() })

const textField = (description: string) => z.string().describe(description)

const namedEvents = [
  'response.created',
  'response.in_progress',
  'response.completed',
  'response.incomplete',
  'response.failed',
  'error',
  'response.output_item.added',
  'response.output_item.done',
  'response.content_part.added',
  'response.content_part.done',
  'response.output_text.delta',
  'response.output_text.done',
  'response.output_text.annotation.added',
  'response.refusal.delta',
  'response.refusal.done',
  'response.reasoning_text.delta',
  'response.reasoning_text.done',
  'response.reasoning_summary_part.added',
  'response.reasoning_summary_part.done',
  'response.reasoning_summary_text.delta',
  'response.reasoning_summary_text.done',
  'response.function_call_arguments.delta',
  'response.function_call_arguments.done',
]

/** The data of one server-sent event of a streamed response. */
const responseStreamEvent = ({
  part,
  item,
  response,
}: {
  readonly part: z.ZodType
  readonly item: z.ZodType
  readonly response: z.ZodType
}) =>
  z
    .union([
      event(['response.created', 'response.in_progress', 'response.completed', 'response.incomplete', 'response.failed'], {
        response,
      }),
      event(['error'], {
        code: textField('Error code.'),
        message: textField('What went wrong.'),
        param: z.string().nullable().describe('Path of the invalid field.'),
        error: z.looseObject({}).describe('The same facts in the shape of an HTTP error.'),
      }),
      event(['response.output_item.added', 'response.output_item.done'], {
        output_index: z.int().describe('Index of the item in `output`.'),
        item,
      }),
      event(['response.content_part.added', 'response.content_part.done'], { ...partPlace(), part }),
      event(['response.output_text.delta', 'response.refusal.delta', 'response.reasoning_text.delta'], {
        ...partPlace(),
        delta: textField('Text to append to the part.'),
      }),
      event(['response.output_text.done', 'response.reasoning_text.done'], {
        ...partPlace(),
        text: textField('The complete text of the part.'),
      }),
      event(['response.refusal.done'], { ...partPlace(), refusal: textField('The complete refusal.') }),
      event(['response.output_text.annotation.added'], {
        ...partPlace(),
        annotation_index: z.int().describe('Index of the citation.'),
        annotation: annotation().describe('The citation.'),
      }),
      event(['response.reasoning_summary_part.added', 'response.reasoning_summary_part.done'], {
        ...summaryPlace(),
        part: summaryBlock().describe('The summary.'),
      }),
      event(['response.reasoning_summary_text.delta'], { ...summaryPlace(), delta: textField('Text to append to the summary.') }),
      event(['response.reasoning_summary_text.done'], { ...summaryPlace(), text: textField('The complete summary.') }),
      event(['response.function_call_arguments.delta'], { ...itemPlace(), delta: textField('Text to append to the arguments.') }),
      event(['response.function_call_arguments.done'], {
        ...itemPlace(),
        name: textField('Name of the function.'),
        arguments: textField('The complete arguments as JSON text.'),
      }),
      z.looseObject({
        type: z
          .string()
          .meta({ description: 'An event of a hosted tool, as in `response.web_search_call.completed`.', not: { enum: namedEvents } }),
        ...sequence(),
      }),
    ])
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

export const responsesSchemas = () => {
  const part = outputPart()
  const item = outputItem(part)
  const response = responseObject(item)
  return { Response: response, ResponseStreamEvent: responseStreamEvent({ part, item, response }), CompactedResponse: compactedResponse() }
}
