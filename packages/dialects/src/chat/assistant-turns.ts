import { type FittedNames, fittedNames } from '../common/fitted-names.ts'
import { callIdsIn, hashedCallId, shortCallId } from '../common/ids.ts'
import { objects, stringOf } from '../common/json.ts'
import { isAssistantItem } from '../common/tool-result-order.ts'
import type { FunctionCallItem, Item, MessageItem } from '../protocol/item.ts'
import type { Quirks } from '../protocol/model.ts'
import type { Native } from '../protocol/tool.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { cachedText, lastCachePoint } from './encode-parts.ts'
import { encodeTurnReasoning, type ReasoningRules, startReasoning, type TurnReasoning } from './encode-reasoning.ts'
import { signatureIn } from './message-fields.ts'
import { originalBody, reasoningFields, without } from './wire.ts'

// An assistant turn: one message in this dialect, several items in a prompt. Items that were decoded from one client message remember it
// (`originalBody`) and are encoded back into it, including its unknown fields.

export interface AssistantTurn {
  /** The client's message, if the turn came in this dialect. */
  origin: JsonObject | undefined
  readonly messages: TurnMessage[]
  /** Whether the client's message has generated images; they are then sent in it. */
  hasImages: boolean
  readonly calls: (FunctionCallItem | Native)[]
  readonly reasoning: TurnReasoning
  readonly signatures: Map<string, string>
  /** Encoded tool results. */
  readonly results: JsonObject[]
  /** Images and files from tool results. A tool message cannot hold them, and no other message may come between tool messages. */
  readonly media: JsonObject[]
}

export interface TurnMessage {
  readonly item: MessageItem
  /** The message text. Called only if the message is written anew, because it reports losses. */
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

/** The client message that each item came from. Reasoning that was changed belongs to the message of the item after it. */
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
  /** Whether reasoning of the turn was left out. */
  readonly isReasoningDropped: boolean
}

/** `callIds` is called only if the turn has calls. */
export function encodeTurn(turn: AssistantTurn, callIds: () => FittedNames, rules: ReasoningRules): EncodedTurn {
  const { origin, calls, results, media, reasoning } = turn
  const { fields, parts, isDropped } = encodeTurnReasoning(reasoning, origin, rules)
  const messages: JsonObject[] = []
  const hasReasoning = reasoning.texts.length + reasoning.details.length > 0 && Object.keys(fields).length + parts.length > 0
  if (turn.messages.length > 0 || turn.hasImages || calls.length > 0 || hasReasoning) {
    messages.push({
      ...withPartsFirst(encodeSpeech(turn), parts),
      ...fields,
      ...(calls.length > 0 && { tool_calls: encodeCalls(turn, callIds()) }),
    })
  }
  for (const result of results) messages.push(result)
  if (media.length > 0) messages.push({ role: 'user', content: media })
  return { messages, isReasoningDropped: isDropped }
}

function withPartsFirst(message: JsonObject, parts: readonly JsonObject[]): JsonObject {
  if (parts.length === 0) return message
  const { content } = message
  const contentParts = typeof content === 'string' && content !== '' ? [{ type: 'text', text: content }] : objects(content)
  return { ...message, content: [...parts, ...contentParts] }
}

/** Fields that are rebuilt from the items, or that have an old name. */
const rewritten: ReadonlySet<string> = new Set([...reasoningFields, 'tool_calls', 'function_call'])

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
  const cache = content === '' ? undefined : lastCachePoint(messages.flatMap(({ item }) => item.content))
  const spoken = content === '' && calls.length > 0 ? null : content
  return { ...rest, role: 'assistant', content: cache ? [cachedText(content, cache)] : spoken }
}

const isBlank = (value: Json | undefined): boolean => value === undefined || value === null || value === ''

function encodeCalls({ origin, calls, signatures, reasoning }: AssistantTurn, callIds: FittedNames): readonly JsonObject[] {
  const known = new Map(origin ? objects(origin.tool_calls).map(entry => [entry.id, entry]) : [])
  return calls.map(call => {
    const id = call.type === 'native' ? stringOf(call.body.id) : call.call_id
    const { extra_content, ...entry } = (call.type === 'native' ? call.body : known.get(id)) ?? {}
    const unsealedSignature = signatureIn(extra_content)
    const extra = encodeExtraContent(
      extra_content,
      signatures.get(id) ?? (reasoning.unsealed.has(unsealedSignature) ? unsealedSignature : undefined),
    )
    return {
      ...entry,
      id: callIds.sent(id),
      ...(call.type === 'function_call' && encodeFunction(call, entry)),
      ...(extra && { extra_content: extra }),
    }
  })
}

/** Only calls that the client sent as custom are custom here. */
const encodeFunction = ({ name, arguments: written, custom }: FunctionCallItem, entry: JsonObject): JsonObject =>
  custom
    ? { type: 'custom', custom: { ...(isObject(entry.custom) && entry.custom), name, input: written } }
    : {
        type: 'function',
        function: { ...(isObject(entry.function) && entry.function), name, arguments: written === '' ? '{}' : written },
      }

/** Replaces the client's signature, which the gateway sealed, with the provider's own. */
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

/** The call ids of a conversation as the provider accepts them, those of calls that only this dialect has included. */
export const fittedCallIds = (input: readonly Item[], { callIdLength: length }: Quirks): FittedNames =>
  fittedNames([...callIdsIn(input), ...input.flatMap(nativeCallId)], (id, attempt) => {
    if (length === undefined) return shortCallId(id, attempt, maxCallIdLength)
    if (id.length === length && /^[a-zA-Z0-9]+$/.test(id)) return id
    return hashedCallId(id, attempt).slice('call_'.length).padEnd(length, '0').slice(0, length)
  })

const nativeCallId = (item: Item): readonly string[] =>
  item.type === 'native' && item.body.role === undefined && typeof item.body.id === 'string' ? [item.body.id] : []
