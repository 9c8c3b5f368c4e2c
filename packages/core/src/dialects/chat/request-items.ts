import type { FunctionCallItem, Item, MessageItem, Native, Part, ReasoningItem, Role } from '../../protocol/item.ts'
import { remember } from '../../protocol/original.ts'
import type { JsonObject } from '../../protocol/wire.ts'
import { filled, list, object, oneOf, optional, type Read, refuse, required, text, wrong } from '../field-readers.ts'
import { deriveCallId } from '../ids.ts'
import { readContent } from './request-parts.ts'
import { dialect, saidIn, signatureIn } from './wire.ts'

// A caller's messages → items. What the assistant said and did in one message becomes several items, and each of them
// remembers that one message: so they find together again, with all in it that we do not read.

/** The old single call has no id; its result names the function. Function → the id of its last call. */
type OldCalls = Map<string, string>

interface Place {
  readonly body: JsonObject
  readonly path: string
}

export const readMessages: Read<readonly Item[]> = (value, path) => {
  if (!Array.isArray(value)) return wrong(path, 'an array of messages', value)
  if (value.length === 0) return refuse('invalid_parameter_value', `\`${path}\` must hold at least one message.`, path)
  const calls: OldCalls = new Map()
  return list((entry, at) => readMessage({ body: object(entry, at), path: at }, calls))(value, path).flat()
}

function readMessage(place: Place, calls: OldCalls): readonly Item[] {
  const role = required(place, 'role', oneOf('user', 'assistant', 'system', 'developer', 'tool', 'function'))
  if (role === 'assistant') return readAssistant(place, calls)
  if (role === 'tool') return [readResult(place, required(place, 'tool_call_id', filled))]
  if (role === 'function') {
    const name = required(place, 'name', filled)
    return [readResult(place, calls.get(name) ?? deriveCallId(place.path, name))]
  }
  return [message(place, role, required(place, 'content', readContent))]
}

const noted = <T extends Item>(item: T, { body, path }: Place): T => remember(item, { dialect, body, path })

const message = (place: Place, role: Role, content: readonly Part[]): MessageItem => noted({ type: 'message', role, content }, place)

/** The old kind of result may be null. */
function readResult(place: Place, call_id: string): Item {
  const read: Read<string | readonly Part[]> = (value, path) => (typeof value === 'string' ? value : readContent(value, path))
  const output = place.body.role === 'function' ? (optional(place, 'content', read) ?? '') : required(place, 'content', read)
  return noted({ type: 'function_call_output', call_id, output }, place)
}

/** Thoughts, then words, then calls; the state of a call that is not the first stands right before it. */
function readAssistant(place: Place, calls: OldCalls): readonly Item[] {
  const said = readWords(place)
  const called = [...(optional(place, 'tool_calls', list(readCall(place.body))) ?? []), ...readOldCall(place, calls)]
  const later = new Set(called.slice(1).flatMap(({ state }) => (state === '' ? [] : [state])))
  const states = [...sealedIn(place), ...called.slice(0, 1).map(({ state }) => state)]
  const first = [...new Set(states)].filter(state => state !== '' && !later.has(state))
  const thoughts = readThoughts(place, first)
  const told = new Set(first)
  const acts = called.flatMap(({ call, state }): readonly Item[] => {
    if (state === '' || told.has(state)) return [call]
    told.add(state)
    return [noted<ReasoningItem>({ type: 'reasoning', summary: [], encrypted_content: state }, place), call]
  })
  const speaks = acts.length === 0 || said.some(part => part.type !== 'text' || part.text !== '')
  return [...thoughts, ...(speaks ? [message(place, 'assistant', said)] : []), ...acts]
}

function readWords(place: Place): readonly Part[] {
  const refusal = optional(place, 'refusal', text)
  const content = optional(place, 'content', readContent) ?? []
  return refusal ? [...content, { type: 'refusal', refusal }] : content
}

/** In words they may be raw or summed up; only a summary is taken back by everyone. */
function readThoughts(place: Place, states: readonly string[]): readonly ReasoningItem[] {
  optional(place, 'reasoning_content', text)
  optional(place, 'reasoning', text)
  const { reasoning_content, reasoning, reasoning_details } = place.body
  const words = saidIn({ reasoning_content, reasoning, reasoning_details })
    .map(thought => thought.text)
    .join('')
  const [first, ...others] = states
  if (words === '' && first === undefined) return []
  return [
    noted<ReasoningItem>(
      { type: 'reasoning', summary: words === '' ? [] : [words], ...(first !== undefined && { encrypted_content: first }) },
      place,
    ),
    ...others.map(state => noted<ReasoningItem>({ type: 'reasoning', summary: [], encrypted_content: state }, place)),
  ]
}

function sealedIn(place: Place): readonly string[] {
  const details = optional(place, 'reasoning_details', list(object)) ?? []
  return details.flatMap(({ type, data }) => (type === 'reasoning.encrypted' && typeof data === 'string' ? [data] : []))
}

interface Called {
  readonly call: FunctionCallItem | Native
  /** Sealed state that the caller's client keeps with the call; blank where there is none. */
  readonly state: string
}

const readCall =
  (container: JsonObject): Read<Called> =>
  (value, path) => {
    const entry = object(value, path)
    const call_id = required({ body: entry, path }, 'id', filled)
    const type = optional({ body: entry, path }, 'type', text) ?? 'function'
    const origin = { body: container, path }
    const state = signatureIn(entry.extra_content)
    if (type !== 'function') return { call: noted<Native>({ type: 'native', dialect, body: entry }, origin), state }
    const body = required({ body: entry, path }, 'function', object)
    return { call: noted(functionCall({ body, path: `${path}.function` }, call_id), origin), state }
  }

const functionCall = (place: Place, call_id: string): FunctionCallItem => ({
  type: 'function_call',
  call_id,
  name: required(place, 'name', filled),
  arguments: optional(place, 'arguments', text) ?? '',
})

function readOldCall(place: Place, calls: OldCalls): readonly Called[] {
  const body = optional(place, 'function_call', object)
  if (!body) return []
  const path = `${place.path}.function_call`
  const call = functionCall({ body, path }, deriveCallId(path, required({ body, path }, 'name', filled)))
  calls.set(call.name, call.call_id)
  return [{ call: noted(call, { body: place.body, path }), state: '' }]
}
