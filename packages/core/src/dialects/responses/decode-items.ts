import { GatewayError } from '../../errors/gateway-error.ts'
import {
  type FunctionCallItem,
  type FunctionCallOutputItem,
  type Item,
  type MessageItem,
  type Part,
  type ReasoningItem,
  sealedPrefix,
} from '../../protocol/item.ts'
import { remember } from '../../protocol/original.ts'
import type { JsonObject } from '../../protocol/wire.ts'
import { filled, list, object, oneOf, optional, type Read, required, text, wrong } from '../field-readers.ts'
import { decodeContent, decodePart } from './decode-parts.ts'
import { texts } from './items.ts'
import { dialect } from './wire.ts'

// The items of a caller's request.

export const decodeInput: Read<readonly Item[]> = (value, path) => {
  if (typeof value === 'string') return [{ type: 'message', role: 'user', content: [{ type: 'text', text: value }] }]
  return Array.isArray(value) ? list(decodeItem)(value, path) : wrong(path, 'a string or an array of items', value)
}

const decodeItem: Read<Item> = (value, path) => {
  const body = object(value, path)
  const type = optional({ body, path }, 'type', text)
  if (type === undefined && body.role === undefined && typeof body.id === 'string') return decodeReference(body, path)
  const decode = decoders.get(type ?? 'message')
  const item: Item = decode ? decode(body, path) : { type: 'native', dialect, body }
  // No provider can read a reference.
  return type === 'item_reference' ? item : remember(item, { dialect, body })
}

/**
 * Nothing is stored here, so an item has to be sent and not its id. A thought is the exception: a conversation goes on without
 * its state, with the usual warning. (The AI SDK refers to thoughts by id.)
 */
function decodeReference({ id }: JsonObject, path: string): Item {
  return typeof id === 'string' && id.startsWith('rs_')
    ? { type: 'reasoning', id, summary: [], encrypted_content: sealedPrefix + id }
    : unresolved(path)
}

function unresolved(path: string): never {
  throw new GatewayError('invalid_parameter_value', {
    message: `\`${path}\` refers to an item by id, and nothing is stored here.`,
    param: path,
    suggestion: 'Send the items of the conversation in full. In the AI SDK set `store: false` for the provider; it then does so by itself.',
  })
}

const decodeMessage = (body: JsonObject, path: string): MessageItem => {
  const role = required({ body, path }, 'role', oneOf('user', 'assistant', 'system', 'developer'))
  const content = required({ body, path }, 'content', decodeContent)
  const id = optional({ body, path }, 'id', text)
  const phase = optional({ body, path }, 'phase', text)
  const status = optional({ body, path }, 'status', text)
  return {
    type: 'message',
    ...(id && { id }),
    role,
    content,
    ...((phase === 'commentary' || phase === 'final_answer') && { phase }),
    ...((status === 'in_progress' || status === 'completed' || status === 'incomplete') && { status }),
  }
}

const decodeCall = (body: JsonObject, path: string): FunctionCallItem => {
  const id = optional({ body, path }, 'id', text)
  return {
    type: 'function_call',
    ...(id && { id }),
    call_id: required({ body, path }, 'call_id', filled),
    name: required({ body, path }, 'name', filled),
    arguments: required({ body, path }, 'arguments', text),
  }
}

const decodeCallOutput = (body: JsonObject, path: string): FunctionCallOutputItem => ({
  type: 'function_call_output',
  call_id: required({ body, path }, 'call_id', filled),
  output: required({ body, path }, 'output', (value, at): string | readonly Part[] => {
    if (typeof value === 'string') return value
    return Array.isArray(value) ? list(decodePart)(value, at) : wrong(at, 'a string or an array of content parts', value)
  }),
})

const decodeReasoning = (body: JsonObject, path: string): ReasoningItem => {
  const id = optional({ body, path }, 'id', text)
  const summary = optional({ body, path }, 'summary', list(object))
  const content = optional({ body, path }, 'content', list(object))
  const encrypted_content = optional({ body, path }, 'encrypted_content', text)
  return {
    type: 'reasoning',
    ...(id && { id }),
    summary: texts(summary),
    ...(content && content.length > 0 && { content: texts(content) }),
    ...(encrypted_content && { encrypted_content }),
  }
}

const decoders: ReadonlyMap<string, (body: JsonObject, path: string) => Item> = new Map<string, (body: JsonObject, path: string) => Item>([
  ['message', decodeMessage],
  ['function_call', decodeCall],
  ['function_call_output', decodeCallOutput],
  ['reasoning', decodeReasoning],
  ['item_reference', decodeReference],
])
