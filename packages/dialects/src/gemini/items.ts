import { contentLost, unsupported } from '../common/apply-quirks.ts'
import { parseDataUrl } from '../common/data-url.ts'
import { fileAsText } from '../common/file-text.ts'
import type { FittedNames } from '../common/fitted-names.ts'
import { imagesSentBack } from '../common/generated-image.ts'
import { objectIn, objects } from '../common/json.ts'
import { movedMediaNote } from '../common/moved-media.ts'
import { closingText, closingWarning, openingText, openingWarning } from '../common/opening-turn.ts'
import { combinedWarning } from '../common/part-warnings.ts'
import { orderToolResults } from '../common/tool-result-order.ts'
import { withUniqueCallIds } from '../common/unique-call-ids.ts'
import type {
  AudioPart,
  FilePart,
  FunctionCallItem,
  FunctionCallOutputItem,
  ImagePart,
  Item,
  MessageItem,
  Part,
  ReasoningItem,
} from '../protocol/item.ts'
import { pathOf } from '../protocol/original.ts'
import type { Warning } from '../protocol/response.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { decodeReasoningState, type SignatureState } from './reasoning-state.ts'
import { type ContentTurn, encodeTurns, isEmpty, signEnd, textParts } from './turns.ts'
import { dialect } from './wire.ts'

// Encodes items as contents.

/** What the model accepts in a conversation. */
export interface ContentOptions {
  readonly names: FittedNames
  /** Whether tool results may contain media. */
  readonly allowsMediaResults: boolean
  readonly needsSignatures: boolean
  /** Whether generated images may be sent in model turns without a signature. */
  readonly takesOwnImages: boolean
  /** Whether the conversation must not end with a model turn. */
  readonly noPrefill: boolean
  /** Whether system prompts are part of the first user turn. */
  readonly noSystem: boolean
  readonly refuses: { readonly file: boolean; readonly audio: boolean }
}

export interface EncodedContents {
  readonly contents: readonly JsonObject[]
  readonly systemInstruction?: JsonObject
  readonly warnings: readonly Warning[]
}

interface EncoderState {
  readonly options: ContentOptions
  readonly turns: ContentTurn[]
  readonly system: string[]
  readonly warnings: Warning[]
  /** Position and name of each call, by call id. */
  readonly calls: Map<string, { readonly position: number; readonly name: string }>
  /** Signatures for the next call and the next text of the model. */
  callSignature: SignatureState | undefined
  textSignature: SignatureState | undefined
  /** Signatures for the next images of the model. A client may send all of them before the first image. */
  imageSignatures: readonly SignatureState[]
  /** A signature for the end of the next text. It precedes the text if the client sends all reasoning first. */
  endSignature: SignatureState | undefined
  /** Paths of file names. */
  readonly fileNames: string[]
  /** Whether only system messages have been encoded so far. */
  isStart: boolean
}

/** Encodes the conversation. `system`: texts to start the system prompt with. */
export function encodeContents(input: readonly Item[], system: readonly string[], options: ContentOptions): EncodedContents {
  const state: EncoderState = {
    options,
    turns: [],
    system: system.filter(text => text !== ''),
    warnings: [],
    calls: new Map(),
    callSignature: undefined,
    textSignature: undefined,
    imageSignatures: [],
    endSignature: undefined,
    fileNames: [],
    isStart: true,
  }
  for (const { item, at } of orderToolResults(withUniqueCallIds(input))) encodeItem(state, item, `input[${at}]`)
  const encoded = withSystem(
    encodeTurns(state.turns, { needsSignatures: options.needsSignatures, resultsLast: options.allowsMediaResults }),
    state,
  )
  const contents = closedByUser(openedByUser(encoded.contents, state), state)
  const lostNames = combinedWarning(state.fileNames, 'is not supported by this provider and was left out.')
  return { ...encoded, contents, warnings: [...state.warnings, ...lostNames] }
}

/** Ensures that the conversation starts with the user. */
function openedByUser(contents: readonly JsonObject[], { warnings }: EncoderState): readonly JsonObject[] {
  if (contents[0]?.role !== 'model') return contents
  warnings.push(openingWarning)
  return [{ role: 'user', parts: [{ text: openingText }] }, ...contents]
}

/** Ensures that the conversation ends with the user, for models that do not continue a model turn. */
function closedByUser(contents: readonly JsonObject[], { options, warnings }: EncoderState): readonly JsonObject[] {
  if (!options.noPrefill || contents.at(-1)?.role !== 'model') return contents
  warnings.push(closingWarning)
  return [...contents, { role: 'user', parts: [{ text: closingText }] }]
}

function encodeItem(state: EncoderState, item: Item, param: string): void {
  const isSystem = item.type === 'message' && (item.role === 'system' || item.role === 'developer')
  state.isStart &&= isSystem
  if (isSystem) encodeSystem(state, item, param)
  else if (item.type === 'message') encodeMessage(state, item, param)
  else if (item.type === 'function_call') encodeCall(state, item, param)
  else if (item.type === 'function_call_output') encodeResult(state, item, param)
  else if (item.type === 'reasoning') writeReasoning(state, item)
  else if (item.dialect === dialect) turnOf(state, 'model').parts.push(item.body)
  else loseContent(state, pathOf(item, param))
}

function turnOf(state: EncoderState, role: ContentTurn['role']): ContentTurn {
  const { turns } = state
  if (role === 'user') {
    state.callSignature = undefined
    state.textSignature = undefined
    state.imageSignatures = []
    state.endSignature = undefined
  }
  if (isEmpty(turns.at(-1))) turns.pop()
  const last = turns.at(-1)
  if (last?.role === role) return last
  const turn: ContentTurn = { role, parts: [], results: [], images: [] }
  turns.push(turn)
  return turn
}

function warn({ warnings }: EncoderState, param: string, message: string): void {
  warnings.push(unsupported(param, `\`${param}\` ${message}.`))
}

function loseContent({ warnings }: EncoderState, param: string): void {
  warnings.push(contentLost(param, `\`${param}\` is not supported by the API of this provider.`))
}

function encodeItemPart(state: EncoderState, part: Part, param: string): readonly JsonObject[] {
  const encoded = encodeMediaOrNative(part, state.options)
  if (!encoded) loseContent(state, pathOf(part, param))
  else if (part.type === 'file' && part.filename !== undefined && encoded.text === undefined)
    state.fileNames.push(`${pathOf(part, param)}.filename`)
  return encoded ? [encoded] : []
}

function encodeMediaOrNative(part: Part, { refuses }: ContentOptions): JsonObject | undefined {
  if (part.type === 'native') return part.dialect === dialect ? part.body : undefined
  if (part.type === 'audio' && refuses.audio) return undefined
  if (part.type === 'file' && refuses.file) {
    const text = fileAsText(part)
    return text === undefined ? undefined : { text }
  }
  return part.type === 'image' || part.type === 'file' || part.type === 'audio' ? encodeMediaPart(part) : undefined
}

/** Encodes images, files and audio. Data stays in base64 and is never decoded, because it may be megabytes. */
function encodeMediaPart(part: ImagePart | FilePart | AudioPart): JsonObject | undefined {
  if (part.type === 'audio') return { inlineData: { mimeType: `audio/${part.format}`, data: part.data } }
  const { url } = part
  if (url.startsWith('data:')) return encodeDataUrl(url, part.type)
  return { fileData: { mimeType: typeByExtension(url) ?? defaultTypes[part.type], fileUri: url } }
}

/** Media types for URLs that do not state one. */
const defaultTypes: Readonly<Record<'image' | 'file', string>> = { image: 'image/jpeg', file: 'application/pdf' }

/** Encodes an inline file; undefined if it is not base64. */
function encodeDataUrl(url: string, kind: 'image' | 'file'): JsonObject | undefined {
  const data = parseDataUrl(url)
  return data?.isBase64 ? { inlineData: { mimeType: data.type || defaultTypes[kind], data: url.slice(data.dataAt) } } : undefined
}

const typesByExtension: ReadonlyMap<string, string> = new Map([
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['png', 'image/png'],
  ['webp', 'image/webp'],
  ['heic', 'image/heic'],
  ['heif', 'image/heif'],
  ['gif', 'image/gif'],
  ['pdf', 'application/pdf'],
  ['txt', 'text/plain'],
  ['md', 'text/markdown'],
  ['csv', 'text/csv'],
  ['html', 'text/html'],
  ['json', 'application/json'],
])

function typeByExtension(url: string): string | undefined {
  const [, extension] = /\.(\w{1,5})(?:[?#]|$)/.exec(url.slice(-2000)) ?? []
  return extension === undefined ? undefined : typesByExtension.get(extension.toLowerCase())
}

/** Encodes a later system message in place, as tagged user text. */
function encodeSystem(state: EncoderState, { content }: MessageItem, param: string): void {
  const texts: string[] = []
  for (const [at, part] of content.entries()) {
    const text = textIn(part)
    if (text === undefined) loseContent(state, pathOf(part, `${param}.content[${at}]`))
    else if (text !== '') texts.push(text)
  }
  if (state.isStart) for (const text of texts) state.system.push(text)
  else if (texts.length > 0) turnOf(state, 'user').parts.push({ text: `<system>\n${texts.join('\n\n')}\n</system>` })
}

/**
 * Encodes generated images in the model's own turn; undefined if they are sent as user images. A model of this dialect can edit an image
 * there, with its original signature, and rejects one without; models without thinking sign none.
 */
function encodeOwnImages(state: EncoderState, item: MessageItem): readonly JsonObject[] | undefined {
  const images = imagesSentBack(item)
  const { imageSignatures, options } = state
  if (!images || (imageSignatures.length < images.length && !options.takesOwnImages)) return undefined
  const parts = images.map(encodeMediaPart)
  if (!parts.every(part => part?.inlineData !== undefined)) return undefined
  state.imageSignatures = imageSignatures.slice(images.length)
  return parts.map((part, at) => ({ ...part, ...(imageSignatures[at] && { thoughtSignature: imageSignatures[at].signature }) }))
}

function encodeMessage(state: EncoderState, item: MessageItem, param: string): void {
  const { role, content } = item
  const own = encodeOwnImages(state, item)
  if (own) {
    turnOf(state, 'model').parts.push(...own)
    return
  }
  const isAssistant = role === 'assistant'
  const { parts } = turnOf(state, isAssistant ? 'model' : 'user')
  for (const [at, part] of content.entries()) {
    const text = textIn(part)
    if (text === undefined && isAssistant && part.type !== 'native') loseContent(state, pathOf(part, `${param}.content[${at}]`))
    else if (text === undefined) parts.push(...encodeItemPart(state, part, `${param}.content[${at}]`))
    else {
      parts.push(...textParts(text, isAssistant ? state.textSignature : undefined))
      state.textSignature = undefined
    }
  }
  if (!isAssistant || !state.endSignature) return
  signEnd(parts, state.endSignature)
  state.endSignature = undefined
}

const textIn = (part: Part): string | undefined => (part.type === 'text' ? part.text : part.type === 'refusal' ? part.refusal : undefined)

function encodeCall(state: EncoderState, item: FunctionCallItem, param: string): void {
  const { parts } = turnOf(state, 'model')
  const { call_id: id, arguments: written } = item
  const args = objectIn(written) ?? (written.trim() === '' ? {} : undefined)
  if (!args) warn(state, pathOf(item, `${param}.arguments`), 'is not a JSON object; the text was sent as the field `_raw` of an object')
  const name = state.options.names.sent(item.name)
  state.calls.set(id, { position: state.calls.size, name })
  const functionCall = { id, name, args: args ?? { _raw: written } }
  parts.push({ functionCall, ...(state.callSignature && { thoughtSignature: state.callSignature.signature }) })
  state.callSignature = undefined
}

function encodeResult(state: EncoderState, item: FunctionCallOutputItem, param: string): void {
  const { results, images } = turnOf(state, 'user')
  const { allowsMediaResults } = state.options
  const call = state.calls.get(item.call_id)
  if (!call) warn(state, pathOf(item, `${param}.call_id`), 'matches no earlier call; the result was sent without the name of its function')
  const media = mediaParts(item).flatMap(({ part, at }) => encodeItemPart(state, part, `${param}.output[${at}]`))
  const functionResponse = {
    id: item.call_id,
    name: call?.name ?? 'tool',
    response: encodeOutput(item),
    ...(allowsMediaResults && media.length > 0 && { parts: media }),
  }
  results.push({ position: call?.position ?? state.calls.size, part: { functionResponse } })
  if (!allowsMediaResults && media.length > 0) images.push({ text: movedMediaNote(item.call_id) }, ...media)
}

function mediaParts({ output }: FunctionCallOutputItem): readonly { readonly part: Part; readonly at: number }[] {
  return typeof output === 'string' ? [] : output.flatMap((part, at) => (textIn(part) === undefined ? [{ part, at }] : []))
}

/** The output as an object: the one in the text, or an object around the text. */
function encodeOutput({ output, is_error }: FunctionCallOutputItem): JsonObject {
  const text = typeof output === 'string' ? output : output.flatMap(part => textIn(part) ?? []).join('\n')
  return is_error ? { error: text } : (objectIn(text) ?? { output: text })
}

function writeReasoning(state: EncoderState, { encrypted_content, summary }: ReasoningItem): void {
  const signed = decodeReasoningState(encrypted_content)
  if (signed?.on === 'call') state.callSignature = signed
  else if (signed?.on === 'image') state.imageSignatures = [...state.imageSignatures, signed]
  else if (signed?.on === 'text') state.textSignature = signed
  else if (signed?.on === 'thought')
    turnOf(state, 'model').parts.push({ text: summary.join(''), thought: true, thoughtSignature: signed.signature })
  else if (signed && state.turns.at(-1)?.role === 'model') signEnd(turnOf(state, 'model').parts, signed)
  else state.endSignature = signed
}

/** Adds the system prompt. Without any contents it is sent as the user's turn, because a request needs one. */
function withSystem(contents: readonly JsonObject[], { system, options }: EncoderState): Omit<EncodedContents, 'warnings'> {
  if (system.length === 0) return { contents }
  const parts = system.map(text => ({ text }))
  if (contents.length === 0) return { contents: [{ role: 'user', parts }] }
  if (!options.noSystem) return { contents, systemInstruction: { parts } }
  const first = contents.findIndex(turn => turn.role === 'user' && !objects(turn.parts).some(part => part.functionResponse !== undefined))
  if (first === -1) return { contents: [{ role: 'user', parts }, ...contents] }
  return {
    contents: contents.map((turn, at) => (at === first ? { ...turn, parts: [...parts, ...objects(turn.parts)] } : turn)),
  }
}
