import type { FunctionCallOutputItem, Item, MessageItem, Native, Part } from '../protocol/item.ts'
import { originalOf, pathOf, remember } from '../protocol/original.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'
import type { DialectName, JsonObject } from '../protocol/wire.ts'
import { imageType } from './generated-image.ts'
import { stringOf } from './json.ts'

// Items and parts of earlier answers that only one dialect has: searches, code that a provider ran, types that are not modelled. A client
// sends them back with its next turn, which may go to a provider of another dialect. What they led to is in the text of the answer, so
// that provider does without them, and one warning names them.

/** Types that hold more than a record: without it the conversation would be another one. */
const contentTypes: ReadonlySet<string> = new Set(['compaction', 'compaction_trigger', 'item_reference', 'additional_tools'])

/** An item of an earlier answer that is not modelled. */
export function earlierItem(dialect: DialectName, body: JsonObject): Native {
  const text = compactedText(body)
  const native = { type: 'native', dialect, body } as const
  if (text !== '') return { ...native, text }
  return isRecord(body) ? { ...native, isRecord: true } : native
}

/** A compaction block of the Messages API is plain text. */
const compactedText = ({ type, content }: JsonObject): string => (type === 'compaction' ? stringOf(content) : '')

/** A compaction without a content failed, and an image that was not made has no bytes to send. */
function isRecord(body: JsonObject): boolean {
  const type = stringOf(body.type)
  if (type === 'compaction' && body.content === null) return true
  if (type === imageType) return typeof body.status === 'string' && body.status !== 'completed'
  return !contentTypes.has(type)
}

/** A part of an earlier answer: one that is not modelled is a record. */
export const earlierPart = (part: Part): Part => (part.type === 'native' ? remember({ ...part, isRecord: true }, originalOf(part)) : part)

interface SentHistory {
  readonly request: InferenceRequest
  readonly warnings: readonly Warning[]
}

interface Left {
  readonly target: DialectName
  readonly paths: string[]
  readonly types: Set<string>
  /** Calls that were left out: their results go with them. */
  readonly calls: Set<unknown>
}

/** The request as a provider of another dialect gets it: without records that it cannot read. */
export function withoutForeignRecords(request: InferenceRequest, target: DialectName): SentHistory {
  const { input } = request.prompt
  if (!input.some(item => hasForeign(item, target))) return { request, warnings: [] }
  const left: Left = { target, paths: [], types: new Set(), calls: new Set() }
  const kept = input.flatMap((item, at) => keptOf(item, `input[${at}]`, left))
  // Where nothing else is said, the dialect refuses them.
  if (kept.length === 0) return { request, warnings: [] }
  return {
    request: remember({ ...request, prompt: { ...request.prompt, input: kept } }, originalOf(request)),
    warnings: warningsOf(left),
  }
}

const isForeign = (each: Item | Part, target: DialectName): each is Native =>
  each.type === 'native' && each.dialect !== target && (each.isRecord === true || each.text !== undefined)

const hasForeign = (item: Item, target: DialectName): boolean =>
  item.type === 'message' ? item.content.some(part => isForeign(part, target)) : isForeign(item, target)

function keptOf(item: Item, param: string, left: Left): readonly Item[] {
  if (isForeign(item, left.target)) return item.text === undefined ? leaveOut(item, param, left) : [inWords(item, item.text)]
  if (item.type === 'function_call_output' && left.calls.has(item.call_id)) return leaveOut(item, param, left)
  if (item.type !== 'message' || !hasForeign(item, left.target)) return [item]
  const content = item.content.filter(
    (part, at) => !isForeign(part, left.target) || leaveOut(part, `${param}.content[${at}]`, left).length > 0,
  )
  return content.length === 0 ? [] : [remember<MessageItem>({ ...item, content }, originalOf(item))]
}

const inWords = (item: Native, text: string): Item =>
  remember<MessageItem>({ type: 'message', role: 'assistant', content: [{ type: 'text', text }] }, originalOf(item))

function leaveOut(each: Native | FunctionCallOutputItem, param: string, { paths, types, calls }: Left): readonly never[] {
  paths.push(pathOf(each, param))
  types.add(each.type === 'native' ? stringOf(each.body.type).slice(0, maxShownType) || 'unknown' : each.type)
  if (each.type === 'native') for (const id of [each.body.call_id, each.body.id]) if (id !== undefined) calls.add(id)
  return []
}

const maxShownType = 100
const maxTypes = 10

function warningsOf({ paths: [param, ...others], types }: Left): readonly Warning[] {
  if (param === undefined) return []
  const named = [...types].slice(0, maxTypes).map(type => `\`${type}\``)
  const what = `\`${param}\`${others.length > 0 ? ` and ${others.length} more` : ''} (${named.join(', ')})`
  return [
    {
      code: 'earlier_output_dropped',
      message: `${what} of earlier answers cannot be sent to the API of this provider and ${others.length > 0 ? 'were' : 'was'} left out.`,
      param,
    },
  ]
}
