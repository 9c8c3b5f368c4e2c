import { type EventOf, type SentText, sentText } from '../common/stream-encoder.ts'
import type { FunctionCallItem, Item, ItemStatus, Part } from '../protocol/item.ts'
import { type SmallMap, setEntry, smallMap, valuesOf } from '../protocol/small-map.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { encodeItem, originalBody } from './items.ts'
import { hostedEvents, type PartFormat, type PartKind, partFormats } from './wire.ts'

// What a stream encoder knows about the items that it has announced.

/** The end of every frame, up to its sequence number. */
export const numbered = ',"sequence_number":'
/** The end of a delta frame, after its text. */
export const deltaTail = `"${numbered}`
const textTail = `","logprobs":[]${numbered}`

/** The events about the arguments of a call, and the field of the last one that contains them. */
const functionArguments = { stem: 'response.function_call_arguments', field: 'arguments' } as const
const customInput = { stem: 'response.custom_tool_call_input', field: 'input' } as const
export const argumentsFormat = (item: Item): typeof functionArguments | typeof customInput =>
  item.type === 'function_call' && item.custom ? customInput : functionArguments

export interface SentPart extends SentText {
  readonly kind: PartKind
  readonly format: PartFormat
  /** Its number in events. */
  readonly partNumber: number
  /** Its number in frames. */
  readonly frameIndex: number
  /** A delta frame before and after its text, without the sequence number: the same for all deltas of the part. */
  readonly head: string
  readonly tail: string
  /** The complete text, if that is not what was sent. */
  final: string | undefined
  annotations: JsonObject[]
  logprobs: JsonObject[]
  closed: boolean
}

/** An announced item, with the arguments that were sent if it is a call. */
export interface SentItem extends SentText {
  readonly outputIndex: number
  readonly id: string
  readonly item: Item
  readonly parts: SmallMap<string, SentPart>
  /** The open part; parts follow one another. */
  current: SentPart | undefined
  contents: number
  summaries: number
  /** Numbers of parts that are passed through, by the provider's numbers. Undefined until there is one. */
  natives: Map<number, number> | undefined
  /** A frame up to the arguments. */
  readonly argumentsHead: string
  /** The finished item. */
  encoded: JsonObject | undefined
}

const argumentsHead = (item: FunctionCallItem, id: string, outputIndex: number): string =>
  `{"type":"${argumentsFormat(item).stem}.delta","item_id":${JSON.stringify(id)},"output_index":${outputIndex},"delta":"`

export const sentItem = (item: Item, id: string, outputIndex: number): SentItem => ({
  outputIndex,
  id,
  item,
  parts: smallMap(),
  current: undefined,
  contents: 0,
  summaries: 0,
  natives: undefined,
  argumentsHead: item.type === 'function_call' ? argumentsHead(item, id, outputIndex) : '',
  sent: 0,
  buffer: undefined,
  isShared: false,
  encoded: undefined,
})

/** Adds a part to an item, with the next number of its kind. */
export function addPart(item: SentItem, kind: PartKind, partNumber: number): SentPart {
  const format = partFormats[kind]
  const frameIndex = kind === 'summary' ? item.summaries++ : item.contents++
  // Joined, because a template is kept as a chain of its pieces.
  const position = [`"item_id":${JSON.stringify(item.id)},"output_index":`, item.outputIndex, `,"${format.numberField}":`, frameIndex]
  const head = [`{"type":"${format.deltaEvent}",`, ...position, ',"delta":"'].join('')
  const added: SentPart = {
    kind,
    format,
    partNumber,
    frameIndex,
    head,
    tail: kind === 'text' ? textTail : deltaTail,
    sent: 0,
    buffer: undefined,
    isShared: false,
    final: undefined,
    annotations: [],
    logprobs: [],
    closed: false,
  }
  setEntry(item.parts, `${kind}:${partNumber}`, added)
  item.current = added
  return added
}

/** The fields that locate a part. */
export const partPosition = ({ id, outputIndex }: SentItem, { format, frameIndex }: SentPart): JsonObject => ({
  item_id: id,
  output_index: outputIndex,
  [format.numberField]: frameIndex,
})

/** Unknown fields of the provider's delta. Decoders only remember a delta with such fields. */
export function unknownDeltaFields(event: EventOf<'delta'>): JsonObject | undefined {
  const body = originalBody(event)
  if (!body) return undefined
  const { type, sequence_number, obfuscation, error, ...unknown } = body
  return unknown
}

/** Whether clients accept an event of this name about this item: they fail on one about an item of another type. Audio belongs to no item. */
export function isExpected(name: string, item: SentItem | undefined): boolean {
  const type = hostedEvents.get(name)?.item
  if (!item) return hostedEvents.has(name) && type === undefined
  if (item.encoded) return false
  if (item.item.type === 'message') return name.startsWith('response.content_part.')
  return item.item.type === 'native' && item.item.body.type === type
}

/** `top_logprobs` is always a list, because a client otherwise rejects the entry. */
export const withAlternatives = (entry: JsonObject): JsonObject => ({ ...entry, top_logprobs: entry.top_logprobs ?? [] })

/** An item as it is announced: without its text and its sealed state. */
export function encodeShell(item: Item, id: string): JsonObject {
  if (item.type === 'message') return { ...encodeItem({ ...item, content: [], status: 'in_progress' }, id), ...unknownItemFields(item) }
  if (item.type === 'function_call')
    return { ...encodeItem({ ...item, arguments: '', status: 'in_progress' }, id), ...unknownItemFields(item) }
  if (item.type === 'reasoning') return { ...unknownItemFields(item), id, type: 'reasoning', summary: [] }
  return encodeItem(item, id)
}

const itemFields: ReadonlySet<string> = new Set([
  ...['id', 'type', 'status', 'role', 'content', 'phase'],
  ...['call_id', 'name', 'arguments', 'input', 'summary', 'encrypted_content'],
])
const unknownItemFields = (item: Item): JsonObject | undefined => {
  const body = originalBody(item)
  return body && Object.fromEntries(Object.entries(body).filter(([field]) => !itemFields.has(field)))
}

/** An item from what was sent of it, for a response that ends before the item is finished. */
export function itemSoFar(sent: SentItem, status: ItemStatus): Item {
  const { item, parts } = sent
  const textsOf = (kind: PartKind): readonly string[] => valuesOf(parts).flatMap(part => (part.kind === kind ? [sentText(part)] : []))
  if (item.type === 'message') return { ...item, content: valuesOf(parts).map(contentPart), status }
  if (item.type === 'function_call') return { ...item, arguments: sentText(sent), status }
  if (item.type !== 'reasoning') return item
  const content = textsOf('reasoning')
  return { ...item, summary: textsOf('summary'), ...(content.length > 0 && { content }) }
}

function contentPart(part: SentPart): Part {
  const { kind, annotations, logprobs } = part
  if (kind === 'refusal') return { type: 'refusal', refusal: sentText(part) }
  return {
    type: 'text',
    text: sentText(part),
    ...(annotations.length > 0 && { annotations }),
    ...(logprobs.length > 0 && { logprobs }),
  }
}
