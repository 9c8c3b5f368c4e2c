import type { FilePart, ImagePart, Part } from '../../protocol/item.ts'
import { pathOf } from '../../protocol/original.ts'
import type { JsonObject } from '../../protocol/wire.ts'
import { dialect, originalBody } from './wire.ts'
import { lose, mark, marked, type Writing } from './encode-context.ts'

// Parts → blocks.

/** A list of parts, and what the caller calls it. */
export interface Parts {
  readonly parts: readonly Part[]
  readonly path: string
  /** Images and files may stand there. */
  readonly media: boolean
}

export const writeParts = ({ parts, path, media }: Parts, writing: Writing): readonly JsonObject[] =>
  parts.flatMap((part, at) => {
    const param = pathOf(part, `${path}[${at}]`)
    const known = originalBody(part)
    const block = known ? marked(known, param, writing) : writePart(part, { param, media }, writing)
    return block ? [block] : []
  })

interface Place {
  readonly param: string
  readonly media: boolean
}

function writePart(part: Part, { param, media }: Place, writing: Writing): JsonObject | undefined {
  if (part.type === 'text') return isBlank(part.text) ? undefined : { type: 'text', text: part.text, ...mark(part.cache, param, writing) }
  if (part.type === 'refusal') return isBlank(part.refusal) ? undefined : { type: 'text', text: part.refusal }
  if (part.type === 'native' && part.dialect === dialect) return marked(part.body, param, writing)
  const written = media && (part.type === 'image' || part.type === 'file') ? writeMedia(part, param, writing) : undefined
  if (!written) lose(writing, param)
  return written
}

/** A text without a word is refused there. */
const isBlank = (text: string): boolean => text.trim() === ''

function writeMedia(part: ImagePart | FilePart, param: string, writing: Writing): JsonObject | undefined {
  if (part.type === 'file' && writing.quirks.files === false) return undefined
  const source = sourceOf(part)
  if (!source) return undefined
  const kind =
    part.type === 'image' ? { type: 'image' } : { type: 'document', ...(part.filename !== undefined && { title: part.filename }) }
  return { ...kind, source, ...mark(part.cache, param, writing) }
}

function sourceOf({ type, url }: ImagePart | FilePart): JsonObject | undefined {
  if (!url.startsWith('data:')) return { type: 'url', url }
  return type === 'image' ? imageSource(url) : fileSource(url)
}

const images: ReadonlyMap<string, string> = new Map(
  ['jpeg', 'png', 'gif', 'webp', 'jpg'].map(kind => [`image/${kind}`, kind === 'jpg' ? 'image/jpeg' : `image/${kind}`]),
)

function imageSource(url: string): JsonObject | undefined {
  const { type, isBase64, data } = readDataUrl(url)
  const media_type = images.get(type)
  return media_type !== undefined && isBase64 ? { type: 'base64', media_type, data } : undefined
}

function fileSource(url: string): JsonObject | undefined {
  const { type, isBase64, data } = readDataUrl(url)
  if (type === 'application/pdf' && isBase64) return { type: 'base64', media_type: type, data }
  const text = /^(text\/|$)/.test(type) && url.includes(',') ? readText(data, isBase64) : undefined
  return text === undefined ? undefined : { type: 'text', media_type: 'text/plain', data: text }
}

interface DataUrl {
  /** In lower case, without its parameters. */
  readonly type: string
  readonly isBase64: boolean
  /** As it stands there: it may be megabytes. */
  readonly data: string
}

function readDataUrl(url: string): DataUrl {
  const comma = url.indexOf(',')
  const [type = '', ...parameters] = url.slice('data:'.length, Math.max(comma, 0)).toLowerCase().split(';')
  return { type, isBase64: parameters.at(-1) === 'base64', data: url.slice(comma + 1) }
}

/** Nothing where it is not what it says it is. */
function readText(data: string, isBase64: boolean): string | undefined {
  try {
    if (!isBase64) return decodeURIComponent(data)
    return new TextDecoder().decode(Uint8Array.from(atob(data), character => character.charCodeAt(0)))
  } catch {
    return undefined
  }
}
