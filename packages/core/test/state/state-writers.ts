import { bedrockProvider, chatProvider, geminiProvider, messagesProvider, responsesProvider } from '@signalbox/dialects'
import type { ProviderDialect, Quirks } from '@signalbox/dialects/protocol'
import { isObject, type Json, type JsonObject } from '@signalbox/dialects/protocol'
import type { Act } from './fixture.ts'

/** What a model does in one turn: thinks, then calls its tool or speaks. */
interface Turn {
  /** What the provider wants back. Starts with {@link canary}, so that it is found wherever it goes. */
  readonly state: string
  /** What may be seen of the thought. */
  readonly reasoning?: string
  /** The id of a call of the tool `look`. */
  readonly call?: string
  readonly text?: string
}

export const canary = 'RAW-STATE-'

/** A dialect in which providers keep state, with answers of our own making. */
export interface StateWriter {
  readonly name: string
  readonly dialect: ProviderDialect
  readonly quirks?: Quirks
  /** What it wants back is no secret of the provider: words that a caller may read. */
  readonly inWords?: boolean
  say(turn: Turn): Act
  /** The states in a body that the provider was sent, in the order of the conversation. */
  statesIn(body: JsonObject): readonly string[]
}

const objects = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? (value as readonly Json[]).filter(isObject) : []
/** Strings that hold state of our making: a provider half may put a stand-in where there is none. */
const statesAmong = (values: readonly (Json | undefined)[]): readonly string[] =>
  values.filter(value => typeof value === 'string').filter(value => value.includes(canary))

const data = (body: JsonObject, event?: string) => ({ ...(event !== undefined && { event }), data: JSON.stringify(body) })

let made = 0

const responses: StateWriter = {
  name: 'responses',
  dialect: responsesProvider,
  say({ state, reasoning, call, text }) {
    made += 1
    const summary = reasoning === undefined ? [] : [{ type: 'summary_text', text: reasoning }]
    const output: readonly JsonObject[] = [
      { id: `rs_${made}`, type: 'reasoning', summary, encrypted_content: state },
      ...(call === undefined
        ? []
        : [{ id: `fc_${made}`, type: 'function_call', call_id: call, name: 'look', arguments: '{}', status: 'completed' }]),
      ...(text === undefined
        ? []
        : [
            {
              id: `msg_${made}`,
              type: 'message',
              role: 'assistant',
              status: 'completed',
              content: [{ type: 'output_text', text, annotations: [] }],
            },
          ]),
    ]
    const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
    const whole = { id: 'resp_theirs', object: 'response', created_at: 1, model: 'their-model', status: 'completed', output, usage }
    // The first snapshot of an item holds a state of its own, shorter than the last.
    const announced = (item: JsonObject): JsonObject => ({
      ...item,
      ...(item.type === 'reasoning' && { summary: [], encrypted_content: `${state}-partly` }),
    })
    return {
      whole,
      frames: [
        data({ type: 'response.created', response: { ...whole, status: 'in_progress', output: [], usage: null } }),
        ...output.flatMap((item, output_index) => [
          data({ type: 'response.output_item.added', output_index, item: announced(item) }),
          data({ type: 'response.output_item.done', output_index, item }),
        ]),
        data({ type: 'response.completed', response: whole }),
      ],
    }
  },
  statesIn: ({ input }) => statesAmong(objects(input).map(item => (item.type === 'reasoning' ? item.encrypted_content : ''))),
}

/** A message of the assistant, whole and in deltas. */
function chatAct(message: JsonObject, deltas: readonly JsonObject[]): Act {
  const head = { id: 'chat_theirs', object: 'chat.completion', created: 1, model: 'their-model' }
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
  const finish_reason = message.tool_calls === undefined ? 'stop' : 'tool_calls'
  const chunk = (delta: JsonObject, finish: string | null = null) =>
    data({ ...head, choices: [{ index: 0, delta, finish_reason: finish }] })
  return {
    whole: { ...head, choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }], usage },
    frames: [
      chunk({ role: 'assistant', content: '' }),
      ...deltas.map(delta => chunk(delta)),
      chunk({}, finish_reason),
      data({ ...head, choices: [], usage }),
      { data: '[DONE]' },
    ],
  }
}

const chatInWords: StateWriter = {
  name: 'chat, thoughts in words',
  dialect: chatProvider,
  quirks: { reasoningField: 'reasoning_content' },
  inWords: true,
  say({ state, call, text }) {
    const entry = { index: 0, id: call, type: 'function', function: { name: 'look', arguments: '{}' } }
    const calls = call === undefined ? {} : { tool_calls: [entry] }
    const deltas = [...state].map(reasoning_content => ({ reasoning_content }))
    const message = { content: text ?? null, reasoning_content: state, ...calls }
    return chatAct(message, [...deltas, text === undefined ? calls : { content: text }])
  },
  statesIn: ({ messages }) => statesAmong(objects(messages).map(message => message.reasoning_content)),
}

const chatSealed: StateWriter = {
  name: 'chat, thoughts sealed',
  dialect: chatProvider,
  say({ state, reasoning, call, text }) {
    const entry = { index: 0, id: call, type: 'function', function: { name: 'look', arguments: '{}' } }
    const signed = { ...entry, extra_content: { google: { thought_signature: `${state} of the call` } } }
    const detail = { type: 'reasoning.encrypted', data: state, id: 'rs', format: 'theirs', index: 0 }
    const message = { ...(reasoning !== undefined && { reasoning }), reasoning_details: [detail] }
    const calls = call === undefined ? {} : { tool_calls: [signed] }
    return chatAct({ content: text ?? null, ...message, ...calls }, [message, text === undefined ? calls : { content: text }])
  },
  statesIn: ({ messages }) =>
    objects(messages).flatMap(message => {
      const details = statesAmong(objects(message.reasoning_details).map(detail => detail.data))
      for (const call of details.length > 0 ? objects(message.tool_calls) : []) {
        const signature = isObject(call.extra_content) && isObject(call.extra_content.google) && call.extra_content.google.thought_signature
        if (signature !== `${details[0]} of the call`) throw new Error('The signature of a call did not come back.')
      }
      return details
    }),
}

const gemini: StateWriter = {
  name: 'gemini',
  dialect: geminiProvider,
  say({ state, reasoning, call, text }) {
    const parts: readonly JsonObject[] = [
      ...(reasoning === undefined ? [] : [{ text: reasoning, thought: true }]),
      ...(call === undefined ? [] : [{ functionCall: { id: call, name: 'look', args: {} }, thoughtSignature: state }]),
      ...(text === undefined ? [] : [{ text }, { text: '', thoughtSignature: state }]),
    ]
    const head = { responseId: 'theirs', modelVersion: 'their-model' }
    const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
    const last = { finishReason: 'STOP', index: 0 }
    return {
      whole: { ...head, candidates: [{ ...last, content: { role: 'model', parts } }], usageMetadata },
      frames: [
        ...parts.map(part => data({ ...head, candidates: [{ index: 0, content: { role: 'model', parts: [part] } }] })),
        data({ ...head, candidates: [{ ...last, content: { role: 'model', parts: [] } }], usageMetadata }),
      ],
    }
  },
  statesIn: ({ contents }) => statesAmong(objects(contents).flatMap(turn => objects(turn.parts).map(part => part.thoughtSignature))),
}

const messages: StateWriter = {
  name: 'messages',
  dialect: messagesProvider,
  say({ state, reasoning, call, text }) {
    const thinking: JsonObject =
      reasoning === undefined ? { type: 'redacted_thinking', data: state } : { type: 'thinking', thinking: reasoning, signature: state }
    const content: readonly JsonObject[] = [
      thinking,
      ...(text === undefined ? [] : [{ type: 'text', text, citations: null }]),
      ...(call === undefined ? [] : [{ type: 'tool_use', id: call, name: 'look', input: {} }]),
    ]
    const head = { id: 'msg_theirs', type: 'message', role: 'assistant', model: 'their-model' }
    const stop = { stop_reason: call === undefined ? 'end_turn' : 'tool_use', stop_sequence: null }
    const usage = { input_tokens: 1, output_tokens: 1 }
    const event = (body: JsonObject) => data(body, `${body.type}`)
    return {
      whole: { ...head, content, ...stop, usage },
      frames: [
        event({ type: 'message_start', message: { ...head, content: [], stop_reason: null, stop_sequence: null, usage } }),
        ...content.flatMap((block, index) => [
          event({ type: 'content_block_start', index, content_block: begun(block) }),
          ...deltasOf(block).map(delta => event({ type: 'content_block_delta', index, delta })),
          event({ type: 'content_block_stop', index }),
        ]),
        event({ type: 'message_delta', delta: stop, usage }),
        event({ type: 'message_stop' }),
      ],
    }
  },
  statesIn: ({ messages: said }) =>
    statesAmong(
      objects(said)
        .flatMap(({ content }) => objects(content))
        .map(block => (block.type === 'redacted_thinking' ? block.data : block.signature)),
    ),
}

/** A block as its stream begins it; one that hides its thought is whole at once. */
const begun = (block: JsonObject): JsonObject => {
  if (block.type === 'thinking') return { ...block, thinking: '', signature: '' }
  return block.type === 'text' ? { ...block, text: '' } : block
}

const deltasOf = ({ type, thinking, signature, text }: JsonObject): readonly JsonObject[] => {
  if (type === 'text') return [{ type: 'text_delta', text }]
  if (type !== 'thinking') return []
  return [
    { type: 'thinking_delta', thinking },
    { type: 'signature_delta', signature },
  ]
}

const bedrock: StateWriter = {
  name: 'bedrock',
  dialect: bedrockProvider,
  say({ state, reasoning, call, text }) {
    const thinking = reasoning === undefined ? { redactedContent: state } : { reasoningText: { text: reasoning, signature: state } }
    const content: readonly JsonObject[] = [
      { reasoningContent: thinking },
      ...(text === undefined ? [] : [{ text }]),
      ...(call === undefined ? [] : [{ toolUse: { toolUseId: call, name: 'look', input: {} } }]),
    ]
    const stopReason = call === undefined ? 'end_turn' : 'tool_use'
    const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 }
    const message = reasoning === undefined ? [thinking] : [{ text: reasoning }, { signature: state }]
    const grown = (contentBlockIndex: number, delta: JsonObject) => data({ contentBlockIndex, delta }, 'contentBlockDelta')
    const end = (contentBlockIndex: number) => data({ contentBlockIndex }, 'contentBlockStop')
    return {
      whole: { output: { message: { role: 'assistant', content } }, stopReason, usage },
      frames: [
        data({ role: 'assistant' }, 'messageStart'),
        ...message.map(reasoningContent => grown(0, { reasoningContent })),
        end(0),
        ...(text === undefined ? [] : [grown(1, { text }), end(1)]),
        ...(call === undefined
          ? []
          : [data({ contentBlockIndex: 2, start: { toolUse: { toolUseId: call, name: 'look' } } }, 'contentBlockStart'), end(2)]),
        data({ stopReason }, 'messageStop'),
        data({ usage, metrics: {} }, 'metadata'),
      ],
    }
  },
  statesIn: ({ messages: said }) =>
    statesAmong(
      objects(said)
        .flatMap(({ content }) => objects(content))
        .map(({ reasoningContent: thinking }) => {
          if (!isObject(thinking)) return undefined
          return isObject(thinking.reasoningText) ? thinking.reasoningText.signature : thinking.redactedContent
        }),
    ),
}

export const stateWriters: readonly StateWriter[] = [responses, chatInWords, chatSealed, messages, gemini, bedrock]
