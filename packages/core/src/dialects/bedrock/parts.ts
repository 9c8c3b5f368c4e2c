import type { FilePart, ImagePart, Part } from '../../protocol/item.ts'
import type { JsonObject } from '../../protocol/wire.ts'

// Parts → content blocks. Bytes go as they came, in base64, and are never decoded here: they may be large.

export interface Documents {
  /** A name that no other document of the request has. */
  name(filename: string | undefined): string
}

/** The block, or nothing where this language has none for the part. */
export function writePart(part: Part, documents: Documents): JsonObject | undefined {
  if (part.type === 'text') return { text: part.text }
  if (part.type === 'refusal') return { text: part.refusal }
  if (part.type === 'image') return writeImage(part)
  return part.type === 'file' ? writeDocument(part, documents) : undefined
}

/** Text without a word is refused. */
export const isBlank = ({ text }: JsonObject): boolean => typeof text === 'string' && text.trim() === ''

const images: ReadonlyMap<string, string> = new Map([
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

function writeImage({ url }: ImagePart): JsonObject | undefined {
  const data = bytesIn(url)
  const format = images.get(data?.mediaType ?? '')
  return data && format ? { image: { format, source: { bytes: data.bytes } } } : undefined
}

function writeDocument({ url, filename }: FilePart, documents: Documents): JsonObject | undefined {
  const data = bytesIn(url)
  const format = documentFormats.get(data?.mediaType ?? '')
  return data && format ? { document: { format, name: documents.name(filename), source: { bytes: data.bytes } } } : undefined
}

/** Longer than any media type with its parameters. */
const longestHead = 300

/** Nothing where it is no data: address, or not in base64. */
function bytesIn(url: string): { readonly mediaType: string; readonly bytes: string } | undefined {
  const comma = url.slice(0, longestHead).indexOf(',')
  const [, mediaType = ''] = /^data:([\w.+-]+\/[\w.+-]+)(?:;[^;,]*)*;base64$/i.exec(url.slice(0, Math.max(comma, 0))) ?? []
  return mediaType === '' ? undefined : { mediaType: mediaType.toLowerCase(), bytes: url.slice(comma + 1) }
}

/** Names are made of letters, digits, single spaces, hyphens, round and square brackets. The same file has the same name in every turn. */
export function nameDocuments(): Documents {
  const taken = new Set<string>()
  return {
    name(filename) {
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
