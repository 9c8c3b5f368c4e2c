import { documentName } from '../common/document-name.ts'
import { fileAsText } from '../common/file-text.ts'
import type { AudioPart, FilePart, ImagePart, Part } from '../protocol/item.ts'
import type { Quirks } from '../protocol/model.ts'
import type { CachePoint } from '../protocol/tool.ts'
import type { JsonObject } from '../protocol/wire.ts'
import { dialect, originalBody } from './wire.ts'

// Encodes the parts of a message as content.

/** Called for each part that cannot be sent, with the predicate of the warning's sentence. */
export type ReportLoss = (part: number, reason: string) => void

const elsewhere = 'is not supported by the API of this provider.'

/** The texts of parts, for assistant, system and tool messages, which may contain only text. */
export const textsOf = (parts: readonly Part[], reportLoss: ReportLoss): readonly string[] =>
  parts.flatMap((part, at) => {
    if (part.type === 'text') return [part.text]
    if (part.type === 'refusal') return [part.refusal]
    reportLoss(at, elsewhere)
    return []
  })

/** Encodes parts as content. Parts that came in this dialect are sent unchanged. */
export const encodeParts = (parts: readonly Part[], quirks: Quirks, reportLoss: ReportLoss): readonly JsonObject[] =>
  parts.flatMap((part, at): readonly JsonObject[] => {
    const reason = refusalReason(part, quirks)
    if (reason === undefined) return [encodePart(part, quirks)]
    reportLoss(at, reason)
    return []
  })

/** Why a part cannot be sent; undefined if it can. */
function refusalReason(part: Part, { files, audio }: Quirks): string | undefined {
  if (part.type === 'native') return part.dialect === dialect ? undefined : elsewhere
  if (part.type === 'audio') return audio === false ? 'is audio, which this provider does not support.' : undefined
  if (part.type !== 'file') return undefined
  if (files === false) return fileAsText(part) === undefined ? 'is a file, which this provider does not support.' : undefined
  return part.url.startsWith('data:') ? undefined : 'is the URL of a file; this provider only accepts base64 data.'
}

/** Whether a part that came in this dialect can be sent unchanged. */
export const goesAsItCame = (part: Part, quirks: Quirks): boolean =>
  refusalReason(part, quirks) === undefined && !(part.type === 'file' && quirks.files === false)

/** Whether a cache point of the part is sent, as OpenAI's `prompt_cache_breakpoint` (openai-openapi, 2026-08-21). */
const hasBreakpoint = (part: Part, { cacheBreakpoints }: Quirks): boolean =>
  cacheBreakpoints === true && 'cache' in part && part.cache !== undefined

function encodePart(part: Part, quirks: Quirks): JsonObject {
  const body = (goesAsItCame(part, quirks) ? originalBody(part) : undefined) ?? encodeForeignPart(part, quirks)
  return hasBreakpoint(part, quirks) ? { ...body, prompt_cache_breakpoint: { mode: 'explicit' } } : body
}

function encodeForeignPart(part: Part, { files, cacheBreakpoints }: Quirks): JsonObject {
  if (part.type === 'file' && files === false) return { type: 'text', text: fileAsText(part) ?? '' }
  if (part.type === 'native') return part.body
  if (part.type === 'text') return cachedText(part.text, cacheBreakpoints ? undefined : part.cache)
  if (part.type === 'refusal') return { type: 'text', text: part.refusal }
  if (part.type === 'image') return encodeImage(part)
  return part.type === 'file' ? encodeFile(part) : encodeAudio(part)
}

/** A text with its cache point. Only those that the host accepts are left (dialects/cache-points.ts). */
export const cachedText = (text: string, cache: CachePoint | undefined): JsonObject => ({
  type: 'text',
  text,
  ...(cache && { cache_control: { type: 'ephemeral', ...(cache.ttl && { ttl: cache.ttl }) } }),
})

/** The last cache point of these parts. */
export const lastCachePoint = (parts: readonly Part[]): CachePoint | undefined =>
  parts.reduce<CachePoint | undefined>((last, part) => ('cache' in part && part.cache) || last, undefined)

const details: ReadonlySet<string> = new Set(['auto', 'low', 'high'])

const encodeImage = ({ url, detail }: ImagePart): JsonObject => ({
  type: 'image_url',
  image_url: { url, ...(detail !== undefined && details.has(detail) && { detail }) },
})

const encodeFile = (part: FilePart): JsonObject => ({ type: 'file', file: { file_data: part.url, filename: documentName(part) } })

const encodeAudio = ({ data, format }: AudioPart): JsonObject => ({ type: 'input_audio', input_audio: { data, format } })
