import type { FilePart } from '../protocol/item.ts'
import { fromBase64 } from './base64.ts'
import { parseDataUrl } from './data-url.ts'

/** Decodes data that may be in base64; undefined if it is malformed. */
export function decodeText(data: string, isBase64: boolean): string | undefined {
  try {
    if (!isBase64) return decodeURIComponent(data)
    const bytes = fromBase64(data)
    return bytes && new TextDecoder().decode(bytes)
  } catch {
    return undefined
  }
}

/** A text file as text, for a provider that accepts no files; undefined for other files. */
export function fileAsText({ url, filename }: FilePart): string | undefined {
  const data = parseDataUrl(url)
  const text = data?.type.startsWith('text/') ? decodeText(url.slice(data.dataAt), data.isBase64) : undefined
  return text === undefined ? undefined : `${filename ?? 'File'}:\n\n${text}`
}
