import type { CachePoint, FunctionCallItem, FunctionCallOutputItem, Item, MessageItem, Part, ReasoningItem } from '../../protocol/item.ts'
import { pathOf } from '../../protocol/original.ts'
import type { Warning } from '../../protocol/response.ts'
import type { JsonObject } from '../../protocol/wire.ts'
import { unsupported } from '../apply-quirks.ts'
import { objectIn } from '../json.ts'
import { orderToolResults } from '../tool-result-order.ts'
import type { CacheMarks } from './cache-points.ts'
import { isBlank, nameDocuments, writePart } from './parts.ts'
import { callIdOf, nameOf, readState } from './wire.ts'

// Items → messages. Roles take turns there, so what one side says in several items is one message; what tools returned
// comes first in it.

export interface Conversation {
  /** What was said by the system before anyone else. */
  readonly system: readonly JsonObject[]
  readonly messages: readonly JsonObject[]
  /** Tools that were called, as the caller knows them. */
  readonly called: ReadonlySet<string>
  /** Calls or results stand in it: then tools must be declared. */
  readonly hasTools: boolean
  /** The calls that were answered last came without the thoughts that led to them. */
  readonly isUnthought: boolean
  readonly warnings: readonly Warning[]
}

interface Turn {
  readonly role: 'user' | 'assistant'
  readonly results: JsonObject[]
  readonly blocks: JsonObject[]
}

/** A block, and whether all up to it may be cached. */
interface Written {
  readonly block: JsonObject
  readonly cache?: CachePoint | undefined
}

export function writeConversation(input: readonly Item[], marks: CacheMarks): Conversation {
  const system: JsonObject[] = []
  const turns: Turn[] = []
  const called = new Set<string>()
  const warnings: Warning[] = []
  const documents = nameDocuments()
  let hasTools = false

  const turnOf = (role: Turn['role']): Turn => {
    const last = turns.at(-1)
    if (last?.role === role) return last
    const turn: Turn = { role, results: [], blocks: [] }
    turns.push(turn)
    return turn
  }
  const put = (blocks: JsonObject[], written: readonly Written[]): void => {
    for (const { block, cache } of written) blocks.push(block, ...marks.after(cache))
  }
  const lose = (param: string): void => {
    warnings.push(unsupported(param, `\`${param}\` cannot be said here and was left out.`))
  }
  const partsOf = (parts: readonly Part[], param: string, isText: boolean): readonly Written[] =>
    parts.flatMap((part, at): readonly Written[] => {
      const block = isText && part.type !== 'text' && part.type !== 'refusal' ? undefined : writePart(part, documents)
      if (!block) lose(pathOf(part, `${param}[${at}]`))
      return block && !isBlank(block) ? [{ block, cache: 'cache' in part ? part.cache : undefined }] : []
    })

  const writeMessage = ({ role, content }: MessageItem, param: string): void => {
    const written = partsOf(content, `${param}.content`, role !== 'user')
    if (written.length === 0) return
    if (role === 'user' || role === 'assistant') put(turnOf(role).blocks, written)
    else if (turns.length === 0) put(system, written)
    // Hoisted to the front it would say something else, and spoil the cache of all that stands before it.
    else put(turnOf('user').blocks, written.map(marked))
  }

  const writeCall = ({ call_id, name, arguments: said, cache }: FunctionCallItem, param: string): void => {
    const input = said.trim() === '' ? {} : objectIn(said)
    if (!input)
      warnings.push(unsupported(`${param}.arguments`, `\`${param}.arguments\` is no JSON object; it was sent as the text \`_raw\` of one.`))
    called.add(name)
    hasTools = true
    const block = { toolUse: { toolUseId: callIdOf(call_id), name: nameOf(name), input: input ?? { _raw: said } } }
    put(turnOf('assistant').blocks, [{ block, cache }])
  }

  const writeResult = ({ call_id, output, is_error, cache }: FunctionCallOutputItem, param: string): void => {
    const parts: readonly Part[] = typeof output === 'string' ? [{ type: 'text', text: output }] : output
    const content = partsOf(parts, `${param}.output`, false).map(({ block }) => block)
    hasTools = true
    const block = {
      toolResult: {
        toolUseId: callIdOf(call_id),
        content: content.length > 0 ? content : [{ text: '(empty)' }],
        ...(is_error && { status: 'error' }),
      },
    }
    put(turnOf('user').results, [{ block, cache }])
  }

  /** Only signed thoughts are taken back, each by the model that had it. */
  const writeThought = ({ encrypted_content: state }: ReasoningItem, param: string): void => {
    if (state === undefined) return
    const block = readState(state)
    if (block) put(turnOf('assistant').blocks, [{ block: { reasoningContent: block } }])
    else lose(`${param}.encrypted_content`)
  }

  for (const { item, at } of orderToolResults(input)) {
    const param = pathOf(item, `input[${at}]`)
    if (item.type === 'message') writeMessage(item, param)
    else if (item.type === 'function_call') writeCall(item, param)
    else if (item.type === 'function_call_output') writeResult(item, param)
    else if (item.type === 'reasoning') writeThought(item, param)
    else lose(param)
  }
  return { system, messages: turns.map(writeTurn), called, hasTools, isUnthought: isUnthought(turns), warnings }
}

function isUnthought(turns: readonly Turn[]): boolean {
  const [before, last] = turns.slice(-2)
  return last !== undefined && last.results.length > 0 && before?.blocks[0]?.reasoningContent === undefined
}

/** The system speaks in the middle of a conversation, where only the user can. */
const marked = ({ block, cache }: Written): Written => ({ block: { text: `<system>\n${block.text}\n</system>` }, cache })

function writeTurn({ role, results, blocks }: Turn, at: number, turns: readonly Turn[]): JsonObject {
  const content = [...results, ...told(blocks)]
  return { role, content: role === 'assistant' && at === turns.length - 1 ? trimmed(content) : content }
}

/** A document does not go without a word. */
const told = (blocks: readonly JsonObject[]): readonly JsonObject[] =>
  blocks.some(({ document }) => document) && !blocks.some(({ text }) => text) ? [{ text: 'The document:' }, ...blocks] : blocks

/** Words that are put into the model's mouth may not end in white space. */
function trimmed(content: readonly JsonObject[]): readonly JsonObject[] {
  const last = content.at(-1)
  return typeof last?.text === 'string' ? [...content.slice(0, -1), { text: last.text.trimEnd() }] : content
}
