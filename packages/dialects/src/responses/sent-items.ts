import { type EventOf, SentText } from '../common/stream-encoder.ts'
import type { Item, ItemStatus, Part } from '../protocol/item.ts'
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

/** A part of an announced item, with the text that was sent. */
export class SentPart extends SentText {
  readonly kind: PartKind
  readonly format: PartFormat
  /** Its number in events. */
  readonly partNumber: number
  /** The fields that locate it. */
  readonly position: JsonObject
  /** A delta frame before and after its text, without the sequence number: the same for all deltas of the part. */
  readonly head: string
  readonly tail: string
  /** The complete text, if that is not what was sent. */
  final: string | undefined = undefined
  annotations: JsonObject[] = []
  logprobs: JsonObject[] = []
  isClosed = false

  /** `frameIndex`: its number in frames. */
  constructor({ id, outputIndex }: SentItem, kind: PartKind, partNumber: number, frameIndex: number) {
    super()
    this.kind = kind
    this.format = partFormats[kind]
    this.partNumber = partNumber
    const { deltaEvent, numberField } = this.format
    this.position = { item_id: id, output_index: outputIndex, [numberField]: frameIndex }
    // Joined, because a template is kept as a chain of its pieces.
    const place = [`"item_id":${JSON.stringify(id)},"output_index":`, outputIndex, `,"${numberField}":`, frameIndex]
    this.head = [`{"type":"${deltaEvent}",`, ...place, ',"delta":"'].join('')
    this.tail = kind === 'text' ? textTail : deltaTail
  }
}

/** An announced item, with the arguments that were sent if it is a call. */
export class SentItem extends SentText {
  readonly outputIndex: number
  readonly id: string
  readonly item: Item
  readonly parts = new Map<string, SentPart>()
  /** The open part; parts follow one another. */
  current: SentPart | undefined = undefined
  contents = 0
  #summaries = 0
  /** Numbers of parts that are passed through, by the provider's numbers. Undefined until there is one. */
  natives: Map<number, number> | undefined = undefined
  /** A frame up to the arguments. */
  readonly argumentsHead: string
  /** The finished item. */
  encoded: JsonObject | undefined = undefined

  constructor(item: Item, id: string, outputIndex: number) {
    super()
    this.item = item
    this.id = id
    this.outputIndex = outputIndex
    const type = `${argumentsFormat(item).stem}.delta`
    this.argumentsHead =
      item.type === 'function_call' ? `{"type":"${type}","item_id":${JSON.stringify(id)},"output_index":${outputIndex},"delta":"` : ''
  }

  /** Adds a part, with the next number of its kind. */
  addPart(kind: PartKind, partNumber: number): SentPart {
    const added = new SentPart(this, kind, partNumber, kind === 'summary' ? this.#summaries++ : this.contents++)
    this.parts.set(`${kind}:${partNumber}`, added)
    this.current = added
    return added
  }

  /** The item from what was sent of it, for a response that ends before the item is finished. */
  soFar(status: ItemStatus): Item {
    const { item } = this
    const parts = [...this.parts.values()]
    const textsOf = (wanted: PartKind): readonly string[] => parts.filter(({ kind }) => kind === wanted).map(part => part.toString())
    if (item.type === 'message') return { ...item, content: parts.map(contentPart), status }
    if (item.type === 'function_call') return { ...item, arguments: this.toString(), status }
    if (item.type !== 'reasoning') return item
    const content = textsOf('reasoning')
    return { ...item, summary: textsOf('summary'), content: content.length > 0 ? content : undefined }
  }
}

function contentPart(part: SentPart): Part {
  const { kind, annotations, logprobs } = part
  if (kind === 'refusal') return { type: 'refusal', refusal: part.toString() }
  return {
    type: 'text',
    text: part.toString(),
    annotations: annotations.length > 0 ? annotations : undefined,
    logprobs: logprobs.length > 0 ? logprobs : undefined,
  }
}

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
