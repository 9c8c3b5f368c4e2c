import { parseDataUrl } from '../common/data-url.ts'
import { decodeText, fileAsText } from '../common/file-text.ts'
import type { FilePart, ImagePart, Part } from '../protocol/item.ts'
import { pathOf } from '../protocol/original.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { cacheControl, type EncodeContext, loseContent } from './encode-context.ts'
import { dialect, originalBody } from './wire.ts'

// Encodes parts as content blocks.

interface PartList {
  readonly parts: readonly Part[]
  /** The field of the client's request that contains them. */
  readonly path: string
  /** Whether images and files are allowed. */
  readonly allowsMedia: boolean
}

export const encodeParts = ({ parts, path, allowsMedia }: PartList, context: EncodeContext): readonly JsonObject[] =>
  parts.flatMap((part, at) => {
    const param = pathOf(part, `${path}[${at}]`)
    const original = originalBody(part)
    const block = original ?? encodePart(part, { param, allowsMedia }, context)
    return block ? [block] : []
  })

interface PartPlace {
  readonly param: string
  readonly allowsMedia: boolean
}

function encodePart(part: Part, { param, allowsMedia }: PartPlace, context: EncodeContext): JsonObject | undefined {
  if (part.type === 'text') return isBlank(part.text) ? undefined : { type: 'text', text: part.text, ...cacheControl(part.cache) }
  if (part.type === 'refusal') return isBlank(part.refusal) ? undefined : { type: 'text', text: part.refusal }
  if (part.type === 'native' && part.dialect === dialect) return part.body
  const encoded = allowsMedia && (part.type === 'image' || part.type === 'file') ? encodeMedia(part, context) : undefined
  if (!encoded) loseContent(context, param)
  return encoded
}

/** Whether the text is blank, which providers reject. */
const isBlank = (text: string): boolean => text.trim() === ''

function encodeMedia(part: ImagePart | FilePart, { quirks }: EncodeContext): JsonObject | undefined {
  if (part.type === 'file' && quirks.files === false) {
    const text = fileAsText(part)
    return text === undefined ? undefined : { type: 'text', text, ...cacheControl(part.cache) }
  }
  const source = sourceOf(part)
  if (!source) return undefined
  const kind = part.type === 'image' ? { type: 'image' } : documentFields(part)
  return { ...kind, source, ...cacheControl(part.cache) }
}

/** Accepted media types of images, with their standard spelling. */
export const imageTypes: ReadonlyMap<string, string> = new Map(
  ['jpeg', 'png', 'gif', 'webp', 'jpg'].map(kind => [`image/${kind}`, kind === 'jpg' ? 'image/jpeg' : `image/${kind}`]),
)

/** A file of any text type is sent as text. */
export const isTextType = (type: string): boolean => type === '' || type.startsWith('text/')

const documentFields = ({ filename, citable, context }: FilePart): JsonObject => ({
  type: 'document',
  ...(filename !== undefined && { title: filename }),
  ...(context !== undefined && { context }),
  ...(citable && { citations: { enabled: true } }),
})

function sourceOf({ type, url }: ImagePart | FilePart): JsonObject | undefined {
  if (!url.startsWith('data:')) return { type: 'url', url }
  return type === 'image' ? imageSource(url) : documentSource(url)
}

function imageSource(url: string): JsonObject | undefined {
  const data = parseDataUrl(url)
  const media_type = imageTypes.get(data?.type ?? '')
  return data?.isBase64 && media_type !== undefined ? { type: 'base64', media_type, data: url.slice(data.dataAt) } : undefined
}

function documentSource(url: string): JsonObject | undefined {
  const head = parseDataUrl(url)
  if (!head) return undefined
  const { type, isBase64, dataAt } = head
  if (type === 'application/pdf' && isBase64) return { type: 'base64', media_type: type, data: url.slice(dataAt) }
  const text = isTextType(type) ? decodeText(url.slice(dataAt), isBase64) : undefined
  return text === undefined ? undefined : { type: 'text', media_type: 'text/plain', data: text }
}
