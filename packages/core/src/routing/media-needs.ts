import { parseDataUrl } from '@signalbox/dialects/common'
import type { AudioPart, DialectName, FilePart, ImagePart, Item, MediaType, Native, Part, PartPlace } from '@signalbox/dialects/protocol'
import { originalOf, pathOf } from '@signalbox/dialects/protocol'

// Parts of a conversation that not every offer supports.

/** An image, a file or audio. */
export interface MediaNeed {
  readonly kind: 'image' | 'file' | 'audio'
  readonly form: 'bytes' | 'address'
  readonly place: PartPlace
  /** The type of the bytes. Absent if they are not in a readable `data:` URL. */
  readonly type?: MediaType
  /** The dialect of the caller. A provider with the same dialect gets the part unchanged. */
  readonly dialect?: DialectName
  /** Its path in the caller's request. */
  readonly param: string
}

/** An item or part that only one dialect can express. */
export interface NativeNeed {
  readonly dialect: DialectName
  /** Its path in the caller's request. */
  readonly param: string
}

export interface ContentNeeds {
  /** The first part of each combination of kind, form, place, type and dialect. */
  readonly media: readonly MediaNeed[]
  readonly natives: readonly NativeNeed[]
  /** Dialects of records in earlier responses. They are preferred; elsewhere a record is dropped with a warning. */
  readonly recordDialects: readonly DialectName[]
  /** Whether there is a file that is not text, whose tokens cannot be estimated from its bytes. */
  readonly documents: boolean
  /** Whether tools are added in mid-conversation. */
  readonly tools: boolean
}

const none: ContentNeeds = { media: [], natives: [], recordDialects: [], documents: false, tools: false }

const isTextOrRefusal = (part: Part): boolean => part.type === 'text' || part.type === 'refusal'

/** Whether every offer supports an item. Most conversations have only such items. */
function isPlain(item: Item): boolean {
  if (item.type === 'message') return item.content.every(isTextOrRefusal)
  if (item.type === 'function_call_output') return typeof item.output === 'string' || item.output.every(isTextOrRefusal)
  return item.type !== 'native'
}

export function contentNeedsOf(input: readonly Item[]): ContentNeeds {
  if (input.every(isPlain)) return none
  const media = new Map<string, MediaNeed>()
  const natives: NativeNeed[] = []
  const records = new Set<DialectName>()
  let documents = false
  let tools = false
  const addNative = (native: Native, path: string): void => {
    if (native.isRecord || native.text !== undefined) records.add(native.dialect)
    else natives.push(nativeNeed(native, path))
  }
  const look = (parts: readonly Part[], place: PartPlace, path: string): void => {
    for (const [at, part] of parts.entries()) {
      if (part.type === 'text' || part.type === 'refusal') continue
      if (part.type === 'native') addNative(part, `${path}[${at}]`)
      else addMedia(media, part, { place, path: `${path}[${at}]` })
      if (part.type === 'file' && !part.url.startsWith('data:text/')) documents = true
    }
  }
  for (const [at, item] of input.entries()) {
    if (item.type === 'native') {
      if (item.tools) tools = true
      else addNative(item, `input[${at}]`)
    } else if (item.type === 'message') look(item.content, placeOf(item.role), `input[${at}].content`)
    else if (item.type === 'function_call_output' && typeof item.output !== 'string') look(item.output, 'tool', `input[${at}].output`)
  }
  // Records alone say nothing in another dialect.
  const [record] = input.flatMap(recordsOf)
  if (record && input.every(item => recordsOf(item).length > 0)) natives.push(nativeNeed(record, 'input[0]'))
  if (media.size + natives.length + records.size === 0 && !tools) return none
  return { media: [...media.values()], natives, recordDialects: [...records], documents, tools }
}

/** The records of an item that is left out in another dialect, because it holds nothing else. */
function recordsOf(item: Item): readonly Native[] {
  const parts: readonly (Item | Part)[] = item.type === 'message' ? item.content : [item]
  const records = parts.filter((part): part is Native => part.type === 'native' && part.isRecord === true)
  return records.length === parts.length ? records : []
}

const nativeNeed = (native: Native, otherwise: string): NativeNeed => ({ dialect: native.dialect, param: pathOf(native, otherwise) })

const placeOf = (role: string): PartPlace => (role === 'user' || role === 'assistant' ? role : 'system')

function addMedia(
  media: Map<string, MediaNeed>,
  part: ImagePart | FilePart | AudioPart,
  { place, path }: { readonly place: PartPlace; readonly path: string },
): void {
  const original = originalOf(part)
  const dialect = original?.dialect
  const form = part.type === 'audio' || part.url.startsWith('data:') ? 'bytes' : 'address'
  const data = part.type === 'audio' || form === 'address' ? undefined : parseDataUrl(part.url)
  const key = `${part.type} ${form} ${place} ${dialect} ${data?.type} ${data?.isBase64}`
  if (media.has(key)) return
  const type = data && { type: data.type, isBase64: data.isBase64 }
  media.set(key, {
    kind: part.type,
    form,
    place,
    type,
    dialect,
    param: original?.path ?? path,
  })
}
