import type { FilePart, ImagePart, Part } from '../../protocol/item.ts'
import type { JsonObject } from '../../protocol/wire.ts'

// Parts → content blocks. Bytes stay in base64 and are never decoded: they may be megabytes.

/** Undefined for a part that this dialect cannot express. */
export function encodePart(part: Part, names: DocumentNames): JsonObject | undefined {
  if (part.type === 'text') return { text: part.text }
  if (part.type === 'refusal') return { text: part.refusal }
  if (part.type === 'image') return encodeImage(part)
  return part.type === 'file' ? encodeDocument(part, names) : undefined
}

/** A blank text is refused by providers. */
export const isBlank = ({ text }: JsonObject): boolean => typeof text === 'string' && text.trim() === ''

const imageFormats: ReadonlyMap<string, string> = new Map([
  ['image/png', 'png'],
  ['image/jpeg', 'jpeg'],
  ['image/jpg', 'jpeg'],
  ['image/gif', 'gif'],
  ['image/webp', 'webp'],
])

const documentFormats: ReadonlyMap<string, string> = new Map([
  ['application/pdf', 'pdf'],
  ['text/plain', 'txt'],
  ['text/markdown', 'md'],
  ['text/csv', 'csv'],
  ['text/html', 'html'],
  ['application/msword', 'doc'],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'docx'],
  ['application/vnd.ms-excel', 'xls'],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xlsx'],
])

function encodeImage({ url }: ImagePart): JsonObject | undefined {
  const data = parseDataUrl(url)
  const format = imageFormats.get(data?.mediaType ?? '')
  return data && format ? { image: { format, source: { bytes: data.base64 } } } : undefined
}

function encodeDocument({ url, filename }: FilePart, names: DocumentNames): JsonObject | undefined {
  const data = parseDataUrl(url)
  const format = documentFormats.get(data?.mediaType ?? '')
  return data && format ? { document: { format, name: names.unique(filename), source: { bytes: data.base64 } } } : undefined
}

/** Longer than any media type with its parameters. */
const maxPrefix = 300

/** Undefined for any other URL than a data: URL in base64. */
function parseDataUrl(url: string): { readonly mediaType: string; readonly base64: string } | undefined {
  const comma = url.slice(0, maxPrefix).indexOf(',')
  const [, mediaType = ''] = /^data:([\w.+-]+\/[\w.+-]+)(?:;[^;,]*)*;base64$/i.exec(url.slice(0, Math.max(comma, 0))) ?? []
  return mediaType === '' ? undefined : { mediaType: mediaType.toLowerCase(), base64: url.slice(comma + 1) }
}

export interface DocumentNames {
  /** A name that no other document of the request has. The same files get the same names in every turn. */
  unique(filename: string | undefined): string
}

/** Names may hold letters, digits, single spaces, hyphens, parentheses and square brackets. */
export function createDocumentNames(): DocumentNames {
  const taken = new Set<string>()
  return {
    unique(filename) {
      const plain = (filename ?? '')
        .slice(0, 500)
        .replace(/\.\w{1,5}$/, '')
        .replace(/[^a-zA-Z0-9\-()[\]]+/g, ' ')
        .trim()
        .slice(0, 150)
        .trim()
      const stem = plain === '' ? 'document' : plain
      let name = stem
      for (let number = 2; taken.has(name); number += 1) name = `${stem} ${number}`
      taken.add(name)
      return name
    },
  }
}
