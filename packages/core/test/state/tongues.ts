import { chatProvider, responsesProvider } from '../../src/dialects/index.ts'
import type { ProviderDialect } from '../../src/protocol/dialect.ts'
import type { Quirks } from '../../src/protocol/model.ts'
import { isObject, type Json, type JsonObject } from '../../src/protocol/wire.ts'
import type { Act } from './stage.ts'

/** What a model does in one turn: thinks, then calls its tool or speaks. */
export interface Turn {
  /** What the provider wants back. Starts with {@link canary}, so that it is found wherever it goes. */
  readonly state: string
  /** What may be seen of the thought. */
  readonly thought?: string
  /** The id of a call of the tool `look`. */
  readonly call?: string
  readonly text?: string
}

export const canary = 'RAW-STATE-'

/** A language in which providers keep state, with answers of our own making. */
export interface Tongue {
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
const stringsIn = (values: readonly (Json | undefined)[]): readonly string[] =>
  values.filter(value => typeof value === 'string' && value !== '') as readonly string[]

const data = (body: JsonObject, event?: string) => ({ ...(event !== undefined && { event }), data: JSON.stringify(body) })

let made = 0

const responses: Tongue = {
  name: 'responses',
  dialect: responsesProvider,
  say({ state, thought, call, text }) {
    made += 1
    const summary = thought === undefined ? [] : [{ type: 'summary_text', text: thought }]
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
  statesIn: ({ input }) => stringsIn(objects(input).map(item => (item.type === 'reasoning' ? item.encrypted_content : ''))),
}

const chatInWords: Tongue = {
  name: 'chat, thoughts in words',
  dialect: chatProvider,
  quirks: { reasoning_field: 'reasoning_content' },
  inWords: true,
  say({ state, call, text }) {
    const calls =
      call === undefined ? {} : { tool_calls: [{ index: 0, id: call, type: 'function', function: { name: 'look', arguments: '{}' } }] }
    const message = { role: 'assistant', content: text ?? null, reasoning_content: state, ...calls }
    const head = { id: 'chat_theirs', object: 'chat.completion', created: 1, model: 'their-model' }
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
    const finish_reason = call === undefined ? 'stop' : 'tool_calls'
    const chunk = (delta: JsonObject, finish: string | null = null) =>
      data({ ...head, choices: [{ index: 0, delta, finish_reason: finish }] })
    return {
      whole: { ...head, choices: [{ index: 0, message, finish_reason }], usage },
      frames: [
        chunk({ role: 'assistant', content: '' }),
        ...[...state].map(reasoning_content => chunk({ reasoning_content })),
        chunk(text === undefined ? calls : { content: text }),
        chunk({}, finish_reason),
        data({ ...head, choices: [], usage }),
        { data: '[DONE]' },
      ],
    }
  },
  statesIn: ({ messages }) => stringsIn(objects(messages).map(message => message.reasoning_content)),
}

export const tongues: readonly Tongue[] = [responses, chatInWords]
