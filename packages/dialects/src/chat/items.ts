import type { BodyDraft } from '../common/body-draft.ts'
import { type FittedNames, fittedNames } from '../common/fitted-names.ts'
import { imagesSentBack } from '../common/generated-image.ts'
import { callIdsIn, hashedCallId, shortCallId } from '../common/ids.ts'
import { objects, stringOf } from '../common/json.ts'
import { movedMediaNote } from '../common/moved-media.ts'
import { isAssistantItem, orderToolResults } from '../common/tool-result-order.ts'
import {
  type FunctionCallItem,
  type FunctionCallOutputItem,
  type Item,
  type MessageItem,
  type Part,
  type ReasoningItem,
  sealedPrefix,
} from '../protocol/item.ts'
import { pathOf } from '../protocol/original.ts'
import type { Native } from '../protocol/tool.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { cachedText, encodePart, goesAsItCame, lastCachePoint, notInThisApi, refusalReason } from './encode-parts.ts'
import { encodeTurnReasoning, type ReasoningRules, startReasoning, type TurnReasoning } from './encode-reasoning.ts'
import { signatureIn } from './message-fields.ts'
import { noState, readState } from './reasoning-state.ts'
import { dialect, originalBody, reasoningFields, without } from './wire.ts'

// Encodes a conversation as messages. An assistant turn is one message in this dialect, but several items in a prompt. Items that were
// decoded from one client message remember it (`originalBody`) and are encoded back into it, including its unknown fields.

/** Sets `messages`. `instructions`: texts to begin with. */
export function encodeMessages(input: readonly Item[], instructions: readonly string[], rules: ReasoningRules, draft: BodyDraft): void {
  const encoder = new MessageEncoder(input, rules, draft)
  for (const content of instructions) encoder.messages.push({ role: encoder.systemRole, content })
  const origins = originsOf(input)
  // A tool result that came in this dialect stays where the client put it.
  for (const { item, at } of orderToolResults(input, each => originalBody(each) !== undefined))
    encoder.add(item, origins[at], pathOf(item, `input[${at}]`))
  encoder.closeTurn()
  draft.set('messages', encoder.messages)
  const { length: count, 0: param } = encoder.withoutReasoning
  if (param === undefined) return
  const message = `The reasoning of ${count === 1 ? 'one turn' : `${count} turns`} was left out: this provider does not accept it.`
  draft.warnings.push({ code: 'reasoning_state_dropped', message, param })
}

/** The client message that each item came from. Reasoning that was changed belongs to the message of the item after it. */
function originsOf(input: readonly Item[]): readonly (JsonObject | undefined)[] {
  const origins: (JsonObject | undefined)[] = []
  for (let at = input.length - 1; at >= 0; at--) {
    const item = input[at]
    const next = input[at + 1]
    const follows = item?.type === 'reasoning' && next !== undefined && isAssistantItem(next)
    origins[at] = (item && originalBody(item)) ?? (follows ? origins[at + 1] : undefined)
  }
  return origins
}

interface AssistantTurn {
  /** The client's message, if the turn came in this dialect. */
  origin: JsonObject | undefined
  /** `text`: undefined for a message that is sent unchanged if it is the only one. */
  readonly messages: { readonly item: MessageItem; readonly param: string; readonly text: string | undefined }[]
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

/** Message fields that are rebuilt from the items, or that have an old name. */
const rewritten: ReadonlySet<string> = new Set([...reasoningFields, 'tool_calls', 'function_call'])

class MessageEncoder {
  readonly messages: JsonObject[] = []
  /** Paths of turns whose reasoning was left out. */
  readonly withoutReasoning: string[] = []
  readonly systemRole: 'developer' | 'system'
  readonly #input: readonly Item[]
  readonly #rules: ReasoningRules
  readonly #draft: BodyDraft
  #turn: AssistantTurn | undefined
  #callIds: FittedNames | undefined

  constructor(input: readonly Item[], rules: ReasoningRules, draft: BodyDraft) {
    this.#input = input
    this.#rules = rules
    this.#draft = draft
    this.systemRole = draft.quirks.developerRole ? 'developer' : 'system'
  }

  /** `origin`: the client's message. `param`: the path of the item, for warnings. */
  add(item: Item, origin: JsonObject | undefined, param: string): void {
    if (item.type === 'native') this.#addNative(item, origin, param)
    else if (item.type === 'function_call') this.#continueTurn(origin).calls.push(item)
    else if (item.type === 'reasoning') addReasoning(this.#continueTurn(origin), item, param)
    else if (item.type === 'function_call_output') this.#addResult(item, param)
    else if (originalBody(item) !== undefined && imagesSentBack(item)) this.#continueTurn(origin).hasImages = true
    else if (item.role === 'assistant') {
      const turn = this.#continueTurn(origin)
      turn.messages.push({ item, param, text: originalBody(item) ? undefined : this.#textsOf(item, param).join('') })
    } else {
      this.closeTurn()
      this.messages.push(this.#encodeMessage(item, param))
    }
  }

  /** Continues the current turn, unless it has tool results or another client message begins. */
  #continueTurn(origin: JsonObject | undefined): AssistantTurn {
    const known = this.#turn
    if (known && (known.results.length > 0 || (origin && known.origin && origin !== known.origin))) this.closeTurn()
    const turn = this.#openTurn()
    turn.origin ??= origin
    return turn
  }

  #openTurn(): AssistantTurn {
    this.#turn ??= {
      origin: undefined,
      messages: [],
      hasImages: false,
      calls: [],
      reasoning: startReasoning(),
      signatures: new Map(),
      results: [],
      media: [],
    }
    return this.#turn
  }

  closeTurn(): void {
    const turn = this.#turn
    this.#turn = undefined
    if (!turn) return
    const { origin, calls, results, media, reasoning } = turn
    const { fields, parts, isDropped } = encodeTurnReasoning(reasoning, origin, this.#rules)
    const hasReasoning = reasoning.texts.length + reasoning.details.length > 0 && Object.keys(fields).length + parts.length > 0
    if (turn.messages.length > 0 || turn.hasImages || calls.length > 0 || hasReasoning) {
      const message: Record<string, Json | undefined> = { ...this.#encodeSpeech(turn) }
      if (parts.length > 0) {
        const { content } = message
        const isText = typeof content === 'string' && content !== ''
        message.content = [...parts, ...(isText ? [{ type: 'text', text: content }] : objects(content))]
      }
      this.messages.push({ ...message, ...fields, tool_calls: calls.length > 0 ? this.#encodeCalls(turn) : undefined })
    }
    for (const result of results) this.messages.push(result)
    if (media.length > 0) this.messages.push({ role: 'user', content: media })
    if (isDropped) this.withoutReasoning.push(reasoning.param ?? '')
  }

  #encodeSpeech({ origin, messages, calls }: AssistantTurn): JsonObject {
    const base = origin ? without(origin, rewritten) : {}
    const [only] = messages
    if (only && messages.length === 1 && origin && originalBody(only.item) === origin) return base
    if (!only && origin && !origin.content && !origin.refusal) return base
    const { refusal, ...rest } = base
    const content = messages
      .map(({ item, param, text }) => text ?? this.#textsOf(item, param).join(''))
      .filter(text => text !== '')
      .join('\n\n')
    const cache = content === '' ? undefined : lastCachePoint(messages.flatMap(({ item }) => item.content))
    const spoken = content === '' && calls.length > 0 ? null : content
    return { ...rest, role: 'assistant', content: cache ? [cachedText(content, cache)] : spoken }
  }

  #encodeCalls({ origin, calls, signatures, reasoning }: AssistantTurn): readonly JsonObject[] {
    const known = new Map(origin ? objects(origin.tool_calls).map(entry => [entry.id, entry]) : [])
    return calls.map(call => {
      const id = call.type === 'native' ? stringOf(call.body.id) : call.call_id
      const { extra_content, ...entry } = (call.type === 'native' ? call.body : known.get(id)) ?? {}
      const unsealed = signatureIn(extra_content)
      const signature = signatures.get(id) ?? (reasoning.unsealed.has(unsealed) ? unsealed : undefined)
      return {
        ...entry,
        id: this.#sentId(id),
        ...(call.type === 'function_call' ? encodeFunction(call, entry) : undefined),
        extra_content: encodeExtraContent(extra_content, signature),
      }
    })
  }

  /** The call id as sent. Most conversations have no calls, so the ids are fitted when the first one is encoded. */
  #sentId(id: string): string {
    this.#callIds ??= fittedCallIds(this.#input, this.#draft.quirks.callIdLength)
    return this.#callIds.sent(id)
  }

  #addNative(item: Native, origin: JsonObject | undefined, param: string): void {
    if (item.dialect !== dialect) this.#draft.loseContent(param)
    else if (item.body.role === undefined) this.#continueTurn(origin).calls.push(item)
    else {
      this.closeTurn()
      this.messages.push(item.body)
    }
  }

  #addResult(item: FunctionCallOutputItem, param: string): void {
    const { output } = item
    const tool_call_id = this.#sentId(item.call_id)
    const known = originalBody(item)
    const turn = this.#openTurn()
    if (known?.role === 'tool') {
      turn.results.push({ ...known, tool_call_id })
      return
    }
    const parts: readonly Part[] = typeof output === 'string' ? [{ type: 'text', text: output }] : output
    const path = `${param}.output`
    const cache = item.cache ?? lastCachePoint(parts)
    const media = parts.flatMap((part, index) => (isMedia(part) ? this.#encodePart(part, `${path}[${index}]`) : []))
    const text = parts.flatMap((part, index) => (isMedia(part) ? [] : this.#textOf(part, `${path}[${index}]`))).join('\n')
    const content = text === '' && media.length > 0 ? 'The result is in the next message.' : text
    turn.results.push({ role: 'tool', tool_call_id, content: cache ? [cachedText(content, cache)] : content })
    if (media.length > 0) turn.media.push({ type: 'text', text: movedMediaNote(tool_call_id) }, ...media)
  }

  #encodeMessage(item: MessageItem, param: string): JsonObject {
    const { quirks } = this.#draft
    const role = item.role === 'developer' ? this.systemRole : item.role
    const known = originalBody(item)
    if (known && item.content.every(part => goesAsItCame(part, quirks))) return { ...known, role }
    if (!lastCachePoint(item.content) && item.content.every(part => part.type === 'text' || part.type === 'refusal')) {
      // A single string, because many hosts do not support lists of parts.
      return { role, content: this.#textsOf(item, param).join('\n\n') }
    }
    const parts = item.content.flatMap((part, index) => this.#encodePart(part, `${param}.content[${index}]`))
    return { ...known, role, content: parts.length > 0 ? parts : '' }
  }

  #encodePart(part: Part, place: string): readonly JsonObject[] {
    const reason = refusalReason(part, this.#draft.quirks)
    if (reason === undefined) return [encodePart(part, this.#draft.quirks)]
    this.#draft.loseContent(pathOf(part, place), reason)
    return []
  }

  /** The texts of a message that may contain only text. */
  #textsOf({ content }: MessageItem, param: string): readonly string[] {
    return content.flatMap((part, index) => this.#textOf(part, `${param}.content[${index}]`))
  }

  #textOf(part: Part, place: string): readonly string[] {
    if (part.type === 'text') return [part.text]
    if (part.type === 'refusal') return [part.refusal]
    this.#draft.loseContent(pathOf(part, place), notInThisApi)
    return []
  }
}

const isMedia = ({ type }: Part): boolean => type === 'image' || type === 'file' || type === 'audio'

function addReasoning({ reasoning, signatures }: AssistantTurn, item: ReasoningItem, param: string): void {
  const isCallers = originalBody(item) !== undefined
  const { encrypted_content = '' } = item
  const state = isCallers ? noState : readState(encrypted_content)
  const isInState = state.details.length + state.signatures.length > 0
  const from = state.field ? 'provider' : isCallers ? 'caller' : 'elsewhere'
  for (const text of item.content ?? item.summary) if (text !== '') reasoning.texts.push({ text, from, isInState })
  for (const detail of state.details) reasoning.details.push(detail)
  for (const [call, signature] of state.signatures) signatures.set(call, signature)
  if (isCallers && encrypted_content !== '' && !encrypted_content.startsWith(sealedPrefix)) reasoning.unsealed.add(encrypted_content)
  reasoning.field ??= state.field
  reasoning.param ??= param
}

/** Only calls that the client sent as custom are custom here. */
const encodeFunction = ({ name, arguments: written, custom }: FunctionCallItem, entry: JsonObject): JsonObject =>
  custom
    ? { type: 'custom', custom: { ...(isObject(entry.custom) && entry.custom), name, input: written } }
    : { type: 'function', function: { ...(isObject(entry.function) && entry.function), name, arguments: written === '' ? '{}' : written } }

/** Replaces the client's signature, which the gateway sealed, with the provider's own. */
function encodeExtraContent(extra: Json | undefined, signature: string | undefined): JsonObject | undefined {
  if ((signature ?? '') === signatureIn(extra)) return isObject(extra) ? extra : undefined
  const { google, ...others } = isObject(extra) ? extra : {}
  const { thought_signature, ...rest } = isObject(google) ? google : {}
  const kept = signature === undefined ? rest : { ...rest, thought_signature: signature }
  const encoded = Object.keys(kept).length > 0 ? { ...others, google: kept } : others
  return Object.keys(encoded).length > 0 ? encoded : undefined
}

/** OpenAI's limit, in characters. */
const maxCallIdLength = 40

/** The call ids of a conversation as the provider accepts them, those of calls that only this dialect has included. `length`: that of each. */
function fittedCallIds(input: readonly Item[], length: number | undefined): FittedNames {
  const native = input.flatMap(item =>
    item.type === 'native' && item.body.role === undefined && typeof item.body.id === 'string' ? [item.body.id] : [],
  )
  return fittedNames([...callIdsIn(input), ...native], (id, attempt) => {
    if (length === undefined) return shortCallId(id, attempt, maxCallIdLength)
    if (id.length === length && /^[a-zA-Z0-9]+$/.test(id)) return id
    return hashedCallId(id, attempt).slice('call_'.length).padEnd(length, '0').slice(0, length)
  })
}
