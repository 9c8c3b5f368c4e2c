import type { Frame, JsonObject } from '@signalbox/dialects/protocol'
import { parsed } from '../parsed.ts'
import {
  type AnswerContent,
  type AnswerRequest,
  type AnswerToolCall,
  type AnswerUsage,
  type AnswerWriter,
  pieces,
  usageOf,
} from './answer.ts'

const frame = (body: JsonObject): Frame => ({ event: String(body.type), data: JSON.stringify(body) })

const usageObject = (usage: Required<AnswerUsage>): JsonObject => ({
  input_tokens: usage.input - usage.cached,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: usage.cached,
  output_tokens: usage.output,
  ...(usage.reasoning > 0 && { output_tokens_details: { thinking_tokens: usage.reasoning } }),
})

const reasons = { stop: 'end_turn', length: 'max_tokens', content_filter: 'refusal' } as const

/** A refusal is sent as the stop reason, not as a block. */
function stopOf(script: AnswerContent): JsonObject {
  const { refusal, tools = [], finish = 'stop' } = script
  const reason = refusal === undefined ? (finish === 'stop' && tools.length > 0 ? 'tool_use' : reasons[finish]) : 'refusal'
  return {
    stop_reason: reason,
    stop_sequence: null,
    ...(refusal !== undefined && { stop_details: { type: 'refusal', category: null, explanation: refusal } }),
  }
}

/** One block with its deltas. */
interface Spoken {
  readonly block: JsonObject
  readonly announced: JsonObject
  readonly deltas: readonly JsonObject[]
}

const signature = 'c2lnbmF0dXJlIG9mIGEgdGhvdWdodA=='

const thought = (thinking: string): Spoken => ({
  block: { type: 'thinking', thinking, signature },
  announced: { type: 'thinking', thinking: '', signature: '' },
  deltas: [...pieces(thinking).map(piece => ({ type: 'thinking_delta', thinking: piece })), { type: 'signature_delta', signature }],
})

const said = (text: string): Spoken => ({
  block: { type: 'text', text },
  announced: { type: 'text', text: '' },
  deltas: pieces(text).map(piece => ({ type: 'text_delta', text: piece })),
})

function called({ id, name, arguments: written }: AnswerToolCall, at: number): Spoken {
  const block = { type: 'tool_use', id: id ?? `toolu_${at + 1}`, name }
  return {
    block: { ...block, input: parsed(written) ?? {} },
    announced: { ...block, input: {} },
    deltas: ['', ...pieces(written)].map(partial_json => ({ type: 'input_json_delta', partial_json })),
  }
}

const spoken = ({ reasoning, text, tools = [] }: AnswerContent): readonly Spoken[] => [
  ...(reasoning === undefined ? [] : [thought(reasoning)]),
  ...(text === undefined ? [] : [said(text)]),
  ...tools.map(called),
]

const content = (script: AnswerContent): readonly JsonObject[] =>
  spoken(script).flatMap(({ announced, deltas }, index) => [
    { type: 'content_block_start', index, content_block: announced },
    ...deltas.map(delta => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ])

const message = (request: AnswerRequest, rest: JsonObject): JsonObject => ({
  id: 'msg_chaos',
  type: 'message',
  role: 'assistant',
  model: request.model,
  ...rest,
})

/** Messages errors have a type and no code. */
const types: ReadonlyMap<string | null, string> = new Map([
  ['rate_limit_exceeded', 'rate_limit_error'],
  ['server_is_overloaded', 'overloaded_error'],
  ['server_error', 'api_error'],
  ['insufficient_quota', 'billing_error'],
  ['billing_hard_limit_reached', 'billing_error'],
  ['invalid_api_key', 'authentication_error'],
  ['model_not_found', 'not_found_error'],
  ['request_too_large', 'request_too_large'],
])

/** Anthropic's Messages API. */
export const messagesWriter: AnswerWriter = {
  path: '/v1/messages',
  write(script, request) {
    const usage = usageOf(script)
    const atFirst = usage && { usage: { ...usageObject({ ...usage, reasoning: 0 }), output_tokens: 1 } }
    const begun = message(request, { content: [], stop_reason: null, stop_sequence: null, ...atFirst })
    return {
      whole: message(request, {
        content: spoken(script).map(({ block }) => block),
        ...stopOf(script),
        ...(usage && { usage: usageObject(usage) }),
      }),
      opening: [frame({ type: 'message_start', message: begun }), frame({ type: 'ping' })],
      content: content(script).map(frame),
      closing: [
        frame({ type: 'message_delta', delta: stopOf(script), ...(usage && { usage: usageObject(usage) }) }),
        frame({ type: 'message_stop' }),
      ],
    }
  },
  error: ({ type, code, message: words }) => ({
    type: 'error',
    error: { type: types.get(code) ?? type, message: words },
    request_id: 'req_chaos',
  }),
  errorFrames: trouble => [frame(messagesWriter.error(trouble))],
  failed: trouble => messagesWriter.error(trouble),
  textFrame: text => frame({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
  unknownFrame: () => frame({ type: 'future_thing', index: 0, future: { kind: 'unheard-of' } }),
}
