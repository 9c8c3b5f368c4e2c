import type { CachePoint, Part } from '../../protocol/item.ts'
import { remember } from '../../protocol/original.ts'
import { isObject, type Json, type JsonObject } from '../../protocol/wire.ts'
import { filled, object, oneOf, optional, type Read, required, text } from '../field-readers.ts'
import { dialect } from './wire.ts'

// Blocks that are parts of what somebody says: text, images, documents.

export const readPart: Read<Part> = (value, path) => {
  const body = object(value, path)
  const reader = readers.get(required({ body, path }, 'type', text))
  return remember<Part>(reader?.(body, path) ?? { type: 'native', dialect, body }, { dialect, body, path })
}

/** Everything up to this block may be cached. */
export function cacheOf(body: JsonObject, path: string): { readonly cache?: CachePoint } {
  const mark = optional({ body, path }, 'cache_control', object)
  if (!mark) return {}
  const ttl = optional({ body: mark, path: `${path}.cache_control` }, 'ttl', oneOf('5m', '1h'))
  return { cache: ttl === undefined ? {} : { ttl } }
}

type ReadBlock = (body: JsonObject, path: string) => Part | undefined

const readText: ReadBlock = (body, path) => ({ type: 'text', text: required({ body, path }, 'text', text), ...cacheOf(body, path) })

const readImage: ReadBlock = (body, path) => {
  const url = addressOf(body, path, imageSources)
  return url === undefined ? undefined : { type: 'image', url, ...cacheOf(body, path) }
}

const readDocument: ReadBlock = (body, path) => {
  const url = addressOf(body, path, documentSources)
  if (url === undefined) return undefined
  const filename = optional({ body, path }, 'title', text)
  return { type: 'file', url, ...(filename && { filename }), ...cacheOf(body, path) }
}

const readers: ReadonlyMap<string, ReadBlock> = new Map([
  ['text', readText],
  ['image', readImage],
  ['document', readDocument],
])

export const isPart = (type: string): boolean => readers.has(type)

type Source = (place: { readonly body: JsonObject; readonly path: string }) => string

const imageSources: ReadonlyMap<string, Source> = new Map<string, Source>([
  ['base64', place => `data:${required(place, 'media_type', filled)};base64,${required(place, 'data', filled)}`],
  ['url', place => required(place, 'url', filled)],
])

const documentSources: ReadonlyMap<string, Source> = new Map<string, Source>([
  ...imageSources,
  ['text', place => `data:text/plain;base64,${toBase64(required(place, 'data', text))}`],
])

/** Nothing where its maker alone knows the source: a file kept there, content in blocks. */
function addressOf(body: JsonObject, path: string, sources: ReadonlyMap<string, Source>): string | undefined {
  const place = { body: required({ body, path }, 'source', object), path: `${path}.source` }
  return sources.get(required(place, 'type', text))?.(place)
}

/** As many characters as a call takes arguments everywhere. */
const stride = 0x2000

function toBase64(text: string): string {
  const bytes = new TextEncoder().encode(text)
  let binary = ''
  for (let at = 0; at < bytes.length; at += stride) binary += String.fromCharCode(...bytes.subarray(at, at + stride))
  return btoa(binary)
}

/** A link of another provider that we told as a citation (snapshot.ts). It lacks what its maker puts in, who would refuse it. */
const isMadeUp = (citation: Json): boolean =>
  isObject(citation) && citation.type === 'web_search_result_location' && citation.encrypted_index === ''

/** The block without citations of our making, so that a conversation can be sent to whoever comes next. */
export function withoutMadeUp(block: JsonObject): JsonObject {
  if (!Array.isArray(block.citations)) return block
  const made: readonly Json[] = block.citations
  const genuine = made.filter(citation => !isMadeUp(citation))
  if (genuine.length === made.length) return block
  const { citations, ...rest } = block
  return genuine.length === 0 ? rest : { ...rest, citations: genuine }
}
