import type { BodyDraft } from '../common/body-draft.ts'
import { parseDataUrl } from '../common/data-url.ts'
import { hasWords } from '../common/dropped-reasoning.ts'
import { decodeText, fileAsText } from '../common/file-text.ts'
import { type FittedNames, fittedNames } from '../common/fitted-names.ts'
import { callIdsIn } from '../common/ids.ts'
import { objects, stringOf } from '../common/json.ts'
import { withUserTurns } from '../common/opening-turn.ts'
import { readFrame } from '../common/parse-frame.ts'
import { orderToolResults } from '../common/tool-result-order.ts'
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
import { pathOf } from '../protocol/original.ts'
import type { Prompt } from '../protocol/request.ts'
import type { CachePoint } from '../protocol/tool.ts'
import { isObject, type JsonObject } from '../protocol/wire.ts'
import { decodeReasoningState } from './reasoning-state.ts'
import { safeId } from './tool-names.ts'
import { dialect, originalBody } from './wire.ts'

// Encodes items as messages. Roles alternate: a message holds all adjacent items of its role. Content that came in this dialect is passed
// through unchanged.

/**
 * Sets `system` and `messages`. `instruction`: text that the gateway adds to the system prompt. Returns the paths of reasoning that was left
 * out.
 */
export function encodeConversation({ instructions, input }: Prompt, instruction: string | undefined, draft: BodyDraft): readonly string[] {
  const encoder = new ItemEncoder(input, draft)
  const firstTurn = input.findIndex(item => item.type !== 'message' || !isInstruction(item))
  const leading = input.slice(0, firstTurn === -1 ? input.length : firstTurn) as readonly MessageItem[]
  const system = [
    ...textBlock(instructions),
    ...leading.flatMap((item, index) => encoder.messageBlocks(item, pathOf(item, `input[${index}]`))),
    ...textBlock(instruction),
  ]
  for (const { item, at } of orderToolResults(input.slice(leading.length))) encoder.add(item, pathOf(item, `input[${leading.length + at}]`))
  const messages = encoder.turns.map(({ role, results, blocks }) => ({ role, content: [...results, ...blocks] }))
  if (messages.length === 0 && system.length > 0) {
    // Without any message, the system prompt is sent as the user's message, because a request needs one.
    draft.set('messages', [{ role: 'user', content: system }])
    return encoder.droppedReasoning
  }
  const turns = withUserTurns(trimPrefill(messages), draft, {
    role: 'assistant',
    userTurn: text => ({ role: 'user', content: [{ type: 'text', text }] }),
    keepsStart: input.some(item => originalBody(item)),
    // A call of a hosted tool at the end is a paused response, which every model continues.
    keepsEnd: !draft.quirks.noPrefill || input.at(-1)?.type === 'native',
  })
  const [first] = system
  // System blocks from a client of this dialect stay blocks, as in a body that is passed through, because prompt caches match prefixes. A
  // single text becomes a string, which every server of this dialect accepts.
  const isOwn = leading.some(item => originalBody(item))
  const isText = Object.entries(first ?? {}).every(([field, value]) => field === 'type' || field === 'text' || value === undefined)
  if (system.length > 0) draft.set('system', system.length === 1 && isText && !isOwn ? stringOf(first?.text) : system)
  draft.set('messages', turns)
  return encoder.droppedReasoning
}

const isInstruction = ({ role }: MessageItem): boolean => role === 'system' || role === 'developer'

/** Whether the text is blank, which providers reject. */
const isBlank = (text: string): boolean => text.trim() === ''

const textBlock = (text: string | undefined): readonly JsonObject[] => (text === undefined || isBlank(text) ? [] : [{ type: 'text', text }])

/** The `cache_control` field of a block with a cache point. */
export const cacheControl = (cache: CachePoint | undefined): JsonObject | undefined => cache && { type: 'ephemeral', ttl: cache.ttl }

interface Turn {
  readonly role: 'user' | 'assistant' | 'system'
  /** Tool results, which come first: nothing may separate a call from its result. */
  readonly results: JsonObject[]
  readonly blocks: JsonObject[]
}

class ItemEncoder {
  readonly turns: Turn[] = []
  /** Paths of reasoning that was left out. */
  readonly droppedReasoning: string[] = []
  readonly #callIds: FittedNames
  readonly #draft: BodyDraft

  constructor(input: readonly Item[], draft: BodyDraft) {
    this.#callIds = fittedNames(callIdsIn(input), safeId)
    this.#draft = draft
  }

  add(item: Item, path: string): void {
    if (item.type === 'message') {
      const blocks = this.messageBlocks(item, path)
      // A later system message keeps its position: unchanged if it came in this dialect, otherwise as tagged user text.
      if (!isInstruction(item)) this.#addBlocks(item.role === 'assistant' ? 'assistant' : 'user', blocks)
      else if (originalBody(item)) this.#addBlocks('system', blocks)
      else
        this.#addBlocks(
          'user',
          blocks.map(block => ({ ...block, text: `<system>${stringOf(block.text)}</system>` })),
        )
    } else if (item.type === 'function_call') this.#addBlocks('assistant', [this.#encodeCall(item, path)])
    else if (item.type === 'function_call_output') this.#turn('user').results.push(this.#encodeResult(item, path))
    else if (item.type === 'reasoning') {
      const blocks = thinkingBlocks(item)
      if (blocks.length === 0 && hasWords(item)) this.droppedReasoning.push(path)
      this.#addBlocks('assistant', blocks)
    } else if (item.dialect === dialect) this.#addBlocks('assistant', [item.body])
    else this.#draft.loseContent(path)
  }

  #turn(role: Turn['role']): Turn {
    const last = this.turns.at(-1)
    if (last?.role === role && role !== 'system') return last
    const turn: Turn = { role, results: [], blocks: [] }
    this.turns.push(turn)
    return turn
  }

  #addBlocks(role: Turn['role'], blocks: readonly JsonObject[]): void {
    if (blocks.length === 0) return
    const turn = this.#turn(role)
    for (const block of blocks) turn.blocks.push(block)
  }

  messageBlocks(item: MessageItem, path: string): readonly JsonObject[] {
    const original = originalBody(item)
    if (!original) return this.#encodeParts(item.content, `${path}.content`, item.role === 'user')
    return typeof original.content === 'string' ? textBlock(original.content) : objects(original.content)
  }

  #encodeCall(item: FunctionCallItem, path: string): JsonObject {
    const id = this.#callIds.sent(item.call_id)
    const original = originalBody(item)
    if (original) return { ...original, id }
    const { name, arguments: written, cache } = item
    let input = isBlank(written) ? {} : readFrame({ data: written })
    if (!isObject(input)) {
      const param = `${path}.arguments`
      this.#draft.omit(param, 'is not a JSON object; the text was sent as the field `_raw` of an object.')
      input = { _raw: written }
    }
    return { type: 'tool_use', id, name: this.#draft.toolNames.sent(name), input, cache_control: cacheControl(cache) }
  }

  #encodeResult(item: FunctionCallOutputItem, path: string): JsonObject {
    const tool_use_id = this.#callIds.sent(item.call_id)
    const original = originalBody(item)
    if (original) return { ...original, tool_use_id }
    const { output, is_error, cache } = item
    const content = typeof output === 'string' ? output : this.#encodeParts(output, `${path}.output`, true)
    return { type: 'tool_result', tool_use_id, content, is_error: is_error || undefined, cache_control: cacheControl(cache) }
  }

  /** `allowsMedia`: whether images and files are allowed. */
  #encodeParts(parts: readonly Part[], path: string, allowsMedia: boolean): readonly JsonObject[] {
    return parts.flatMap((part, index) => {
      const original = originalBody(part)
      if (original) return [original]
      if (part.type === 'text')
        return isBlank(part.text) ? [] : [{ type: 'text', text: part.text, cache_control: cacheControl(part.cache) }]
      if (part.type === 'refusal') return textBlock(part.refusal)
      if (part.type === 'native' && part.dialect === dialect) return [part.body]
      const isMedia = part.type === 'image' || part.type === 'file'
      const encoded = allowsMedia && isMedia ? encodeMedia(part, this.#draft.quirks.files === false) : undefined
      if (encoded) return [encoded]
      this.#draft.loseContent(pathOf(part, `${path}[${index}]`))
      return []
    })
  }
}

/** Encodes thinking. None without a signature, because text of another model's thinking is rejected. */
function thinkingBlocks(item: ReasoningItem): readonly JsonObject[] {
  if (!item.encrypted_content) return []
  const block = originalBody(item) ?? decodeReasoningState(item.encrypted_content)
  return block ? [block] : []
}

/** Encodes an image or a file. `refusesFiles`: whether files are sent as text. */
function encodeMedia(part: ImagePart | FilePart, refusesFiles: boolean): JsonObject | undefined {
  const cache_control = cacheControl(part.cache)
  if (part.type === 'file' && refusesFiles) {
    const text = fileAsText(part)
    return text === undefined ? undefined : { type: 'text', text, cache_control }
  }
  const source = sourceOf(part)
  if (!source) return undefined
  if (part.type === 'image') return { type: 'image', source, cache_control }
  const { filename: title, citable, context } = part
  return { type: 'document', title, context, citations: citable && { enabled: true }, source, cache_control }
}

/** Accepted media types of images, with their standard spelling. */
export const imageTypes: ReadonlyMap<string, string> = new Map(
  ['jpeg', 'png', 'gif', 'webp', 'jpg'].map(kind => [`image/${kind}`, kind === 'jpg' ? 'image/jpeg' : `image/${kind}`]),
)

/** A file of any text type is sent as text. */
export const isTextType = (type: string): boolean => type === '' || type.startsWith('text/')

function sourceOf({ type: kind, url }: ImagePart | FilePart): JsonObject | undefined {
  if (!url.startsWith('data:')) return { type: 'url', url }
  const head = parseDataUrl(url)
  if (!head) return undefined
  const { type, isBase64, dataAt } = head
  const media_type = kind === 'image' ? imageTypes.get(type) : type === 'application/pdf' ? type : undefined
  if (media_type !== undefined && isBase64) return { type: 'base64', media_type, data: url.slice(dataAt) }
  const text = kind === 'file' && isTextType(type) ? decodeText(url.slice(dataAt), isBase64) : undefined
  return text === undefined ? undefined : { type: 'text', media_type: 'text/plain', data: text }
}

/** Trims the end of a final assistant message: the model continues it, and it must not end in whitespace. */
function trimPrefill(messages: readonly JsonObject[]): readonly JsonObject[] {
  const last = messages.at(-1)
  const block = objects(last?.content).at(-1)
  const text = stringOf(block?.text)
  if (last?.role !== 'assistant' || block?.type !== 'text' || text === text.trimEnd()) return messages
  const content = objects(last.content).slice(0, -1)
  return [...messages.slice(0, -1), { ...last, content: [...content, { ...block, text: text.trimEnd() }] }]
}

/** Whether the conversation ends with tool results whose turn does not begin with restorable thinking. */
export function lacksThinkingBeforeCalls(input: readonly Item[]): boolean {
  const end = input.findLastIndex(item => !endsTurn(item))
  if (!input.slice(end + 1).some(({ type }) => type === 'function_call_output')) return false
  const first = input[input.slice(0, end).findLastIndex(endsTurn) + 1]
  return first?.type !== 'reasoning' || thinkingBlocks(first).length === 0
}

const endsTurn = (item: Item): boolean => item.type === 'function_call_output' || (item.type === 'message' && item.role !== 'assistant')
