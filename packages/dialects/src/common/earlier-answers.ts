import type { FunctionCallOutputItem, Item, MessageItem, Part } from '../protocol/item.ts'
import { originalOf, pathOf, remember } from '../protocol/original.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'
import type { Native } from '../protocol/tool.ts'
import type { DialectName, JsonObject } from '../protocol/wire.ts'
import { imageType } from './generated-image.ts'
import { stringOf } from './json.ts'
import { combinedWarning, itemParts } from './part-warnings.ts'

// Items and parts of earlier answers that only one dialect has: searches, code that a provider ran, types that are not modelled. A client
// sends them back with its next turn, which may go to a provider of another dialect. What they led to is in the text of the answer, so
// that provider does without them, and one warning names them. Content that only one dialect has but that is text is sent as text.

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
  /** Paths of parts that are sent as text, by type. */
  readonly asText: Map<string, string[]>
  readonly types: Set<string>
  /** Calls that were left out: their results go with them. */
  readonly calls: Set<unknown>
}

/** The request as a provider of another dialect gets it: without records that it cannot read, and with text in place of blocks of text. */
export function withoutForeignRecords(request: InferenceRequest, target: DialectName): SentHistory {
  const { input } = request.prompt
  if (!input.some(item => hasForeign(item, target))) return { request, warnings: [] }
  const left: Left = { target, paths: [], asText: new Map(), types: new Set(), calls: new Set() }
  const kept = input.flatMap((item, index) => keptOf(item, `input[${index}]`, left))
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
  item.type === 'message'
    ? item.content.some(part => isForeign(part, target))
    : isForeign(item, target) || itemParts(item).some(part => isForeign(part, target))

function keptOf(item: Item, param: string, left: Left): readonly Item[] {
  if (isForeign(item, left.target)) return item.text === undefined ? leaveOut(item, param, left) : [inWords(item, item.text)]
  if (item.type === 'function_call_output' && left.calls.has(item.call_id)) return leaveOut(item, param, left)
  if (!hasForeign(item, left.target)) return [item]
  const parts = keptParts(item, param, left)
  if (item.type === 'function_call_output') return [remember<FunctionCallOutputItem>({ ...item, output: parts }, originalOf(item))]
  if (item.type !== 'message') return [item]
  return parts.length === 0 ? [] : [remember<MessageItem>({ ...item, content: parts }, originalOf(item))]
}

const keptParts = (item: Item, param: string, left: Left): readonly Part[] =>
  itemParts(item).flatMap((part, index): readonly Part[] => {
    if (!isForeign(part, left.target)) return [part]
    const place = `${param}.${item.type === 'message' ? 'content' : 'output'}[${index}]`
    if (part.text === undefined) return leaveOut(part, place, left)
    const type = recordType(part)
    const paths = left.asText.get(type) ?? []
    left.asText.set(type, paths)
    paths.push(pathOf(part, place))
    return [remember<Part>({ type: 'text', text: part.text }, originalOf(part))]
  })

const inWords = (item: Native, text: string): Item =>
  remember<MessageItem>({ type: 'message', role: 'assistant', content: [{ type: 'text', text }] }, originalOf(item))

function leaveOut(each: Native | FunctionCallOutputItem, param: string, { paths, types, calls }: Left): readonly never[] {
  paths.push(pathOf(each, param))
  types.add(each.type === 'native' ? recordType(each) : each.type)
  if (each.type === 'native') for (const id of [each.body.call_id, each.body.id]) if (id !== undefined) calls.add(id)
  return []
}

const recordType = ({ body }: Native): string => stringOf(body.type).slice(0, maxShownType) || 'unknown'

const maxShownType = 100
const maxTypes = 10

function warningsOf({ paths: [param, ...others], asText, types }: Left): readonly Warning[] {
  const worded = [...asText].flatMap(([type, paths]) => combinedWarning(paths, `(\`${type}\`) was sent as text.`))
  if (param === undefined) return worded
  const named = [...types].slice(0, maxTypes).map(type => `\`${type}\``)
  const what = `\`${param}\`${others.length > 0 ? ` and ${others.length} more` : ''} (${named.join(', ')})`
  return [
    ...worded,
    {
      code: 'earlier_output_dropped',
      message: `${what} of earlier answers cannot be sent to the API of this provider and ${others.length > 0 ? 'were' : 'was'} left out.`,
      param,
    },
  ]
}
