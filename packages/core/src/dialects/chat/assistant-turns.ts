import type { FunctionCallItem, Item, MessageItem, Native } from '../../protocol/item.ts'
import type { Quirks } from '../../protocol/model.ts'
import { isObject, type Json, type JsonObject } from '../../protocol/wire.ts'
import { deriveCallId, shortCallId } from '../ids.ts'
import { objects, stringOf } from '../json.ts'
import { isAssistantItem } from '../tool-result-order.ts'
import { encodeThoughts, type ReasoningRules, startReasoning, type TurnReasoning } from './encode-reasoning.ts'
import { signatureIn } from './message-fields.ts'
import { originalBody, thoughtFields, without } from './wire.ts'

// A turn of the assistant. It is one message in this language and several items in a prompt. Items that came from one message
// of the caller remember it (`originalBody`), and go back into it with all in it that is not read here.

export interface AssistantTurn {
  /** The caller's own message, if the turn came in this language. */
  origin: JsonObject | undefined
  readonly messages: TurnMessage[]
  /** The caller's own message holds images that the model made: they go back in it. */
  hasImages: boolean
  readonly calls: (FunctionCallItem | Native)[]
  readonly reasoning: TurnReasoning
  readonly signatures: Map<string, string>
  /** Encoded tool results. */
  readonly results: JsonObject[]
  /** Images and files that tools returned. They cannot stand in a tool's message, and no other message may come between tool messages. */
  readonly media: JsonObject[]
}

export interface TurnMessage {
  readonly item: MessageItem
  /** Its texts. Reports what it loses, so it is called only if the message is written anew. */
  readonly text: () => string
}

export const startTurn = (origin: JsonObject | undefined): AssistantTurn => ({
  origin,
  messages: [],
  hasImages: false,
  calls: [],
  reasoning: startReasoning(),
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

export interface EncodedTurn {
  readonly messages: readonly JsonObject[]
  /** Reasoning of the turn was left out. */
  readonly isReasoningDropped: boolean
}

export function encodeTurn(turn: AssistantTurn, quirks: Quirks, rules: ReasoningRules): EncodedTurn {
  const { origin, calls, results, media, reasoning } = turn
  const { fields, parts, isDropped } = encodeThoughts(reasoning, origin, rules)
  const messages: JsonObject[] = []
  const hasReasoning = reasoning.thoughts.length + reasoning.details.length > 0 && Object.keys(fields).length + parts.length > 0
  if (turn.messages.length > 0 || turn.hasImages || calls.length > 0 || hasReasoning) {
    messages.push({
      ...withPartsFirst(encodeSpeech(turn), parts),
      ...fields,
      ...(calls.length > 0 && { tool_calls: encodeCalls(turn, quirks) }),
    })
  }
  for (const result of results) messages.push(result)
  if (media.length > 0) messages.push({ role: 'user', content: media })
  return { messages, isReasoningDropped: isDropped }
}

function withPartsFirst(message: JsonObject, parts: readonly JsonObject[]): JsonObject {
  if (parts.length === 0) return message
  const { content } = message
  const said = typeof content === 'string' && content !== '' ? [{ type: 'text', text: content }] : objects(content)
  return { ...message, content: [...parts, ...said] }
}

/** Fields that are written anew from the items, or that have an old name. */
const rewritten: ReadonlySet<string> = new Set([...thoughtFields, 'tool_calls', 'function_call'])

function encodeSpeech({ origin, messages, calls }: AssistantTurn): JsonObject {
  const base = origin ? without(origin, rewritten) : {}
  const [only] = messages
  if (only && messages.length === 1 && origin && originalBody(only.item) === origin) return base
  if (!only && origin && isBlank(origin.content) && isBlank(origin.refusal)) return base
  const { refusal, ...rest } = base
  const content = messages
    .map(({ text }) => text())
    .filter(text => text !== '')
    .join('\n\n')
  return { ...rest, role: 'assistant', content: content === '' && calls.length > 0 ? null : content }
}

const isBlank = (value: Json | undefined): boolean => value === undefined || value === null || value === ''

function encodeCalls({ origin, calls, signatures, reasoning }: AssistantTurn, quirks: Quirks): readonly JsonObject[] {
  const known = new Map(origin ? objects(origin.tool_calls).map(entry => [entry.id, entry]) : [])
  return calls.map(call => {
    const id = call.type === 'native' ? stringOf(call.body.id) : call.call_id
    const { extra_content, ...entry } = (call.type === 'native' ? call.body : known.get(id)) ?? {}
    const theirs = signatureIn(extra_content)
    const extra = encodeExtraContent(extra_content, signatures.get(id) ?? (reasoning.unsealed.has(theirs) ? theirs : undefined))
    return {
      ...entry,
      id: encodeCallId(id, quirks),
      ...(call.type === 'function_call' && encodeFunction(call, entry)),
      ...(extra && { extra_content: extra }),
    }
  })
}

/** Only the caller's own calls are custom here. */
const encodeFunction = ({ name, arguments: written, custom }: FunctionCallItem, entry: JsonObject): JsonObject =>
  custom
    ? { type: 'custom', custom: { ...(isObject(entry.custom) && entry.custom), name, input: written } }
    : {
        type: 'function',
        function: { ...(isObject(entry.function) && entry.function), name, arguments: written === '' ? '{}' : written },
      }

/** Puts the provider's own signature in the place of the caller's, which is sealed by the gateway. */
function encodeExtraContent(extra: Json | undefined, signature: string | undefined): JsonObject | undefined {
  if ((signature ?? '') === signatureIn(extra)) return isObject(extra) ? extra : undefined
  const { google, ...others } = isObject(extra) ? extra : {}
  const { thought_signature, ...rest } = isObject(google) ? google : {}
  const kept = { ...rest, ...(signature !== undefined && { thought_signature: signature }) }
  const encoded = { ...others, ...(Object.keys(kept).length > 0 && { google: kept }) }
  return Object.keys(encoded).length > 0 ? encoded : undefined
}

/** OpenAI's limit, in characters. */
const maxCallIdLength = 40

/** The same id always becomes the same hash, so calls and results still find each other. */
export function encodeCallId(id: string, { call_id_length: length }: Quirks): string {
  if (length === undefined) return shortCallId(id, maxCallIdLength)
  if (id.length === length && /^[a-zA-Z0-9]+$/.test(id)) return id
  return deriveCallId(id).slice('call_'.length).padEnd(length, '0').slice(0, length)
}
