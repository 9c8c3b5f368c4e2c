import type { BodyDraft } from '../common/body-draft.ts'
import { parseDataUrl } from '../common/data-url.ts'
import { fileAsText } from '../common/file-text.ts'
import { imagesSentBack } from '../common/generated-image.ts'
import { objectIn, objects } from '../common/json.ts'
import { movedMediaNote } from '../common/moved-media.ts'
import { withUserTurns } from '../common/opening-turn.ts'
import { combinedWarning } from '../common/part-warnings.ts'
import { orderToolResults } from '../common/tool-result-order.ts'
import { withUniqueCallIds } from '../common/unique-call-ids.ts'
import type { FunctionCallItem, FunctionCallOutputItem, Item, MessageItem, Part, ReasoningItem } from '../protocol/item.ts'
import { pathOf } from '../protocol/original.ts'
import type { Prompt } from '../protocol/request.ts'
import { isObject, type JsonObject } from '../protocol/wire.ts'
import { decodeReasoningState, placeholderSignature, type SignatureState } from './reasoning-state.ts'
import { dialect } from './wire.ts'

// Encodes items as `contents`: alternating turns of user and model. Tool results are part of a user turn.

interface Turn {
  readonly role: 'user' | 'model'
  readonly parts: JsonObject[]
  /** Tool results with the position of their calls: results are sent in call order. */
  readonly results: { readonly position: number; readonly part: JsonObject }[]
  /** Media of tool results that cannot hold it. */
  readonly images: JsonObject[]
}

/**
 * Sets `contents` and `systemInstruction`. `instruction`: text that the gateway adds to the system prompt. `needsSignatures`: whether the
 * first call of each turn must be signed.
 */
export function encodeContents(prompt: Prompt, instruction: string | undefined, needsSignatures: boolean, draft: BodyDraft): void {
  const encoder = new ContentEncoder(draft)
  for (const text of [prompt.instructions, instruction]) if (text) encoder.system.push(text)
  for (const { item, at } of orderToolResults(withUniqueCallIds(prompt.input))) encoder.add(item, `input[${at}]`)
  const turns = withSystem(encoder.encodeTurns(needsSignatures), encoder.system, draft)
  draft.set('contents', withUserTurns(turns, draft, { role: 'model', userTurn: text => ({ role: 'user', parts: [{ text }] }) }))
  draft.warnings.push(...combinedWarning(encoder.fileNames, 'is not supported by this provider and was left out.'))
}

/** Adds the system prompt. Without any contents it is sent as the user's turn, because a request needs one. */
function withSystem(contents: readonly JsonObject[], system: readonly string[], draft: BodyDraft): readonly JsonObject[] {
  const parts = system.map(text => ({ text }))
  if (parts.length === 0) return contents
  if (contents.length > 0 && !draft.quirks.noSystem) {
    draft.set('systemInstruction', { parts })
    return contents
  }
  const first = contents.findIndex(turn => turn.role === 'user' && !objects(turn.parts).some(part => part.functionResponse !== undefined))
  if (first === -1) return [{ role: 'user', parts }, ...contents]
  return contents.map((turn, index) => (index === first ? { ...turn, parts: [...parts, ...objects(turn.parts)] } : turn))
}

class ContentEncoder {
  readonly system: string[] = []
  /** Paths of file names. */
  readonly fileNames: string[] = []
  readonly #draft: BodyDraft
  /**
   * Whether tool results may contain media. They then come after the other parts of their turn: models since 3.6 refuse what follows them:
   * 400 "Requests ending with a model turn are not supported", although the turn is the user's. Sources: answers of the API in
   * agentgateway/agentgateway#2811 and MoonshotAI/kimi-code#3274; google/oss-rebuild#1559: text before the results is accepted by every model.
   */
  readonly #allowsMediaResults: boolean
  readonly #turns: Turn[] = []
  /** Position and name of each call, by call id. */
  readonly #calls = new Map<string, { readonly position: number; readonly name: string }>()
  /** Signatures for the next call and the next text of the model. */
  #callSignature: SignatureState | undefined
  #textSignature: SignatureState | undefined
  /** Signatures for the next images of the model. A client may send all of them before the first image. */
  #imageSignatures: readonly SignatureState[] = []
  /** A signature for the end of the next text. It precedes the text if the client sends all reasoning first. */
  #endSignature: SignatureState | undefined
  /** Whether only system messages have been encoded so far. */
  #isStart = true

  constructor(draft: BodyDraft) {
    this.#draft = draft
    this.#allowsMediaResults = draft.quirks.textOnlyResults !== true
  }

  add(item: Item, param: string): void {
    const isSystem = item.type === 'message' && (item.role === 'system' || item.role === 'developer')
    this.#isStart &&= isSystem
    if (isSystem) this.#addSystem(item, param)
    else if (item.type === 'message') this.#addMessage(item, param)
    else if (item.type === 'function_call') this.#addCall(item, param)
    else if (item.type === 'function_call_output') this.#addResult(item, param)
    else if (item.type === 'reasoning') this.#addReasoning(item)
    else if (item.dialect === dialect) this.#turn('model').parts.push(item.body)
    else this.#draft.loseContent(pathOf(item, param))
  }

  encodeTurns(needsSignatures: boolean): readonly JsonObject[] {
    return this.#turns.flatMap(({ role, results, images, parts }) => {
      const ordered = results.toSorted((one, other) => one.position - other.position).map(({ part }) => part)
      const all = this.#allowsMediaResults ? [...parts, ...ordered] : [...ordered, ...images, ...parts]
      if (all.length === 0) return []
      return { role, parts: role === 'model' && needsSignatures ? withCallSignature(all) : all }
    })
  }

  #turn(role: Turn['role']): Turn {
    if (role === 'user') {
      this.#callSignature = undefined
      this.#textSignature = undefined
      this.#imageSignatures = []
      this.#endSignature = undefined
    }
    const turns = this.#turns
    const end = turns.at(-1)
    if (end && end.parts.length + end.results.length + end.images.length === 0) turns.pop()
    const last = turns.at(-1)
    if (last?.role === role) return last
    const turn: Turn = { role, parts: [], results: [], images: [] }
    turns.push(turn)
    return turn
  }

  /** Encodes a later system message in place, as tagged user text. */
  #addSystem({ content }: MessageItem, param: string): void {
    const texts: string[] = []
    for (const [at, part] of content.entries()) {
      const text = textIn(part)
      if (text === undefined) this.#draft.loseContent(pathOf(part, `${param}.content[${at}]`))
      else if (text !== '') texts.push(text)
    }
    if (this.#isStart) for (const text of texts) this.system.push(text)
    else if (texts.length > 0) this.#turn('user').parts.push({ text: `<system>\n${texts.join('\n\n')}\n</system>` })
  }

  #addMessage(item: MessageItem, param: string): void {
    const images = this.#ownImages(item)
    if (images) {
      this.#turn('model').parts.push(...images)
      return
    }
    const isAssistant = item.role === 'assistant'
    const { parts } = this.#turn(isAssistant ? 'model' : 'user')
    for (const [at, part] of item.content.entries()) {
      const path = `${param}.content[${at}]`
      const text = textIn(part)
      if (text === undefined && isAssistant && part.type !== 'native') this.#draft.loseContent(pathOf(part, path))
      else if (text === undefined) parts.push(...this.#encodePart(part, path))
      else {
        const signed = isAssistant ? this.#textSignature : undefined
        if (signed) parts.push({ text: text.slice(0, signed.length), thoughtSignature: signed.signature })
        const rest = text.slice(signed?.length ?? 0)
        if (rest !== '') parts.push({ text: rest })
        this.#textSignature = undefined
      }
    }
    if (!isAssistant || !this.#endSignature) return
    signEnd(parts, this.#endSignature)
    this.#endSignature = undefined
  }

  /**
   * Encodes generated images in the model's own turn; undefined if they are sent as user images. A model of this dialect can edit an image
   * there, with its original signature, and rejects one without; models without thinking sign none.
   */
  #ownImages(item: MessageItem): readonly JsonObject[] | undefined {
    const images = imagesSentBack(item)
    const signatures = this.#imageSignatures
    if (!images || (signatures.length < images.length && !this.#draft.quirks.ownImages)) return undefined
    const parts = images.map(encodeMedia)
    if (!parts.every(part => part?.inlineData !== undefined)) return undefined
    this.#imageSignatures = signatures.slice(images.length)
    return parts.map((part, index) => ({ ...part, thoughtSignature: signatures[index]?.signature }))
  }

  #encodePart(part: Part, param: string): readonly JsonObject[] {
    const { files, audio } = this.#draft.quirks
    const path = pathOf(part, param)
    if (part.type === 'native' && part.dialect === dialect) return [part.body]
    if (part.type === 'file' && files === false) {
      const text = fileAsText(part)
      if (text !== undefined) return [{ text }]
    } else {
      const encoded = part.type === 'audio' && audio === false ? undefined : encodeMedia(part)
      if (encoded && part.type === 'file' && part.filename !== undefined) this.fileNames.push(`${path}.filename`)
      if (encoded) return [encoded]
    }
    this.#draft.loseContent(path)
    return []
  }

  #addCall(item: FunctionCallItem, param: string): void {
    const { parts } = this.#turn('model')
    const { call_id: id, arguments: written } = item
    const args = objectIn(written) ?? (written.trim() === '' ? {} : undefined)
    if (!args)
      this.#draft.omit(pathOf(item, `${param}.arguments`), 'is not a JSON object; the text was sent as the field `_raw` of an object.')
    const name = this.#draft.toolNames.sent(item.name)
    this.#calls.set(id, { position: this.#calls.size, name })
    const functionCall = { id, name, args: args ?? { _raw: written } }
    parts.push({ functionCall, thoughtSignature: this.#callSignature?.signature })
    this.#callSignature = undefined
  }

  #addResult(item: FunctionCallOutputItem, param: string): void {
    const { call_id: id, output, is_error } = item
    const { results, images } = this.#turn('user')
    const call = this.#calls.get(id)
    if (!call)
      this.#draft.omit(pathOf(item, `${param}.call_id`), 'matches no earlier call; the result was sent without the name of its function.')
    const parts: readonly Part[] = typeof output === 'string' ? [{ type: 'text', text: output }] : output
    const media = parts.flatMap((part, index) => (textIn(part) === undefined ? this.#encodePart(part, `${param}.output[${index}]`) : []))
    const text = parts.flatMap(part => textIn(part) ?? []).join('\n')
    // The output as an object: the one in the text, or an object around the text.
    const response = is_error ? { error: text } : (objectIn(text) ?? { output: text })
    const inside = this.#allowsMediaResults && media.length > 0 ? media : undefined
    const part = { functionResponse: { id, name: call?.name ?? 'tool', response, parts: inside } }
    results.push({ position: call?.position ?? this.#calls.size, part })
    if (!this.#allowsMediaResults && media.length > 0) images.push({ text: movedMediaNote(id) }, ...media)
  }

  #addReasoning({ encrypted_content, summary }: ReasoningItem): void {
    const signed = decodeReasoningState(encrypted_content)
    if (signed?.on === 'call') this.#callSignature = signed
    else if (signed?.on === 'image') this.#imageSignatures = [...this.#imageSignatures, signed]
    else if (signed?.on === 'text') this.#textSignature = signed
    else if (signed?.on === 'thought')
      this.#turn('model').parts.push({ text: summary.join(''), thought: true, thoughtSignature: signed.signature })
    else if (signed && this.#turns.at(-1)?.role === 'model') signEnd(this.#turn('model').parts, signed)
    else this.#endSignature = signed
  }
}

const textIn = (part: Part): string | undefined => (part.type === 'text' ? part.text : part.type === 'refusal' ? part.refusal : undefined)

/** Media types for URLs that do not state one. */
const defaultTypes: Readonly<Record<'image' | 'file', string>> = { image: 'image/jpeg', file: 'application/pdf' }

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

/**
 * Encodes an image, a file or audio; undefined for other parts and for inline data that is not base64. Data is never decoded, because it may
 * be megabytes.
 */
function encodeMedia(part: Part): JsonObject | undefined {
  if (part.type === 'audio') return { inlineData: { mimeType: `audio/${part.format}`, data: part.data } }
  if (part.type !== 'image' && part.type !== 'file') return undefined
  const { url, type } = part
  if (url.startsWith('data:')) {
    const data = parseDataUrl(url)
    return data?.isBase64 ? { inlineData: { mimeType: data.type || defaultTypes[type], data: url.slice(data.dataAt) } } : undefined
  }
  const [, extension = ''] = /\.(\w{1,5})(?:[?#]|$)/.exec(url.slice(-2000)) ?? []
  return { fileData: { mimeType: typesByExtension.get(extension.toLowerCase()) ?? defaultTypes[type], fileUri: url } }
}

/**
 * Ensures that the first call of each turn is signed, and no other. The provider checks only calls after the last user question, but
 * earlier ones are encoded the same way, because prompt caches match prefixes.
 */
function withCallSignature(parts: readonly JsonObject[]): readonly JsonObject[] {
  const first = parts.findIndex(({ functionCall }) => isObject(functionCall))
  return parts.map((part, index) =>
    index === first && part.thoughtSignature === undefined ? { ...part, thoughtSignature: placeholderSignature } : part,
  )
}

/** Signs the last characters of the turn, or an empty part if there is no text to sign. */
function signEnd(parts: JsonObject[], { signature, length }: SignatureState): void {
  const last = parts.at(-1)
  const text = length > 0 && typeof last?.text === 'string' && last.thoughtSignature === undefined ? last.text : undefined
  if (text === undefined) {
    parts.push({ text: '', thoughtSignature: signature })
    return
  }
  const at = Math.max(0, text.length - length)
  parts.pop()
  if (at > 0) parts.push({ text: text.slice(0, at) })
  parts.push({ text: text.slice(at), thoughtSignature: signature })
}
