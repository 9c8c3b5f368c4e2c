import { BodyDraft } from '../common/body-draft.ts'
import { parseDataUrl } from '../common/data-url.ts'
import { droppedReasoning, hasWords } from '../common/dropped-reasoning.ts'
import { type FittedNames, FreeNames, fittedNames } from '../common/fitted-names.ts'
import { callIdsIn } from '../common/ids.ts'
import { objectIn, stringOf } from '../common/json.ts'
import { movedMediaNote, movedMediaText } from '../common/moved-media.ts'
import { orderToolResults } from '../common/tool-result-order.ts'
import { withUniqueCallIds } from '../common/unique-call-ids.ts'
import type {
  FilePart,
  FunctionCallItem,
  FunctionCallOutputItem,
  ImagePart,
  Item,
  MessageItem,
  Part,
  ReasoningItem,
} from '../protocol/item.ts'
import type { Quirks } from '../protocol/model.ts'
import { pathOf } from '../protocol/original.ts'
import type { CachePoint } from '../protocol/tool.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { cachePointAfter } from './cache-points.ts'
import { decodeReasoningState } from './reasoning-state.ts'
import { safeCallId } from './tool-names.ts'

// Encodes items as messages. Roles alternate: a message holds all adjacent items of its role, tool results first.

interface Turn {
  readonly role: 'user' | 'assistant'
  readonly results: JsonObject[]
  /** Images and files of results that cannot hold them. */
  readonly media: JsonObject[]
  readonly blocks: JsonObject[]
}

interface EncodedBlock {
  readonly block: JsonObject
  readonly cache?: CachePoint | undefined
}

/** A conversation as messages. */
export class Conversation {
  /** System messages before the first turn. */
  readonly system: JsonObject[] = []
  readonly messages: readonly JsonObject[]
  /** Names of called tools, as the client knows them. */
  readonly calledTools = new Set<string>()
  /** Whether it contains calls or results, so that tools must be declared. */
  hasTools = false
  /** Whether the latest tool results belong to calls that lack the reasoning before them. */
  readonly lacksThinkingBeforeCalls: boolean
  /** Holds the warnings about the conversation. */
  readonly draft: BodyDraft
  readonly #turns: Turn[] = []
  readonly #toolNames: FittedNames
  readonly #callIds: FittedNames
  readonly #documents: DocumentNames

  constructor(input: readonly Item[], quirks: Quirks, toolNames: FittedNames) {
    const items = withUniqueCallIds(input)
    this.draft = new BodyDraft(quirks)
    this.#toolNames = toolNames
    this.#callIds = fittedNames(callIdsIn(items), safeCallId)
    this.#documents = createDocumentNames(quirks.anthropicFields === true)
    const dropped = orderToolResults(items).flatMap(({ item, at }) => this.#add(item, pathOf(item, `input[${at}]`)) ?? [])
    this.draft.warnings.push(...droppedReasoning(dropped))
    const [before, last] = this.#turns.slice(-2)
    this.lacksThinkingBeforeCalls = last !== undefined && last.results.length > 0 && before?.blocks[0]?.reasoningContent === undefined
    this.messages = this.#turns.map(({ role, results, media, blocks }, index, turns) => {
      const content = [...results, ...withTextBesideDocuments([...media, ...blocks])]
      return { role, content: role === 'assistant' && index === turns.length - 1 ? trimPrefill(content) : content }
    })
  }

  /** Returns the path of reasoning that is left out. */
  #add(item: Item, param: string): string | undefined {
    if (item.type === 'message') this.#addMessage(item, param)
    else if (item.type === 'function_call') this.#addCall(item, param)
    else if (item.type === 'function_call_output') this.#addResult(item, param)
    else if (item.type === 'reasoning') return this.#addReasoning(item, param)
    else this.#loseContent(param)
    return undefined
  }

  #turn(role: Turn['role']): Turn {
    const last = this.#turns.at(-1)
    if (last?.role === role) return last
    const turn: Turn = { role, results: [], media: [], blocks: [] }
    this.#turns.push(turn)
    return turn
  }

  #loseContent(param: string): void {
    this.draft.loseContent(param, 'is not supported by this provider.')
  }

  /** `isText`: whether only text is allowed. */
  #encodeParts(parts: readonly Part[], param: string, isText: boolean): readonly EncodedBlock[] {
    return parts.flatMap((part, index): readonly EncodedBlock[] => {
      const block = isText && part.type !== 'text' && part.type !== 'refusal' ? undefined : encodePart(part, this.#documents)
      if (!block) this.#loseContent(pathOf(part, `${param}[${index}]`))
      // Providers reject blank text.
      const isBlank = typeof block?.text === 'string' && block.text.trim() === ''
      return block && !isBlank ? [{ block, cache: 'cache' in part ? part.cache : undefined }] : []
    })
  }

  #addMessage({ role, content }: MessageItem, param: string): void {
    const encoded = this.#encodeParts(content, `${param}.content`, role !== 'user')
    if (encoded.length === 0) return
    if (role === 'user' || role === 'assistant') addBlocks(this.#turn(role).blocks, encoded)
    else if (this.#turns.length === 0) addBlocks(this.system, encoded)
    else {
      // A later system message keeps its position: moving it to the front would change its meaning and invalidate the prompt cache.
      const tagged = encoded.map(({ block, cache }) => ({ block: { text: `<system>\n${stringOf(block.text)}\n</system>` }, cache }))
      addBlocks(this.#turn('user').blocks, tagged)
    }
  }

  #addCall({ call_id, name, arguments: written, cache }: FunctionCallItem, param: string): void {
    const input = written.trim() === '' ? {} : objectIn(written)
    if (!input) this.draft.omit(`${param}.arguments`, 'is not a JSON object; the text was sent as the field `_raw` of an object.')
    this.calledTools.add(name)
    this.hasTools = true
    const toolUse = { toolUseId: this.#callIds.sent(call_id), name: this.#toolNames.sent(name), input: input ?? { _raw: written } }
    addBlocks(this.#turn('assistant').blocks, [{ block: { toolUse }, cache }])
  }

  #addResult({ call_id, output, is_error, cache }: FunctionCallOutputItem, param: string): void {
    const parts: readonly Part[] = typeof output === 'string' ? [{ type: 'text', text: output }] : output
    const encoded = this.#encodeParts(parts, `${param}.output`, false)
    const blocks = encoded.map(({ block }) => block)
    const isTextOnly = this.draft.quirks.textOnlyResults === true
    const moved = isTextOnly ? blocks.filter(({ text }) => text === undefined) : []
    const content = isTextOnly ? blocks.filter(({ text }) => text !== undefined) : blocks
    const { results, media } = this.#turn('user')
    this.hasTools = true
    const toolUseId = this.#callIds.sent(call_id)
    const toolResult = {
      toolUseId,
      content: content.length > 0 ? content : [{ text: moved.length > 0 ? movedMediaText : '(empty)' }],
      status: is_error ? 'error' : undefined,
    }
    // A result has no room for a cache point of its parts, which comes after it.
    addBlocks(results, [{ block: { toolResult }, cache: cache ?? encoded.findLast(each => each.cache)?.cache }])
    if (moved.length > 0) media.push({ text: movedMediaNote(toolUseId) }, ...moved)
  }

  /** Adds reasoning that has state, because a model accepts only its own. Returns the path of other reasoning. */
  #addReasoning(item: ReasoningItem, param: string): string | undefined {
    const { encrypted_content } = item
    if (encrypted_content === undefined) return hasWords(item) ? param : undefined
    const reasoningContent = decodeReasoningState(encrypted_content)
    if (reasoningContent) this.#turn('assistant').blocks.push({ reasoningContent })
    else this.draft.omit(`${param}.encrypted_content`)
    return undefined
  }
}

function addBlocks(target: JsonObject[], encoded: readonly EncodedBlock[]): void {
  for (const { block, cache } of encoded) target.push(block, ...cachePointAfter(cache))
}

/** Adds text to a message with documents, which requires some. */
const withTextBesideDocuments = (blocks: readonly JsonObject[]): readonly JsonObject[] =>
  blocks.some(({ document }) => document) && !blocks.some(({ text }) => text) ? [{ text: 'The document:' }, ...blocks] : blocks

/** Trims the end of a final assistant message: the model continues it, and it must not end in whitespace. */
function trimPrefill(content: readonly JsonObject[]): readonly JsonObject[] {
  const last = content.at(-1)
  return typeof last?.text === 'string' ? [...content.slice(0, -1), { text: last.text.trimEnd() }] : content
}

/** Encodes a part; undefined if this dialect cannot express it. Data stays in base64 and is never decoded, because it may be megabytes. */
function encodePart(part: Part, names: DocumentNames): JsonObject | undefined {
  if (part.type === 'text') return { text: part.text }
  if (part.type === 'refusal') return { text: part.refusal }
  return part.type === 'image' || part.type === 'file' ? encodeMedia(part, names) : undefined
}

function encodeMedia(part: ImagePart | FilePart, names: DocumentNames): JsonObject | undefined {
  const data = parseDataUrl(part.url)
  const format = (part.type === 'image' ? imageFormats : documentFormats).get(data?.type ?? '')
  if (!data?.isBase64 || !format) return undefined
  const source = { bytes: part.url.slice(data.dataAt) }
  if (part.type === 'image') return { image: { format, source } }
  const document = { format, name: names.unique(part.filename), source }
  if (!names.citable) return { document }
  return { document: { ...document, context: part.context, citations: part.citable && { enabled: true } } }
}

export const imageFormats: ReadonlyMap<string, string> = new Map([
  ['image/png', 'png'],
  ['image/jpeg', 'jpeg'],
  ['image/jpg', 'jpeg'],
  ['image/gif', 'gif'],
  ['image/webp', 'webp'],
])

export const documentFormats: ReadonlyMap<string, string> = new Map([
  ['application/pdf', 'pdf'],
  ['text/plain', 'txt'],
  ['text/markdown', 'md'],
  ['text/csv', 'csv'],
  ['text/html', 'html'],
  ['application/msword', 'doc'],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'docx'],
  ['application/vnd.ms-excel', 'xls'],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xlsx'],
])

interface DocumentNames {
  /** Whether documents may have citations and context. */
  readonly citable: boolean
  /** Returns a document name that is unique within the request. The same files get the same names in every turn. */
  unique(filename: string | undefined): string
}

/** Creates document names. They may contain letters, digits, single spaces, hyphens, parentheses and square brackets. */
export function createDocumentNames(citable: boolean): DocumentNames {
  const names = new FreeNames()
  return {
    citable,
    unique(filename) {
      const plain = (filename ?? '')
        .slice(0, 500)
        .replace(/\.\w{1,5}$/, '')
        .replace(/[^a-zA-Z0-9\-()[\]]+/g, ' ')
        .trim()
        .slice(0, 150)
        .trim()
      const stem = plain === '' ? 'document' : plain
      return names.take(attempt => (attempt === 0 ? stem : `${stem} ${attempt + 1}`))
    },
  }
}
