import type { Reading } from '../../protocol/dialect.ts'
import type { Failure } from '../../protocol/failure.ts'
import type { FunctionCallItem, Item, ItemStatus, MessageItem, Part } from '../../protocol/item.ts'
import { remember } from '../../protocol/original.ts'
import type { InferenceResponse, Outcome, Usage } from '../../protocol/response.ts'
import { isObject, type Json, type JsonObject } from '../../protocol/wire.ts'
import { failureOf, readErrorDetails, unreadable } from '../failure.ts'
import { deriveCallId } from '../ids.ts'
import { objects, stringOf } from '../json.ts'
import { isCounted, readUsage, usageNames } from '../usage.ts'
import { writeState } from './reasoning-state.ts'
import { dialect } from './wire.ts'

// A message of a provider and its blocks → ours. Whole answers and the finished blocks of a stream are read alike.

export interface Head {
  readonly id: string
  readonly model: string
  readonly created_at: number
}

/** This language does not say when. */
export const headOf = ({ id, model }: JsonObject): Head => ({ id: stringOf(id), model: stringOf(model), created_at: 0 })

const cut: Outcome = { status: 'incomplete', reason: 'max_output_tokens' }
const refused: Outcome = { status: 'incomplete', reason: 'content_filter' }
const completed: Outcome = { status: 'completed' }

/** Why an answer ended; what is not listed means that it simply did. A pause is for the caller to go on from. */
const endings: ReadonlyMap<string, Outcome> = new Map([
  ['max_tokens', cut],
  ['model_context_window_exceeded', cut],
  ['refusal', refused],
])

export const outcomeOf = (reason: string): Outcome => endings.get(reason) ?? completed

export const failed = (error: Failure): Outcome => ({ status: 'failed', error })

export const nameless = failed(unreadable('The provider sent a tool call without a name.'))

/** Nested, or flat beside the mark. */
export function errorOf(body: JsonObject): Failure | undefined {
  const { type, error, ...flat } = body
  if (error !== undefined && error !== null)
    return failureOf(readErrorDetails(isObject(error) || typeof error === 'string' ? { error } : flat))
  return type === 'error' ? failureOf(readErrorDetails(flat)) : undefined
}

export function countUsage(wire: Json | undefined, answered: boolean): Usage | undefined {
  const usage = readUsage(wire, usageNames.messages)
  return isCounted(usage, answered) ? usage : undefined
}

/** Why it was refused, in words, where the provider says so. */
export const explanationOf = ({ stop_details: details }: JsonObject): string => (isObject(details) ? stringOf(details.explanation) : '')

export type BlockKind = 'text' | 'answer' | 'thinking' | 'redacted' | 'call' | 'native'

const kinds: ReadonlyMap<string, BlockKind> = new Map<string, BlockKind>([
  ['text', 'text'],
  ['thinking', 'thinking'],
  ['redacted_thinking', 'redacted'],
  ['tool_use', 'call'],
])

/** `answer`: a call that carries the text of the answer. */
export const kindOf = ({ type, name }: JsonObject, { answerTool }: Reading): BlockKind =>
  type === 'tool_use' && answerTool !== undefined && name === answerTool ? 'answer' : (kinds.get(stringOf(type)) ?? 'native')

export const isSpeech = (kind: BlockKind): boolean => kind === 'text' || kind === 'answer'

export function readText(block: JsonObject): Part {
  const text = stringOf(block.text)
  const annotations = objects(block.citations).flatMap(citation => annotationOf(citation, text.length))
  return remember<Part>({ type: 'text', text, ...(annotations.length > 0 && { annotations }) }, { dialect, body: block })
}

/** What stands on the web; a place in a document of the caller's has no address. */
export const isLink = ({ type, url }: JsonObject): boolean => type === 'web_search_result_location' && typeof url === 'string'

function annotationOf(citation: JsonObject, end_index: number): readonly JsonObject[] {
  if (!isLink(citation)) return []
  const { url, title } = citation
  const annotation: JsonObject = { type: 'url_citation', start_index: 0, end_index, url, title: stringOf(title) || stringOf(url) }
  return [remember(annotation, { dialect, body: citation })]
}

/** `blocks`: what it was read from. A message that says more than they do came from elsewhere. */
export const messageOf = (content: readonly Part[], blocks: readonly JsonObject[], status: ItemStatus): MessageItem =>
  remember<MessageItem>(
    { type: 'message', role: 'assistant', content, status },
    blocks.length === content.length ? { dialect, body: { role: 'assistant', content: blocks } } : undefined,
  )

/** The thought as a summary, since that is what it is, and all of it as state. */
export function readThought(block: JsonObject): Item {
  const isRedacted = block.type === 'redacted_thinking'
  const thought = isRedacted ? '' : stringOf(block.thinking)
  const isEmpty = thought === '' && stringOf(isRedacted ? block.data : block.signature) === ''
  return remember<Item>(
    {
      type: 'reasoning',
      summary: thought === '' ? [] : [thought],
      ...(!isEmpty && { encrypted_content: writeState(block) }),
      ...(isRedacted && { redacted: true }),
    },
    { dialect, body: block },
  )
}

export const callOf = (call: Pick<FunctionCallItem, 'call_id' | 'name' | 'arguments'>, block: JsonObject, status: ItemStatus): Item =>
  remember<Item>({ type: 'function_call', ...call, status }, { dialect, body: block })

export const nativeOf = (body: JsonObject): Item => remember<Item>({ type: 'native', dialect, body }, { dialect, body })

/** The id of each call of one answer: never blank, and never twice. */
export function callIds(head: () => Head): (given: Json | undefined, name: string) => string {
  const taken = new Set<string>()
  return (given, name) => {
    const id = stringOf(given)
    const call_id = id !== '' && !taken.has(id) ? id : deriveCallId(head().id, taken.size, name)
    taken.add(call_id)
    return call_id
  }
}

/** What an answer without a word is: an empty message, never nothing. */
export const emptyMessage: MessageItem = { type: 'message', role: 'assistant', content: [{ type: 'text', text: '' }], status: 'completed' }

export function decodeResponse(body: JsonObject, reading: Reading = {}): InferenceResponse {
  try {
    return readMessage(body, reading)
  } catch {
    // Nested deeper than what can be written again.
    return { ...headOf(body), output: [], outcome: failed(unreadable('The provider’s answer is nested too deep.')) }
  }
}

function readMessage(body: JsonObject, reading: Reading): InferenceResponse {
  const head = headOf(body)
  const error = errorOf(body)
  const blocks = blocksOf(body)
  const outcome = error ? failed(error) : blocks ? outcomeOf(stringOf(body.stop_reason)) : silent
  const said = readBlocks(blocks ?? [], outcome, { body, head, reading })
  const isNameless = outcome.status !== 'failed' && said.some(item => item.type === 'function_call' && item.name === '')
  const output = said.length === 0 && outcome.status === 'completed' ? [emptyMessage] : said
  const usage = countUsage(body.usage, said.length > 0)
  return remember({ ...head, output, outcome: isNameless ? nameless : outcome, ...(usage && { usage }) }, { dialect, body })
}

const silent = failed(unreadable('The provider’s answer has no content.'))

/** Some servers send a bare text, and null where they have nothing to say. */
function blocksOf({ content, stop_reason }: JsonObject): readonly JsonObject[] | undefined {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return Array.isArray(content) || typeof stop_reason === 'string' ? objects(content) : undefined
}

interface Answer {
  readonly body: JsonObject
  readonly head: Head
  readonly reading: Reading
}

/** Neighbouring texts are parts of one message. What did not reach its end is the last item. */
function readBlocks(blocks: readonly JsonObject[], outcome: Outcome, { body, head, reading }: Answer): readonly Item[] {
  const items: Item[] = []
  const idFor = callIds(() => head)
  let parts: Part[] = []
  let spoken: JsonObject[] = []
  const status: ItemStatus = outcome.status === 'completed' ? 'completed' : 'incomplete'
  const explanation = outcome === refused ? explanationOf(body) : ''
  const last = explanation === '' ? blocks.length - 1 : blocks.length
  const closeMessage = (isLast: boolean): void => {
    if (parts.length > 0) items.push(messageOf(parts, spoken, isLast ? status : 'completed'))
    parts = []
    spoken = []
  }
  for (const [at, block] of blocks.entries()) {
    const kind = kindOf(block, reading)
    if (kind === 'text') spoken.push(block)
    if (isSpeech(kind)) {
      parts.push(kind === 'text' ? readText(block) : { type: 'text', text: inputText(block) })
      continue
    }
    closeMessage(false)
    if (kind === 'native') items.push(nativeOf(block))
    else if (kind === 'call') items.push(readCall(block, { idFor, reading, status: at === last ? status : 'completed' }))
    else items.push(readThought(block))
  }
  if (explanation !== '') parts.push({ type: 'refusal', refusal: explanation })
  closeMessage(true)
  return items
}

export const inputText = ({ input }: JsonObject): string => (isObject(input) ? JSON.stringify(input) : '{}')

export const callerName = (name: string, { toolNames }: Reading): string => toolNames?.get(name) ?? name

interface CallFacts {
  readonly idFor: (given: Json | undefined, name: string) => string
  readonly reading: Reading
  readonly status: ItemStatus
}

function readCall(block: JsonObject, { idFor, reading, status }: CallFacts): Item {
  const name = callerName(stringOf(block.name), reading)
  return callOf({ call_id: idFor(block.id, name), name, arguments: inputText(block) }, block, status)
}
