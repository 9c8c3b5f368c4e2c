import { earlierItem, earlierPart } from '../common/earlier-answers.ts'
import {
  anyText,
  arrayOf,
  literalOf,
  nonEmptyText,
  type ObjectAtPath,
  objectValue,
  optional,
  type Read,
  refuse,
  required,
  wrongType,
} from '../common/field-readers.ts'
import { isImageUrl, sentBack } from '../common/generated-image.ts'
import { deriveCallId } from '../common/ids.ts'
import type { FunctionCallItem, ImagePart, Item, MessageItem, Part, ReasoningItem, Role } from '../protocol/item.ts'
import { remember } from '../protocol/original.ts'
import type { Native } from '../protocol/tool.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { cacheOf, decodeContent, withImageObjects } from './decode-parts.ts'
import { imageUrl, signatureIn, textsOf } from './message-fields.ts'
import { dialect } from './wire.ts'

// Decodes client messages into items. An assistant message becomes several items, which all remember it, so that they can be encoded back
// into one message including its unknown fields.

/** Function name → id of its last call. The legacy single call has no id, and its result names the function. */
type OldCalls = Map<string, string>

export const decodeMessages: Read<readonly Item[]> = (value, path) => {
  if (!Array.isArray(value)) return wrongType(path, 'an array of messages', value)
  if (value.length === 0) return refuse('invalid_parameter_value', `\`${path}\` must hold at least one message.`, path)
  const calls: OldCalls = new Map()
  return arrayOf((entry, at) => {
    const body = objectValue(entry, at)
    return decodeMessage({ body: Array.isArray(body.content) ? withImageObjects(body) : body, path: at }, calls)
  })(value, path).flat()
}

function decodeMessage(place: ObjectAtPath, calls: OldCalls): readonly Item[] {
  const role = required(place, 'role', literalOf('user', 'assistant', 'system', 'developer', 'tool', 'function'))
  if (role === 'assistant') return decodeAssistant(place, calls)
  if (role === 'tool') return [decodeResult(place, required(place, 'tool_call_id', nonEmptyText))]
  if (role === 'function') {
    const name = required(place, 'name', nonEmptyText)
    return [decodeResult(place, calls.get(name) ?? deriveCallId(place.path, name))]
  }
  return [message(place, role, required(place, 'content', decodeContent))]
}

const noted = <T extends Item>(item: T, { body, path }: ObjectAtPath): T => remember(item, { dialect, body, path })

const message = (place: ObjectAtPath, role: Role, content: readonly Part[]): MessageItem => noted({ type: 'message', role, content }, place)

/** A legacy result may be null. */
function decodeResult(place: ObjectAtPath, call_id: string): Item {
  const read: Read<string | readonly Part[]> = (value, path) => (typeof value === 'string' ? value : decodeContent(value, path))
  const output = place.body.role === 'function' ? (optional(place, 'content', read) ?? '') : required(place, 'content', read)
  return noted({ type: 'function_call_output', call_id, output, cache: cacheOf(place.body) }, place)
}

/** Decodes an assistant message: reasoning, then text, then calls. The state of a call that is not the first comes right before it. */
function decodeAssistant(place: ObjectAtPath, calls: OldCalls): readonly Item[] {
  const made = optional(place, 'images', arrayOf(decodeImage)) ?? []
  const images = made.filter(part => part.type === 'image')
  const content = [...decodeTexts(place), ...made.filter(part => part.type === 'native')]
  const called = [...(optional(place, 'tool_calls', arrayOf(decodeCall(place.body))) ?? []), ...decodeOldCall(place, calls)]
  const later = new Set(called.slice(1).flatMap(({ state }) => (state === '' ? [] : [state])))
  const states = [...sealedIn(place), ...called.slice(0, 1).map(({ state }) => state)]
  const first = [...new Set(states)].filter(state => state !== '' && !later.has(state))
  const reasoning = decodeTurnReasoning(place, first)
  const used = new Set(first)
  const callItems = called.flatMap(({ call, state }): readonly Item[] => {
    if (state === '' || used.has(state)) return [call]
    used.add(state)
    return [noted<ReasoningItem>({ type: 'reasoning', summary: [], encrypted_content: state }, place), call]
  })
  const hasMessage = callItems.length + images.length === 0 || content.some(part => part.type !== 'text' || part.text !== '')
  return [
    ...reasoning,
    ...(hasMessage ? [message(place, 'assistant', content)] : []),
    ...(images.length > 0 ? [noted(sentBack(images), place)] : []),
    ...callItems,
  ]
}

/** Decodes a generated image. One that is neither inline nor a URL cannot be expressed in other dialects. */
const decodeImage: Read<ImagePart | Native> = (value, path) => {
  const body = objectValue(value, path)
  const url = imageUrl(body)
  const image: ImagePart | Native = isImageUrl(url)
    ? { type: 'image', url, isGenerated: true }
    : { type: 'native', dialect, body, isRecord: true }
  return remember(image, { dialect, body, path })
}

function decodeTexts(place: ObjectAtPath): readonly Part[] {
  const refusal = optional(place, 'refusal', anyText)
  const content = (optional(place, 'content', decodeContent) ?? []).map(earlierPart)
  return refusal ? [...content, { type: 'refusal', refusal }] : content
}

/** Decodes reasoning text, which may be raw or summarized. It becomes a summary, because every provider accepts those back. */
function decodeTurnReasoning(place: ObjectAtPath, states: readonly string[]): readonly ReasoningItem[] {
  optional(place, 'reasoning_content', anyText)
  optional(place, 'reasoning', anyText)
  const { reasoning_content, reasoning, reasoning_details } = place.body
  const texts = textsOf({ reasoning_content, reasoning, reasoning_details })
    .map(each => each.text)
    .join('')
  const [encrypted_content, ...others] = states
  if (texts === '' && encrypted_content === undefined) return []
  const first: ReasoningItem = { type: 'reasoning', summary: texts === '' ? [] : [texts], encrypted_content }
  return [first, ...others.map((state): ReasoningItem => ({ type: 'reasoning', summary: [], encrypted_content: state }))].map(item =>
    noted(item, place),
  )
}

function sealedIn(place: ObjectAtPath): readonly string[] {
  const details = optional(place, 'reasoning_details', arrayOf(objectValue)) ?? []
  return details.flatMap(({ type, data }) => (type === 'reasoning.encrypted' && typeof data === 'string' ? [data] : []))
}

interface DecodedCall {
  readonly call: FunctionCallItem | Native
  /** Sealed state that the client keeps with the call, or an empty string. */
  readonly state: string
}

const decodeCall =
  (container: JsonObject): Read<DecodedCall> =>
  (value, path) => {
    const entry = objectValue(value, path)
    const call_id = required({ body: entry, path }, 'id', nonEmptyText)
    const type = optional({ body: entry, path }, 'type', anyText) ?? 'function'
    const origin = { body: container, path }
    const state = signatureIn(entry.extra_content)
    if (type !== 'function' && type !== 'custom') return { call: noted<Native>(earlierItem(dialect, entry), origin), state }
    const place = { body: required({ body: entry, path }, type, objectValue), path: `${path}.${type}` }
    return { call: noted(functionCall(place, call_id, type === 'custom'), origin), state }
  }

const functionCall = (place: ObjectAtPath, call_id: string, isCustom = false): FunctionCallItem => ({
  type: 'function_call',
  call_id,
  name: required(place, 'name', nonEmptyText),
  arguments: isCustom ? required(place, 'input', anyText) : (optional(place, 'arguments', anyText) ?? ''),
  custom: isCustom || undefined,
})

function decodeOldCall(place: ObjectAtPath, calls: OldCalls): readonly DecodedCall[] {
  const body = optional(place, 'function_call', objectValue)
  if (!body) return []
  const path = `${place.path}.function_call`
  const call = functionCall({ body, path }, deriveCallId(path, required({ body, path }, 'name', nonEmptyText)))
  calls.set(call.name, call.call_id)
  return [{ call: noted(call, { body: place.body, path }), state: '' }]
}
