import { invalidJson, namelessCall } from '../common/answer-failures.ts'
import { announcedImage, imageItem } from '../common/generated-image.ts'
import { callIdFor } from '../common/ids.ts'
import {
  appendAnnotation,
  appendDelta,
  assembledItem,
  assembledReasoning,
  bufferedText,
  createItemAssembler,
  emitItem,
  finishItem,
  type ItemAssembler,
  messageShell,
  noteUnmodeled,
  type PartialItem,
  partOf,
  reasoningShell,
  startItem,
  type TextDelta,
} from '../common/item-assembler.ts'
import { stringOf } from '../common/json.ts'
import type { ResponseMapping } from '../protocol/dialect.ts'
import type { FunctionCallItem, Item, ItemStatus } from '../protocol/item.ts'
import type { Outcome } from '../protocol/response.ts'
import { isObject, type JsonObject } from '../protocol/wire.ts'
import { citationsOf, noSources, type Sources } from './citations.ts'
import { addPieces, argumentsText, createArguments, type PartialArguments } from './partial-args.ts'
import { encodeReasoningState, type SignatureState } from './reasoning-state.ts'
import { dialect, type ResponseHead } from './wire.ts'

/** Turns the parts of a response into items. An item starts when the kind of part changes. */
export interface PartAssembler extends ItemAssembler {
  readonly mapping: ResponseMapping
  readonly callIds: Set<string>
  /** The response head, from which missing call ids are derived. */
  head: ResponseHead | undefined
  /** Whether the response contains more than reasoning. */
  hasAnswer: boolean
  openText: OpenText | undefined
  openCall: OpenCall | undefined
  /** Sources to cite in the next finished message. */
  sources: Sources
  /** Makes the response fail, whatever its own outcome. */
  fault: Outcome | undefined
}

/** An open reasoning item or message. */
interface OpenText {
  readonly kind: 'summary' | 'text'
  readonly partial: PartialItem
  /** The signature of a message's last part. Emitted after the message, which gets no more text. */
  endSignature: SignatureState | undefined
}

/** A call whose arguments arrive in pieces. It is emitted when complete. */
interface OpenCall {
  readonly name: string
  readonly id: string
  signature: string
  readonly args: PartialArguments
}

export const createPartAssembler = (mapping: ResponseMapping = {}): PartAssembler => ({
  ...createItemAssembler(),
  mapping,
  callIds: new Set(),
  head: undefined,
  hasAnswer: false,
  openText: undefined,
  openCall: undefined,
  sources: noSources,
  fault: undefined,
})

export function addPart(assembler: PartAssembler, part: JsonObject, logprobs: readonly JsonObject[]): void {
  const signature = stringOf(part.thoughtSignature)
  if (isObject(part.functionCall)) addCall(assembler, part.functionCall, signature)
  else if (!isText(part)) addNativePart(assembler, part, signature)
  else if (part.thought === true) addReasoning(assembler, stringOf(part.text), signature)
  else addTextPart(assembler, stringOf(part.text), { signature, logprobs })
}

/** Fields of a text part. A part with any other field is of another kind. */
const textFields: ReadonlySet<string> = new Set(['text', 'thought', 'thoughtSignature', 'partMetadata'])

function isText(part: JsonObject): boolean {
  for (const field in part) if (!textFields.has(field)) return false
  return true
}

function addNativePart(assembler: PartAssembler, body: JsonObject, signature: string): void {
  const { inlineData: blob, thought } = body
  // A draft image is part of the reasoning.
  if (thought === true) {
    noteUnmodeled(assembler, 'thought')
    return
  }
  const url = isObject(blob) ? `data:${stringOf(blob.mimeType)};base64,${stringOf(blob.data)}` : ''
  const image = imageItem(url, { dialect, body })
  if (image && signature !== '') addSignature(assembler, { on: 'image', signature, length: 0 })
  else finishOpenItem(assembler)
  if (image) emitItem(assembler, image, announcedImage)
  else emitItem(assembler, { type: 'native', dialect, body })
  assembler.hasAnswer = true
}

function addReasoning(assembler: PartAssembler, text: string, signature: string): void {
  if (text === '' && signature === '') return
  const reasoning = openTextOf(assembler, 'summary')
  if (text !== '') appendDelta(assembler, reasoning.partial, { kind: 'summary', part: 0, text })
  if (signature !== '') addSignature(assembler, { on: 'thought', signature, length: 0 })
}

interface TextDetails {
  readonly signature: string
  readonly logprobs: readonly JsonObject[]
}

function addTextPart(assembler: PartAssembler, text: string, { signature, logprobs }: TextDetails): void {
  const { openText } = assembler
  const continues = openText?.kind === 'text' && !openText.endSignature
  // The signature of a continued message comes after the message; any other comes before it.
  if (signature !== '' && !continues) addSignature(assembler, { on: text === '' ? 'end' : 'text', signature, length: text.length })
  if (text !== '') {
    const delta: TextDelta = logprobs.length > 0 ? { kind: 'text', part: 0, text, logprobs } : { kind: 'text', part: 0, text }
    appendDelta(assembler, openTextOf(assembler, 'text').partial, delta)
    assembler.hasAnswer = true
  }
  if (signature !== '' && continues) openText.endSignature = { on: 'end', signature, length: text.length }
}

function openTextOf(assembler: PartAssembler, kind: OpenText['kind']): OpenText {
  const { openText } = assembler
  if (openText?.kind === kind && !openText.endSignature) return openText
  finishOpenItem(assembler)
  const opened: OpenText = { kind, partial: startItem(assembler, kind === 'text' ? messageShell : reasoningShell), endSignature: undefined }
  assembler.openText = opened
  return opened
}

/** Adds a signature to the open reasoning, or as its own reasoning item. */
function addSignature(assembler: PartAssembler, state: SignatureState): void {
  if (assembler.openText?.kind === 'summary') finishText(assembler, 'completed', state)
  else {
    finishOpenItem(assembler)
    emitSignature(assembler, state)
  }
}

const emitSignature = (assembler: PartAssembler, state: SignatureState): void =>
  emitItem(assembler, { type: 'reasoning', summary: [], encrypted_content: encodeReasoningState(state) })

/** Called when another item starts: the item before it is complete. */
function finishOpenItem(assembler: PartAssembler): void {
  finishText(assembler, 'completed')
  finishOpenCall(assembler)
}

/** Finishes the open reasoning or message. `state`: the signature of the reasoning. */
export function finishText(assembler: PartAssembler, status: ItemStatus, state?: SignatureState): void {
  const { openText } = assembler
  if (!openText) return
  assembler.openText = undefined
  const { kind, partial, endSignature } = openText
  if (kind === 'text') addCitations(assembler, partial)
  const encrypted_content = state && encodeReasoningState(state)
  const item: Item = encrypted_content
    ? { ...reasoningShell, ...assembledReasoning(partial), encrypted_content }
    : assembledItem(partial, status)
  finishItem(assembler, partial, item)
  if (endSignature) emitSignature(assembler, endSignature)
}

function addCitations(assembler: PartAssembler, partial: PartialItem): void {
  const citations = citationsOf(bufferedText(partOf(partial, 'text', 0).text), assembler.sources)
  const { searches, hasPlaces } = assembler.sources
  assembler.sources = { ...noSources, searches, hasPlaces }
  for (const annotation of citations) appendAnnotation(assembler, partial, { kind: 'annotation', part: 0, annotation })
}

function addCall(assembler: PartAssembler, functionCall: JsonObject, signature: string): void {
  const name = stringOf(functionCall.name)
  if (name !== '' && name !== assembler.openCall?.name) finishOpenCall(assembler)
  if (!assembler.openCall && name === '') {
    assembler.fault ??= namelessCall
    return
  }
  assembler.openCall ??= { name, id: stringOf(functionCall.id), signature: '', args: createArguments(functionCall.args) }
  const { openCall } = assembler
  if (openCall.signature === '') openCall.signature = signature
  addPieces(openCall.args, functionCall.partialArgs)
  if (functionCall.willContinue !== true) finishOpenCall(assembler)
}

/** Emits the open call. */
export function finishOpenCall(assembler: PartAssembler): void {
  const { openCall, mapping, callIds, head } = assembler
  if (!openCall) return
  assembler.openCall = undefined
  assembler.hasAnswer = true
  const { name, id, signature, args } = openCall
  if (signature !== '') addSignature(assembler, { on: 'call', signature, length: 0 })
  finishText(assembler, 'completed')
  const written = argumentsText(args)
  if (written === undefined) assembler.fault ??= invalidJson
  const item: FunctionCallItem = {
    type: 'function_call',
    call_id: callIdFor(callIds, id, [head?.id ?? '', head?.created_at ?? 0, callIds.size, name, written ?? '', signature]),
    name: mapping.toolNames?.get(name) ?? name,
    arguments: written ?? '{}',
    status: 'completed',
  }
  const partial = startItem(assembler, item)
  appendDelta(assembler, partial, { kind: 'arguments', part: 0, text: item.arguments })
  finishItem(assembler, partial, item)
}
