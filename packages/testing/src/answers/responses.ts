import type { Frame, JsonObject } from '@signalbox/dialects/protocol'
import {
  type AnswerContent,
  type AnswerError,
  type AnswerRequest,
  type AnswerToolCall,
  type AnswerUsage,
  type AnswerWriter,
  created,
  pieces,
  usageOf,
} from './answer.ts'

const usageObject = (usage: Required<AnswerUsage>): JsonObject => ({
  input_tokens: usage.input,
  input_tokens_details: { cached_tokens: usage.cached, cache_write_tokens: 0 },
  output_tokens: usage.output,
  output_tokens_details: { reasoning_tokens: usage.reasoning },
  total_tokens: usage.input + usage.output,
})

const response = (request: AnswerRequest, rest: JsonObject): JsonObject => ({
  id: 'resp_chaos',
  object: 'response',
  created_at: created,
  completed_at: null,
  status: 'in_progress',
  background: false,
  error: null,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  model: request.model,
  output: [],
  parallel_tool_calls: true,
  previous_response_id: null,
  prompt_cache_key: null,
  reasoning: { effort: null, summary: null },
  safety_identifier: null,
  service_tier: 'default',
  store: false,
  temperature: 1,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_logprobs: 0,
  top_p: 1,
  truncation: 'disabled',
  usage: null,
  metadata: {},
  ...rest,
})

const textPart = (text: string): JsonObject => ({ type: 'output_text', text, annotations: [], logprobs: [] })
const refusalPart = (refusal: string): JsonObject => ({ type: 'refusal', refusal })

/** One output item and its events, each without its sequence number. */
interface Spoken {
  readonly item: JsonObject
  readonly events: readonly JsonObject[]
}

function reasoningItem(text: string, output_index: number): Spoken {
  const item = { id: `rs_${output_index + 1}`, type: 'reasoning', summary: [{ type: 'summary_text', text }] }
  const at = { item_id: item.id, output_index, summary_index: 0 }
  return {
    item,
    events: [
      { type: 'response.output_item.added', output_index, item: { ...item, summary: [] } },
      { type: 'response.reasoning_summary_part.added', ...at, part: { type: 'summary_text', text: '' } },
      ...pieces(text).map(delta => ({ type: 'response.reasoning_summary_text.delta', ...at, delta })),
      { type: 'response.reasoning_summary_text.done', ...at, text },
      { type: 'response.reasoning_summary_part.done', ...at, part: { type: 'summary_text', text } },
      { type: 'response.output_item.done', output_index, item },
    ],
  }
}

function messageItem(said: { readonly text?: string; readonly refusal?: string; readonly status: string }, output_index: number): Spoken {
  const text = said.text ?? said.refusal ?? ''
  const [part, kind, field] =
    said.text === undefined ? ([refusalPart, 'refusal', 'refusal'] as const) : ([textPart, 'output_text', 'text'] as const)
  const logprobs = said.text === undefined ? {} : { logprobs: [] }
  const item = { id: `msg_${output_index + 1}`, type: 'message', status: said.status, role: 'assistant', content: [part(text)] }
  const at = { item_id: item.id, output_index, content_index: 0 }
  return {
    item,
    events: [
      { type: 'response.output_item.added', output_index, item: { ...item, status: 'in_progress', content: [] } },
      { type: 'response.content_part.added', ...at, part: part('') },
      ...pieces(text).map(delta => ({ type: `response.${kind}.delta`, ...at, delta, ...logprobs })),
      { type: `response.${kind}.done`, ...at, [field]: text, ...logprobs },
      { type: 'response.content_part.done', ...at, part: part(text) },
      { type: 'response.output_item.done', output_index, item },
    ],
  }
}

function customCallItem({ id: call_id = '', name, arguments: input }: AnswerToolCall, output_index: number): Spoken {
  const item = { id: `ctc_${output_index + 1}`, type: 'custom_tool_call', status: 'completed', call_id, name, input }
  const at = { item_id: item.id, output_index }
  return {
    item,
    events: [
      { type: 'response.output_item.added', output_index, item: { ...item, status: 'in_progress', input: '' } },
      ...pieces(input).map(delta => ({ type: 'response.custom_tool_call_input.delta', ...at, delta })),
      { type: 'response.custom_tool_call_input.done', ...at, input },
      { type: 'response.output_item.done', output_index, item },
    ],
  }
}

function callItem({ id: call_id = '', ...tool }: AnswerToolCall, output_index: number): Spoken {
  const item = { id: `fc_${output_index + 1}`, type: 'function_call', status: 'completed', call_id, ...tool }
  const at = { item_id: item.id, output_index }
  return {
    item,
    events: [
      { type: 'response.output_item.added', output_index, item: { ...item, status: 'in_progress', arguments: '' } },
      ...pieces(tool.arguments).map(delta => ({ type: 'response.function_call_arguments.delta', ...at, delta })),
      { type: 'response.function_call_arguments.done', ...at, name: tool.name, arguments: tool.arguments },
      { type: 'response.output_item.done', output_index, item },
    ],
  }
}

function spoken(script: AnswerContent): readonly Spoken[] {
  const status = script.finish && script.finish !== 'stop' ? 'incomplete' : 'completed'
  const makers: ((output_index: number) => Spoken)[] = []
  const { reasoning, text, refusal } = script
  if (reasoning !== undefined) makers.push(at => reasoningItem(reasoning, at))
  if (text !== undefined) makers.push(at => messageItem({ text, status }, at))
  if (refusal !== undefined) makers.push(at => messageItem({ refusal, status }, at))
  for (const tool of script.tools ?? []) {
    const { custom, ...call } = tool
    makers.push(at => (custom ? customCallItem : callItem)({ id: `call_${at + 1}`, ...call }, at))
  }
  return makers.map((make, index) => make(index))
}

const incompleteReason = { length: 'max_output_tokens', content_filter: 'content_filter', stop: null } as const

function finished(script: AnswerContent, request: AnswerRequest): JsonObject {
  const usage = usageOf(script)
  const reason = incompleteReason[script.finish ?? 'stop']
  return response(request, {
    status: reason ? 'incomplete' : 'completed',
    incomplete_details: reason ? { reason } : null,
    completed_at: reason ? null : created + 1,
    output: spoken(script).map(({ item }) => item),
    usage: usage ? usageObject(usage) : null,
  })
}

const frame = (body: JsonObject, sequence_number: number): Frame => {
  const { type, ...rest } = body
  return { event: String(type), data: JSON.stringify({ type, sequence_number, ...rest }) }
}

const failure = (trouble: AnswerError): JsonObject => ({ code: trouble.code, message: trouble.message })

/** OpenAI's Responses API. */
export const responsesWriter: AnswerWriter = {
  path: '/v1/responses',
  write(script, request) {
    const whole = finished(script, request)
    const snapshot = response(request, {})
    const bodies: readonly JsonObject[] = [
      { type: 'response.created', response: snapshot },
      { type: 'response.in_progress', response: snapshot },
      ...spoken(script).flatMap(({ events }) => events),
      { type: `response.${String(whole.status)}`, response: whole },
    ]
    const frames = bodies.map(frame)
    return { whole, opening: frames.slice(0, 2), content: frames.slice(2, -1), closing: frames.slice(-1) }
  },
  error: trouble => ({ error: { message: trouble.message, type: trouble.type, param: trouble.param ?? null, code: trouble.code } }),
  errorFrames: (trouble, request) => [
    frame({ type: 'error', error: { type: trouble.type, code: trouble.code, message: trouble.message, param: trouble.param ?? null } }, 2),
    frame({ type: 'response.failed', response: response(request, { status: 'failed', error: failure(trouble) }) }, 3),
  ],
  failed: (trouble, request) => response(request, { status: 'failed', error: failure(trouble) }),
  textFrame: text =>
    frame({ type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, content_index: 0, delta: text, logprobs: [] }, 4),
  unknownFrame: () => frame({ type: 'response.future_thing.delta', item_id: 'msg_1', output_index: 0, future: { kind: 'unheard-of' } }, 4),
}
