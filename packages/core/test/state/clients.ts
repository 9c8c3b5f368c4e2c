import { isObject, type Json, type JsonObject } from '@signalbox/dialects/protocol'
import type { Answered } from './fixture.ts'

/** A client that leads a conversation in its dialect, and sends back what it got as it got it. */
export interface Client {
  readonly dialect: string
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
  dialect: 'responses',
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
  dialect: 'messages',
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

const chat: Client = {
  dialect: 'chat',
  body: (history, stream) => ({ messages: history, stream, tools: [{ type: 'function', function: { name: 'look', parameters } }] }),
  question: content => ({ role: 'user', content }),
  turn(answered, words) {
    const [choice] = objects(answered.body?.choices)
    const message = choice ? object(choice.message) : messageOf(answered)
    if (words) return [message]
    const { reasoning_content, reasoning, ...rest } = message
    return [rest]
  },
  result: (tool_call_id, content) => ({ role: 'tool', tool_call_id, content }),
}

/** A message put together as SDKs do it: texts grow, lists are joined, calls grow by their index. */
function messageOf({ frames }: Answered): JsonObject {
  const message: Record<string, Json | undefined> = { role: 'assistant', content: null }
  const calls: JsonObject[] = []
  for (const { data } of frames) {
    if (data === '[DONE]') continue
    const [choice] = objects((JSON.parse(data) as JsonObject).choices)
    const { role, tool_calls, ...delta } = object(choice?.delta)
    for (const [field, value] of Object.entries(delta)) {
      if (typeof value === 'string') message[field] = `${message[field] ?? ''}${value}`
      else if (Array.isArray(value)) message[field] = [...objects(message[field]), ...objects(value)]
    }
    for (const { index, ...call } of objects(tool_calls)) {
      const known = calls[Number(index)] ?? {}
      const written = `${object(known.function).arguments ?? ''}${object(call.function).arguments ?? ''}`
      calls[Number(index)] = { ...known, ...call, function: { ...object(known.function), ...object(call.function), arguments: written } }
    }
  }
  return { ...message, ...(calls.length > 0 && { tool_calls: calls, content: message.content || null }) }
}

export const clients: readonly Client[] = [responses, messages, chat]
