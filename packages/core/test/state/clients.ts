import { isObject, type Json, type JsonObject } from '../../src/protocol/wire.ts'
import type { Answered } from './stage.ts'

/** A client that leads a conversation in its language, and sends back what it got as it got it. */
export interface Client {
  readonly language: string
  /** The body that asks for the next answer. */
  body(history: readonly JsonObject[], stream: boolean): JsonObject
  question(text: string): JsonObject
  /** What an answer adds to the conversation. `words` false: of thoughts only the sealed state is kept, as many clients do. */
  turn(answered: Answered, words: boolean): readonly JsonObject[]
  result(call: string, output: string): JsonObject
}

const objects = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? (value as readonly Json[]).filter(isObject) : []
const object = (value: Json | undefined): JsonObject => (isObject(value) ? value : {})

const bodies = ({ frames }: Answered): readonly JsonObject[] => frames.map(({ data }) => JSON.parse(data) as JsonObject)

const parameters = { type: 'object', properties: {} }

const responses: Client = {
  language: 'responses',
  body: (history, stream) => ({ input: history, stream, tools: [{ type: 'function', name: 'look', parameters }] }),
  question: content => ({ type: 'message', role: 'user', content }),
  turn(answered, words) {
    const whole = answered.body ?? object(bodies(answered).find(({ type }) => type === 'response.completed')?.response)
    return objects(whole.output).map(item => {
      if (words || item.type !== 'reasoning') return item
      const { content, ...rest } = item
      return { ...rest, summary: [] }
    })
  },
  result: (call_id, output) => ({ type: 'function_call_output', call_id, output }),
}

const messages: Client = {
  language: 'messages',
  body: (history, stream) => ({ messages: history, stream, max_tokens: 100, tools: [{ name: 'look', input_schema: parameters }] }),
  question: content => ({ role: 'user', content }),
  turn(answered, words) {
    const content = objects(answered.body?.content ?? blocksOf(bodies(answered)))
    return [{ role: 'assistant', content: content.map(block => (words || block.type !== 'thinking' ? block : { ...block, thinking: '' })) }]
  },
  result: (tool_use_id, content) => ({ role: 'user', content: [{ type: 'tool_result', tool_use_id, content }] }),
}

/** Blocks put together as SDKs do it. */
function blocksOf(events: readonly JsonObject[]): readonly JsonObject[] {
  const blocks: Record<string, Json | undefined>[] = []
  let input = ''
  for (const event of events) {
    const delta = object(event.delta)
    const block = blocks.at(-1) ?? {}
    if (event.type === 'content_block_start') {
      blocks.push({ ...object(event.content_block) })
      input = ''
    } else if (delta.type === 'thinking_delta') block.thinking = `${block.thinking}${delta.thinking}`
    else if (delta.type === 'text_delta') block.text = `${block.text}${delta.text}`
    else if (delta.type === 'signature_delta') block.signature = delta.signature
    else if (delta.type === 'input_json_delta') input += `${delta.partial_json}`
    else if (event.type === 'content_block_stop' && block.type === 'tool_use') block.input = JSON.parse(input || '{}')
  }
  return blocks
}

export const clients: readonly Client[] = [responses, messages]
