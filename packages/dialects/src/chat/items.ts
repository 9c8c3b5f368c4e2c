import { contentLost } from '../common/apply-quirks.ts'
import type { FittedNames } from '../common/fitted-names.ts'
import { imagesSentBack } from '../common/generated-image.ts'
import { movedMediaNote } from '../common/moved-media.ts'
import { itemParts } from '../common/part-warnings.ts'
import { orderToolResults } from '../common/tool-result-order.ts'
import { type FunctionCallOutputItem, type Item, type MessageItem, type Part, type ReasoningItem, sealedPrefix } from '../protocol/item.ts'
import type { Quirks } from '../protocol/model.ts'
import { pathOf } from '../protocol/original.ts'
import type { Warning } from '../protocol/response.ts'
import type { Native } from '../protocol/tool.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { type AssistantTurn, encodeTurn, fittedCallIds, originsOf, startTurn, type TurnMessage } from './assistant-turns.ts'
import { cachedText, encodeParts, goesAsItCame, lastCachePoint, type ReportLoss, textsOf } from './encode-parts.ts'
import type { ReasoningRules } from './encode-reasoning.ts'
import { noState, readState } from './reasoning-state.ts'
import { dialect, originalBody } from './wire.ts'

// Encodes a conversation as messages. An assistant turn is one message but several items.

export interface EncodedMessages {
  readonly messages: readonly JsonObject[]
  readonly warnings: readonly Warning[]
}

interface MessageEncoder {
  readonly quirks: Quirks
  readonly rules: ReasoningRules
  readonly messages: JsonObject[]
  readonly warnings: Warning[]
  /** The call ids of the conversation. Most have none, so they are fitted when the first one is encoded. */
  readonly callIds: () => FittedNames
  turn: AssistantTurn | undefined
  /** Paths of turns whose reasoning was left out. */
  readonly withoutReasoning: string[]
}

/** An item with the client message it came from, and its path for warnings. */
interface ItemOrigin {
  readonly origin: JsonObject | undefined
  readonly param: string
}

/** Settings for encoding the messages of one request. */
interface MessageOptions {
  readonly quirks: Quirks
  readonly rules: ReasoningRules
}

export function encodeMessages(
  input: readonly Item[],
  instructions: readonly string[],
  { quirks, rules }: MessageOptions,
): EncodedMessages {
  const messages: JsonObject[] = instructions.map(content => ({ role: systemRole(quirks), content }))
  let fitted: FittedNames | undefined
  const callIds = (): FittedNames => (fitted ??= fittedCallIds(input, quirks))
  const encoder: MessageEncoder = { quirks, rules, messages, warnings: [], callIds, turn: undefined, withoutReasoning: [] }
  const origins = originsOf(input)
  for (const { item, at } of orderToolResults(input, isOwn)) {
    encodeItem(encoder, item, { origin: origins[at], param: pathOf(item, `input[${at}]`) })
  }
  closeTurn(encoder)
  return { messages, warnings: [...encoder.warnings, ...droppedReasoning(encoder)] }
}

function droppedReasoning({ withoutReasoning }: MessageEncoder): readonly Warning[] {
  const [param] = withoutReasoning
  if (param === undefined) return []
  const count = withoutReasoning.length
  const message = `The reasoning of ${count === 1 ? 'one turn' : `${count} turns`} was left out: this provider does not accept it.`
  return [{ code: 'reasoning_state_dropped', message, param }]
}

/** Whether an item came in this dialect. Such a tool result stays where the client put it. */
const isOwn = (item: Item): boolean => originalBody(item) !== undefined

function encodeItem(encoder: MessageEncoder, item: Item, entry: ItemOrigin): void {
  if (item.type === 'native') addNativeItem(encoder, item, entry)
  else if (item.type === 'function_call') continueTurn(encoder, entry.origin).calls.push(item)
  else if (item.type === 'reasoning') addReasoning(continueTurn(encoder, entry.origin), item, entry.param)
  else if (item.type === 'function_call_output') addResult(encoder, item, entry)
  else if (originalBody(item) !== undefined && imagesSentBack(item)) continueTurn(encoder, entry.origin).hasImages = true
  else if (item.role === 'assistant') {
    continueTurn(encoder, entry.origin).messages.push(turnMessage(item, lossReporter(encoder, item, entry)))
  } else {
    closeTurn(encoder)
    encoder.messages.push(encodeMessage(item, encoder.quirks, lossReporter(encoder, item, entry)))
  }
}

function closeTurn(encoder: MessageEncoder): void {
  const { turn } = encoder
  encoder.turn = undefined
  if (!turn) return
  const { messages, isReasoningDropped } = encodeTurn(turn, encoder.callIds, encoder.rules)
  for (const message of messages) encoder.messages.push(message)
  if (isReasoningDropped) encoder.withoutReasoning.push(turn.reasoning.param ?? '')
}

/** Continues the current turn, unless it has tool results or another client message begins. */
function continueTurn(encoder: MessageEncoder, origin: JsonObject | undefined): AssistantTurn {
  const { turn } = encoder
  if (turn && (turn.results.length > 0 || (origin && turn.origin && origin !== turn.origin))) closeTurn(encoder)
  encoder.turn ??= startTurn(origin)
  encoder.turn.origin ??= origin
  return encoder.turn
}

function addNativeItem(encoder: MessageEncoder, item: Native, { origin, param }: ItemOrigin): void {
  if (item.dialect !== dialect) encoder.warnings.push(contentLost(param, `\`${param}\` is not supported by the API of this provider.`))
  else if (item.body.role === undefined) continueTurn(encoder, origin).calls.push(item)
  else {
    closeTurn(encoder)
    encoder.messages.push(item.body)
  }
}

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

function addResult(encoder: MessageEncoder, item: FunctionCallOutputItem, entry: ItemOrigin): void {
  const { result, media } = encodeResult(item, encoder, lossReporter(encoder, item, entry))
  encoder.turn ??= startTurn(undefined)
  encoder.turn.results.push(result)
  for (const part of media) encoder.turn.media.push(part)
}

function lossReporter({ warnings }: MessageEncoder, item: Item, { param }: ItemOrigin): ReportLoss {
  const parts = itemParts(item)
  return (part, reason) => {
    const lost = parts[part]
    const place = `${param}.${item.type === 'message' ? 'content' : 'output'}[${part}]`
    const path = lost ? pathOf(lost, place) : place
    warnings.push(contentLost(path, `\`${path}\` ${reason}`))
  }
}

/** A message that is sent unchanged is not converted to text and loses nothing. */
function turnMessage(item: MessageItem, reportLoss: ReportLoss): TurnMessage {
  const encode = (): string => textsOf(item.content, reportLoss).join('')
  if (originalBody(item)) return { item, text: encode }
  const text = encode()
  return { item, text: () => text }
}

const systemRole = (quirks: Quirks): string => (quirks.developerRole ? 'developer' : 'system')

interface EncodedResult {
  readonly result: JsonObject
  readonly media: readonly JsonObject[]
}

function encodeResult(item: FunctionCallOutputItem, { quirks, callIds }: MessageEncoder, reportLoss: ReportLoss): EncodedResult {
  const { output } = item
  const tool_call_id = callIds().sent(item.call_id)
  const known = originalBody(item)
  if (known?.role === 'tool') return { result: { ...known, tool_call_id }, media: [] }
  const parts: readonly Part[] = typeof output === 'string' ? [{ type: 'text', text: output }] : output
  const cache = item.cache ?? lastCachePoint(parts)
  const reportAt =
    (at: number): ReportLoss =>
    (_, reason) =>
      reportLoss(at, reason)
  const media = parts.flatMap((part, at) => (isMedia(part) ? encodeParts([part], quirks, reportAt(at)) : []))
  const text = parts.flatMap((part, at) => (isMedia(part) ? [] : textsOf([part], reportAt(at)))).join('\n')
  const content = text === '' && media.length > 0 ? 'The result is in the next message.' : text
  const note = { type: 'text', text: movedMediaNote(tool_call_id) }
  return {
    result: { role: 'tool', tool_call_id, content: cache ? [cachedText(content, cache)] : content },
    media: media.length > 0 ? [note, ...media] : [],
  }
}

const isMedia = ({ type }: Part): boolean => type === 'image' || type === 'file' || type === 'audio'

function encodeMessage(item: MessageItem, quirks: Quirks, reportLoss: ReportLoss): JsonObject {
  const role = item.role === 'developer' ? systemRole(quirks) : item.role
  const known = originalBody(item)
  if (known && item.content.every(part => goesAsItCame(part, quirks))) return { ...known, role }
  if (!lastCachePoint(item.content) && item.content.every(part => part.type === 'text' || part.type === 'refusal')) {
    // A single string, because many hosts do not support lists of parts.
    return { role, content: textsOf(item.content, reportLoss).join('\n\n') }
  }
  const parts = encodeParts(item.content, quirks, reportLoss)
  return { ...known, role, content: parts.length > 0 ? parts : '' }
}
