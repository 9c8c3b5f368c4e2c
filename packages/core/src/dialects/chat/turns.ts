import type { FunctionCallItem, Item, MessageItem, Native } from '../../protocol/item.ts'
import type { Quirks } from '../../protocol/model.ts'
import { isObject, type Json, type JsonObject } from '../../protocol/wire.ts'
import { deriveCallId, shortCallId } from '../ids.ts'
import { objects, stringOf } from '../json.ts'
import { isAssistantItem } from '../tool-result-order.ts'
import { originalBody, signatureIn, thoughtFields, without } from './wire.ts'

// What the assistant did in one go. Here that is one message, with us it is several items; those that came from one message
// of the caller know it (`originalBody`), and go back into it with all that we do not read in it.

export interface Turn {
  /** The caller's own message, where the turn came in this language. */
  origin: JsonObject | undefined
  readonly said: Saying[]
  readonly calls: (FunctionCallItem | Native)[]
  readonly thoughts: string[]
  /** Sealed thoughts, as the provider wants them back. */
  readonly details: JsonObject[]
  readonly signatures: Map<string, string>
  /** What came back from the tools, written. */
  readonly results: JsonObject[]
  /** Images and files that tools returned. They cannot stand in a tool's message, and no other message may come between tool messages. */
  readonly media: JsonObject[]
}

export interface Saying {
  readonly item: MessageItem
  /** What it says in words. */
  readonly text: () => string
}

export const startTurn = (origin: JsonObject | undefined): Turn => ({
  origin,
  said: [],
  calls: [],
  thoughts: [],
  details: [],
  signatures: new Map(),
  results: [],
  media: [],
})

/** The message that each item came from. A thought that was changed on the way belongs to what follows it. */
export function originsOf(input: readonly Item[]): readonly (JsonObject | undefined)[] {
  const origins: (JsonObject | undefined)[] = []
  for (let at = input.length - 1; at >= 0; at--) {
    const item = input[at]
    const next = input[at + 1]
    const follows = item?.type === 'reasoning' && next !== undefined && isAssistantItem(next)
    origins[at] = (item && originalBody(item)) ?? (follows ? origins[at + 1] : undefined)
  }
  return origins
}

export function writeTurn(turn: Turn, quirks: Quirks): readonly JsonObject[] {
  const { said, calls, thoughts, details, results, media } = turn
  const { reasoning_field: field } = quirks
  const messages: JsonObject[] = []
  if (said.length > 0 || calls.length > 0 || details.length > 0 || (field !== undefined && thoughts.length > 0)) {
    messages.push({
      ...writeSpeech(turn),
      // Hosts that want earlier thoughts back want the field on every turn, also where there were none.
      ...(field !== undefined && { [field]: thoughts.join('\n\n') }),
      ...(details.length > 0 && { reasoning_details: details }),
      ...(calls.length > 0 && { tool_calls: writeCalls(turn, quirks) }),
    })
  }
  for (const result of results) messages.push(result)
  if (media.length > 0) messages.push({ role: 'user', content: media })
  return messages
}

/** Read anew from the items, or in the old spelling, and not for the provider to see as it came. */
const rewritten: ReadonlySet<string> = new Set([...thoughtFields, 'tool_calls', 'function_call'])

function writeSpeech({ origin, said, calls }: Turn): JsonObject {
  const base = origin ? without(origin, rewritten) : {}
  const [only] = said
  if (only && said.length === 1 && origin && originalBody(only.item) === origin) return base
  if (!only && origin && isBlank(origin.content) && isBlank(origin.refusal)) return base
  const { refusal, ...rest } = base
  const content = said
    .map(({ text }) => text())
    .filter(words => words !== '')
    .join('\n\n')
  return { ...rest, role: 'assistant', content: content === '' && calls.length > 0 ? null : content }
}

const isBlank = (value: Json | undefined): boolean => value === undefined || value === null || value === ''

function writeCalls({ origin, calls, signatures }: Turn, quirks: Quirks): readonly JsonObject[] {
  const known = new Map(origin ? objects(origin.tool_calls).map(entry => [entry.id, entry]) : [])
  return calls.map(call => {
    const id = call.type === 'native' ? stringOf(call.body.id) : call.call_id
    const { extra_content, ...entry } = (call.type === 'native' ? call.body : known.get(id)) ?? {}
    const extra = writeExtra(extra_content, signatures.get(id))
    return {
      ...entry,
      id: callId(id, quirks),
      ...(call.type === 'function_call' && writeFunction(call, entry)),
      ...(extra && { extra_content: extra }),
    }
  })
}

const writeFunction = ({ name, arguments: written }: FunctionCallItem, entry: JsonObject): JsonObject => ({
  type: 'function',
  function: { ...(isObject(entry.function) && entry.function), name, arguments: written === '' ? '{}' : written },
})

/** The provider's own signature in the place of the caller's, which is ours, sealed. */
function writeExtra(extra: Json | undefined, signature: string | undefined): JsonObject | undefined {
  if (signature === undefined && signatureIn(extra) === '') return isObject(extra) ? extra : undefined
  const { google, ...others } = isObject(extra) ? extra : {}
  const { thought_signature, ...rest } = isObject(google) ? google : {}
  const ours = { ...rest, ...(signature !== undefined && { thought_signature: signature }) }
  const written = { ...others, ...(Object.keys(ours).length > 0 && { google: ours }) }
  return Object.keys(written).length > 0 ? written : undefined
}

/** OpenAI takes no longer one. */
const longestCallId = 40

/** The same id always becomes the same hash, so calls and results still find each other. */
export function callId(id: string, { call_id_length: length }: Quirks): string {
  if (length === undefined) return shortCallId(id, longestCallId)
  if (id.length === length && /^[a-zA-Z0-9]+$/.test(id)) return id
  return deriveCallId(id).slice('call_'.length).padEnd(length, '0').slice(0, length)
}
