import { parseDataUrl } from '../common/data-url.ts'
import { FreeNames } from '../common/fitted-names.ts'
import type { FilePart, ImagePart, Part } from '../protocol/item.ts'
import type { JsonObject } from '../protocol/wire.ts'

// Encodes parts as content blocks. Data stays in base64 and is never decoded, because it may be megabytes.

/** Encodes a part; undefined if this dialect cannot express it. */
export function encodePart(part: Part, names: DocumentNames): JsonObject | undefined {
  if (part.type === 'text') return { text: part.text }
  if (part.type === 'refusal') return { text: part.refusal }
  if (part.type === 'image') return encodeImage(part)
  return part.type === 'file' ? encodeDocument(part, names) : undefined
}

/** Whether the text is blank, which providers reject. */
export const isBlank = ({ text }: JsonObject): boolean => typeof text === 'string' && text.trim() === ''

export const imageFormats: ReadonlyMap<string, string> = new Map([
  ['image/png', 'png'],
  ['image/jpeg', 'jpeg'],
  ['image/jpg', 'jpeg'],
  ['image/gif', 'gif'],
  ['image/webp', 'webp'],
])

export const documentFormats: ReadonlyMap<string, string> = new Map([
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
  const format = imageFormats.get(data?.type ?? '')
  return data?.isBase64 && format ? { image: { format, source: { bytes: url.slice(data.dataAt) } } } : undefined
}

function encodeDocument({ url, filename, citable, context }: FilePart, names: DocumentNames): JsonObject | undefined {
  const data = parseDataUrl(url)
  const format = documentFormats.get(data?.type ?? '')
  if (!data?.isBase64 || !format) return undefined
  const document = { format, name: names.unique(filename), source: { bytes: url.slice(data.dataAt) } }
  if (!names.citable) return { document }
  return { document: { ...document, ...(context !== undefined && { context }), ...(citable && { citations: { enabled: true } }) } }
}

export interface DocumentNames {
  /** Whether documents may have citations and context. */
  readonly citable: boolean
  /** Returns a document name that is unique within the request. The same files get the same names in every turn. */
  unique(filename: string | undefined): string
}

/** Creates document names. They may contain letters, digits, single spaces, hyphens, parentheses and square brackets. */
export function createDocumentNames(citable: boolean): DocumentNames {
  const names = new FreeNames()
  return {
    citable,
    unique(filename) {
      const plain = (filename ?? '')
        .slice(0, 500)
        .replace(/\.\w{1,5}$/, '')
        .replace(/[^a-zA-Z0-9\-()[\]]+/g, ' ')
        .trim()
        .slice(0, 150)
        .trim()
      const stem = plain === '' ? 'document' : plain
      return names.take(attempt => (attempt === 0 ? stem : `${stem} ${attempt + 1}`))
    },
  }
}
