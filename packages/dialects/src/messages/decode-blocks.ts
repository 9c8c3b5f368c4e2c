import { objects, stringOf } from '../common/json.ts'
import type { ResponseMapping } from '../protocol/dialect.ts'
import type { FunctionCallItem, Item, ItemStatus, MessageItem, Part } from '../protocol/item.ts'
import { remember } from '../protocol/original.ts'
import { isObject, type JsonObject } from '../protocol/wire.ts'
import { encodeReasoningState } from './reasoning-state.ts'
import { dialect } from './wire.ts'

// Decodes a provider's complete content blocks into items and parts.

/** `answer`: a call of the tool whose arguments are the response text. */
export type BlockKind = 'text' | 'answer' | 'thinking' | 'redacted' | 'call' | 'native'

const blockKinds: ReadonlyMap<string, BlockKind> = new Map<string, BlockKind>([
  ['text', 'text'],
  ['thinking', 'thinking'],
  ['redacted_thinking', 'redacted'],
  ['tool_use', 'call'],
])

export const blockKind = ({ type, name }: JsonObject, { answerTool }: ResponseMapping): BlockKind =>
  type === 'tool_use' && answerTool !== undefined && name === answerTool ? 'answer' : (blockKinds.get(stringOf(type)) ?? 'native')

/** Whether the block is part of a message; adjacent ones belong to the same message. */
export const isMessagePart = (kind: BlockKind): boolean => kind === 'text' || kind === 'answer'

export function textPart(block: JsonObject): Part {
  const text = stringOf(block.text)
  const annotations = objects(block.citations).flatMap(citation => linkAnnotations(citation, text.length))
  return remember<Part>({ type: 'text', text, ...(annotations.length > 0 && { annotations }) }, { dialect, body: block })
}

/** Whether a citation points to the web. Locations in a client document have no URL. */
export const isLink = (citation: JsonObject): boolean => citedAddress(citation) !== undefined

/** The URL that a citation points to: of a web page, or of a search result that the client supplied. */
function citedAddress({ type, url, source }: JsonObject): string | undefined {
  if (type === 'web_search_result_location') return typeof url === 'string' ? url : undefined
  return type === 'search_result_location' && /^https?:/i.test(stringOf(source)) ? stringOf(source) : undefined
}

function linkAnnotations(citation: JsonObject, end_index: number): readonly JsonObject[] {
  const url = citedAddress(citation)
  if (url === undefined) return []
  const annotation: JsonObject = { type: 'url_citation', start_index: 0, end_index, url, title: stringOf(citation.title) || url }
  return [remember(annotation, { dialect, body: citation })]
}

/** `blocks`: the text blocks among the parts. The message has an original only if all of its parts are text blocks. */
export const messageItem = (content: readonly Part[], blocks: readonly JsonObject[], status: ItemStatus): MessageItem =>
  remember<MessageItem>(
    { type: 'message', role: 'assistant', content, status },
    blocks.length === content.length ? { dialect, body: { role: 'assistant', content: blocks } } : undefined,
  )

/** A reasoning item with the thinking as summary. The state is the whole block, unless `isCut`: an incomplete block cannot be restored. */
export function reasoningItem(block: JsonObject, isCut: boolean): Item {
  const isRedacted = block.type === 'redacted_thinking'
  const thinking = isRedacted ? '' : stringOf(block.thinking)
  const isEmpty = thinking === '' && stringOf(isRedacted ? block.data : block.signature) === ''
  return remember<Item>(
    {
      type: 'reasoning',
      summary: thinking === '' ? [] : [thinking],
      ...(!isEmpty && !isCut && { encrypted_content: encodeReasoningState(block) }),
      ...(isRedacted && { redacted: true }),
    },
    isCut ? undefined : { dialect, body: block },
  )
}

export const callItem = (call: Pick<FunctionCallItem, 'call_id' | 'name' | 'arguments'>, block: JsonObject, status: ItemStatus): Item =>
  remember<Item>({ type: 'function_call', ...call, status }, typeof block.input === 'string' ? undefined : { dialect, body: block })

export const nativeItem = (body: JsonObject): Item => remember<Item>({ type: 'native', dialect, body }, { dialect, body })

/** The input of a tool call as text. It is text already if it is too deep for JSON (`parseBounded`). */
export const inputText = ({ input }: JsonObject): string => (isObject(input) ? JSON.stringify(input) : stringOf(input) || '{}')
