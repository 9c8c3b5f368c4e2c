import { earlierItem, earlierPart } from '../common/earlier-answers.ts'
import {
  anyText,
  arrayOf,
  literalOf,
  nonEmptyText,
  objectValue,
  optional,
  type Read,
  required,
  wrongType,
} from '../common/field-readers.ts'
import { imageType, imageUrlOf, sentBack } from '../common/generated-image.ts'
import { stringOf } from '../common/json.ts'
import { clientItems, outputFeatures } from '../common/output-features.ts'
import type { FunctionCallItem, FunctionCallOutputItem, ImagePart, Item, MessageItem, Part, ReasoningItem } from '../protocol/item.ts'
import { remember } from '../protocol/original.ts'
import type { Native } from '../protocol/tool.ts'
import type { Json, JsonObject } from '../protocol/wire.ts'
import { decodeClientCall } from './decode-client-calls.ts'
import { decodeToolsOf } from './decode-options.ts'
import { decodeContent, decodePart } from './decode-parts.ts'
import { entryTexts } from './items.ts'
import { dialect } from './wire.ts'

// Decodes the items of a client's request.

export const decodeInput: Read<readonly Item[]> = (value, path) => {
  if (typeof value === 'string') return [{ type: 'message', role: 'user', content: [{ type: 'text', text: value }] }]
  return Array.isArray(value) ? arrayOf(decodeInputItem)(value, path) : wrongType(path, 'a string or an array of items', value)
}

export const decodeInputItem: Read<Item> = (value, path) => {
  const body = objectValue(value, path)
  const type = optional({ body, path }, 'type', anyText)
  if (type === 'item_reference' || (typeof body.id === 'string' && isReference(body, body.id))) return decodeReference(body, path)
  const decode = itemReaders.get(type ?? 'message')
  return remember<Item>(decode?.(body, path) ?? decodeClientCall(stringOf(type), body) ?? unknownItem(body), { dialect, body, path })
}

/** Output items have ids, but an item with an id may also be the client's own. */
const unknownItem = (body: JsonObject): Native => {
  const type = stringOf(body.type)
  const isOutput = !clientItems.has(type) && (typeof body.id === 'string' || recordTypes.has(type))
  return isOutput ? earlierItem(dialect, body) : { type: 'native', dialect, body }
}

/** Types that record what a provider ran or requested from the client. Some of them come without an id. */
const recordTypes: ReadonlySet<string> = new Set(
  (['hostedTool', 'clientTool'] as const).flatMap(feature => outputFeatures.get(feature)?.types ?? []),
)

const contentFields = ['role', 'content', 'call_id', 'name', 'arguments', 'summary', 'encrypted_content'] as const

/** Whether the object is a reference to an item. Clients may omit the type of a reference, or use the type of the item. */
function isReference({ type = null, ...body }: JsonObject, id: string): boolean {
  if (type === null) return body.role === undefined
  const isKnown = type === 'message' || type === 'function_call' || (type === 'reasoning' && id.startsWith('rs_'))
  return isKnown && contentFields.every(field => isEmpty(body[field]))
}

const isEmpty = (value: Json | undefined): boolean => value === undefined || value === null || (Array.isArray(value) && value.length === 0)

/** Remembers no original, because no provider can read a reference. */
const decodeReference = (body: JsonObject, path: string): Item => ({
  type: 'native',
  dialect,
  body: { type: 'item_reference', id: required({ body, path }, 'id', nonEmptyText) },
})

const readMessage = (body: JsonObject, path: string): MessageItem => {
  const role = required({ body, path }, 'role', literalOf('user', 'assistant', 'system', 'developer'))
  const decoded = required({ body, path }, 'content', decodeContent)
  const content = role === 'assistant' ? decoded.map(earlierPart) : decoded
  const id = optional({ body, path }, 'id', anyText)
  const phase = optional({ body, path }, 'phase', anyText)
  const status = optional({ body, path }, 'status', anyText)
  return {
    type: 'message',
    id: id || undefined,
    role,
    content,
    phase: phase === 'commentary' || phase === 'final_answer' ? phase : undefined,
    status: status === 'in_progress' || status === 'completed' || status === 'incomplete' ? status : undefined,
  }
}

const readCall = (body: JsonObject, path: string, argumentsField: 'arguments' | 'input' = 'arguments'): FunctionCallItem => {
  const id = optional({ body, path }, 'id', anyText)
  const namespace = optional({ body, path }, 'namespace', anyText)
  return {
    type: 'function_call',
    id: id || undefined,
    call_id: required({ body, path }, 'call_id', nonEmptyText),
    name: required({ body, path }, 'name', nonEmptyText),
    namespace: namespace || undefined,
    arguments: required({ body, path }, argumentsField, anyText),
  }
}

const readCustomCall = (body: JsonObject, path: string): FunctionCallItem => ({ ...readCall(body, path, 'input'), custom: true })

const readCallOutput = (body: JsonObject, path: string): FunctionCallOutputItem => ({
  type: 'function_call_output',
  call_id: required({ body, path }, 'call_id', nonEmptyText),
  output: required({ body, path }, 'output', (value, at): string | readonly Part[] => {
    if (typeof value === 'string') return value
    return Array.isArray(value) ? arrayOf(decodePart)(value, at) : wrongType(at, 'a string or an array of content parts', value)
  }),
})

const readReasoning = (body: JsonObject, path: string): ReasoningItem => {
  const id = optional({ body, path }, 'id', anyText)
  const summary = optional({ body, path }, 'summary', arrayOf(objectValue))
  const content = optional({ body, path }, 'content', arrayOf(objectValue))
  const encrypted_content = optional({ body, path }, 'encrypted_content', anyText)
  return {
    type: 'reasoning',
    id: id || undefined,
    summary: entryTexts(summary),
    content: content?.length ? entryTexts(content) : undefined,
    encrypted_content: encrypted_content || undefined,
  }
}

/** An image generated in an earlier turn. Without its data, it stays a native item. */
function readGeneratedImage(body: JsonObject): Item {
  const native = earlierItem(dialect, body)
  const url = imageUrlOf(native)
  if (url === undefined) return native
  return sentBack([remember<ImagePart>({ type: 'image', url, isGenerated: true }, { dialect, body })])
}

/** Decodes tools that are added at this point of the conversation. */
const readAddedTools = (body: JsonObject, path: string): Native => ({ type: 'native', dialect, body, tools: decodeToolsOf(body, path) })

/** The tools that a search found. One that the client ran also answers the model's call. */
function readFoundTools(body: JsonObject, path: string): Native {
  const call_id = body.execution === 'server' ? undefined : optional({ body, path }, 'call_id', anyText)
  return { ...readAddedTools(body, path), answers: call_id || undefined }
}

const itemReaders: ReadonlyMap<string, (body: JsonObject, path: string) => Item> = new Map<
  string,
  (body: JsonObject, path: string) => Item
>([
  ['message', readMessage],
  ['function_call', readCall],
  ['custom_tool_call', readCustomCall],
  ['function_call_output', readCallOutput],
  ['custom_tool_call_output', readCallOutput],
  ['reasoning', readReasoning],
  ['additional_tools', readAddedTools],
  ['tool_search_output', readFoundTools],
  [imageType, readGeneratedImage],
])
