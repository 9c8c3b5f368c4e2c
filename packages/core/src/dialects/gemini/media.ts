import type { AudioPart, FilePart, ImagePart } from '../../protocol/item.ts'
import type { JsonObject } from '../../protocol/wire.ts'

// Images, files and sounds. Bytes go as they came, in base64, and are never decoded here: they may be large.

export function writeMedia(part: ImagePart | FilePart | AudioPart): JsonObject | undefined {
  if (part.type === 'audio') return { inlineData: { mimeType: `audio/${part.format}`, data: part.data } }
  const { url } = part
  if (url.startsWith('data:')) return writeBytes(url, part.type)
  return { fileData: { mimeType: typeOf(url) ?? usual[part.type], fileUri: url } }
}

/** What an address means that does not say it. */
const usual: Readonly<Record<'image' | 'file', string>> = { image: 'image/jpeg', file: 'application/pdf' }

/** Nothing where the bytes are not in base64. */
function writeBytes(url: string, kind: 'image' | 'file'): JsonObject | undefined {
  const comma = url.indexOf(',')
  const head = url.slice('data:'.length, comma)
  if (comma === -1 || !/;\s*base64\s*$/i.test(head)) return undefined
  const [mimeType = ''] = head.split(';')
  return { inlineData: { mimeType: mimeType.trim().toLowerCase() || usual[kind], data: url.slice(comma + 1) } }
}

const types: ReadonlyMap<string, string> = new Map([
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

function typeOf(url: string): string | undefined {
  const [, ending] = /\.(\w{1,5})(?:[?#]|$)/.exec(url.slice(-2000)) ?? []
  return ending === undefined ? undefined : types.get(ending.toLowerCase())
}
