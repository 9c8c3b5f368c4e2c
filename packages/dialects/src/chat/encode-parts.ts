import { documentName } from '../common/document-name.ts'
import { fileAsText } from '../common/file-text.ts'
import type { Part } from '../protocol/item.ts'
import type { Quirks } from '../protocol/model.ts'
import type { CachePoint } from '../protocol/tool.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { dialect, originalBody } from './wire.ts'

// Encodes the parts of a message as content.

export const notInThisApi = 'is not supported by the API of this provider.'

/** Why a part cannot be sent, as the predicate of a sentence; undefined if it can. */
export function refusalReason(part: Part, { files, audio }: Quirks): string | undefined {
  if (part.type === 'native') return part.dialect === dialect ? undefined : notInThisApi
  if (part.type === 'audio') return audio === false ? 'is audio, which this provider does not support.' : undefined
  if (part.type !== 'file') return undefined
  if (files === false) return fileAsText(part) === undefined ? 'is a file, which this provider does not support.' : undefined
  return part.url.startsWith('data:') ? undefined : 'is the URL of a file; this provider only accepts base64 data.'
}

/** Whether a part that came in this dialect can be sent unchanged. */
export const goesAsItCame = (part: Part, quirks: Quirks): boolean =>
  refusalReason(part, quirks) === undefined && !(part.type === 'file' && quirks.files === false)

/** Encodes a part. One that came in this dialect is sent unchanged. */
export function encodePart(part: Part, quirks: Quirks): JsonObject {
  const body = (goesAsItCame(part, quirks) ? originalBody(part) : undefined) ?? encodeForeignPart(part, quirks)
  // OpenAI's cache points (openai-openapi, 2026-08-21).
  const hasBreakpoint = quirks.cacheBreakpoints === true && 'cache' in part && part.cache !== undefined
  return hasBreakpoint ? { ...body, prompt_cache_breakpoint: { mode: 'explicit' } } : body
}

function encodeForeignPart(part: Part, { files, cacheBreakpoints }: Quirks): JsonObject {
  if (part.type === 'file' && files === false) return { type: 'text', text: fileAsText(part) ?? '' }
  if (part.type === 'native') return part.body
  if (part.type === 'text') return cachedText(part.text, cacheBreakpoints ? undefined : part.cache)
  if (part.type === 'refusal') return { type: 'text', text: part.refusal }
  if (part.type === 'file') return { type: 'file', file: { file_data: part.url, filename: documentName(part) } }
  if (part.type === 'audio') return { type: 'input_audio', input_audio: { data: part.data, format: part.format } }
  const { url, detail } = part
  return { type: 'image_url', image_url: { url, detail: detail !== undefined && details.has(detail) ? detail : undefined } }
}

const details: ReadonlySet<string> = new Set(['auto', 'low', 'high'])

/** A text with its cache point. Only those that the host accepts are left (dialects/cache-points.ts). */
export const cachedText = (text: string, cache: CachePoint | undefined): JsonObject => ({
  type: 'text',
  text,
  cache_control: cache && { type: 'ephemeral', ttl: cache.ttl },
})

/** The last cache point of these parts. */
export const lastCachePoint = (parts: readonly Part[]): CachePoint | undefined =>
  parts.reduce<CachePoint | undefined>((last, part) => ('cache' in part && part.cache) || last, undefined)
