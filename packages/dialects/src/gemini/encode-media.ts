import { parseDataUrl } from '../common/data-url.ts'
import type { AudioPart, FilePart, ImagePart } from '../protocol/item.ts'
import type { JsonObject } from '../protocol/wire.ts'

// Encodes images, files and audio. Data stays in base64 and is never decoded, because it may be megabytes.

export function encodeMediaPart(part: ImagePart | FilePart | AudioPart): JsonObject | undefined {
  if (part.type === 'audio') return { inlineData: { mimeType: `audio/${part.format}`, data: part.data } }
  const { url } = part
  if (url.startsWith('data:')) return encodeDataUrl(url, part.type)
  return { fileData: { mimeType: typeByExtension(url) ?? defaultTypes[part.type], fileUri: url } }
}

/** Media types for URLs that do not state one. */
const defaultTypes: Readonly<Record<'image' | 'file', string>> = { image: 'image/jpeg', file: 'application/pdf' }

/** Encodes an inline file; undefined if it is not base64. */
function encodeDataUrl(url: string, kind: 'image' | 'file'): JsonObject | undefined {
  const data = parseDataUrl(url)
  return data?.isBase64 ? { inlineData: { mimeType: data.type || defaultTypes[kind], data: url.slice(data.dataAt) } } : undefined
}

const typesByExtension: ReadonlyMap<string, string> = new Map([
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['png', 'image/png'],
  ['webp', 'image/webp'],
  ['heic', 'image/heic'],
  ['heif', 'image/heif'],
  ['gif', 'image/gif'],
  ['pdf', 'application/pdf'],
  ['txt', 'text/plain'],
  ['md', 'text/markdown'],
  ['csv', 'text/csv'],
  ['html', 'text/html'],
  ['json', 'application/json'],
])

function typeByExtension(url: string): string | undefined {
  const [, extension] = /\.(\w{1,5})(?:[?#]|$)/.exec(url.slice(-2000)) ?? []
  return extension === undefined ? undefined : typesByExtension.get(extension.toLowerCase())
}
