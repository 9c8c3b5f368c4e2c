import { toBase64 } from '../common/base64.ts'
import {
  anyText,
  literalOf,
  nonEmptyText,
  type ObjectAtPath,
  objectValue,
  optional,
  optionalFields,
  type Read,
  required,
} from '../common/field-readers.ts'
import { stringOf } from '../common/json.ts'
import type { Part } from '../protocol/item.ts'
import { remember } from '../protocol/original.ts'
import type { CachePoint } from '../protocol/tool.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { dialect } from './wire.ts'

// Decodes content blocks into parts: text, images, documents.

export const readPart: Read<Part> = (value, path) => {
  const body = objectValue(value, path)
  const type = required({ body, path }, 'type', anyText)
  const part = partReaders.get(type)?.(body, path) ?? { type: 'native', dialect, body, text: textBlocks.get(type)?.(body) }
  return remember<Part>(part, { dialect, body, path })
}

type TextOfBlock = (block: JsonObject) => string | undefined

/** Blocks of this dialect that hold nothing but text. Other dialects get the text in their place; their citations are lost. */
const textBlocks: ReadonlyMap<string, TextOfBlock> = new Map<string, TextOfBlock>([
  // The definition of the tool is in `tools`. Claude Code sends it in results of its ToolSearch (pleaseai/shunt#43).
  ['tool_reference', ({ tool_name }) => `Found the tool ${stringOf(tool_name)}, which can be called now.`],
  ['search_result', ({ title, source, content }) => joined([stringOf(title), `Source: ${stringOf(source)}`, contentText(content)])],
  [
    'document',
    ({ title, context, source }) =>
      isObject(source) && source.type === 'content' ? joined([stringOf(title), stringOf(context), contentText(source.content)]) : undefined,
  ],
])

/** Undefined if one of the texts is. */
const joined = (texts: readonly (string | undefined)[]): string | undefined =>
  texts.includes(undefined) ? undefined : texts.filter(text => text !== '').join('\n\n')

function contentText(content: Json | undefined): string | undefined {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  const entries: readonly Json[] = content
  return joined(entries.map(entry => (isObject(entry) && entry.type === 'text' ? stringOf(entry.text) : undefined)))
}

/** Reads `cache_control`: everything up to and including this block may be cached. */
export function cachePointOf(body: JsonObject, path: string): CachePoint | undefined {
  const control = optional({ body, path }, 'cache_control', objectValue)
  return control && optionalFields({ body: control, path: `${path}.cache_control` }, { ttl: literalOf('5m', '1h') })
}

type PartReader = (body: JsonObject, path: string) => Part | undefined

const readTextPart: PartReader = (body, path) => ({
  type: 'text',
  text: required({ body, path }, 'text', anyText),
  cache: cachePointOf(body, path),
})

const readImage: PartReader = (body, path) => {
  const url = readSource(body, path, imageSources)
  const cache = cachePointOf(body, path)
  return url === undefined ? undefined : { type: 'image', url, cache }
}

const readDocument: PartReader = (body, path) => {
  const url = readSource(body, path, documentSources)
  const filename = optional({ body, path }, 'title', anyText)
  const context = optional({ body, path }, 'context', anyText)
  const citable = isObject(body.citations) && body.citations.enabled === true
  const cache = cachePointOf(body, path)
  if (url === undefined) return undefined
  return { type: 'file', url, filename: filename || undefined, citable: citable || undefined, context: context || undefined, cache }
}

const partReaders: ReadonlyMap<string, PartReader> = new Map([
  ['text', readTextPart],
  ['image', readImage],
  ['document', readDocument],
])

export const isPartType = (type: string): boolean => partReaders.has(type)

/** Turns a `source` object into a URL. */
type SourceReader = (place: ObjectAtPath) => string

const imageSources: ReadonlyMap<string, SourceReader> = new Map<string, SourceReader>([
  ['base64', place => `data:${required(place, 'media_type', nonEmptyText)};base64,${required(place, 'data', nonEmptyText)}`],
  ['url', place => required(place, 'url', nonEmptyText)],
])

const documentSources: ReadonlyMap<string, SourceReader> = new Map<string, SourceReader>([
  ...imageSources,
  ['text', place => `data:text/plain;base64,${toBase64(new TextEncoder().encode(required(place, 'data', anyText)))}`],
])

/** The URL of a source; undefined if only providers of this dialect can read it: an uploaded file, nested blocks. */
function readSource(body: JsonObject, path: string, sources: ReadonlyMap<string, SourceReader>): string | undefined {
  const place = { body: required({ body, path }, 'source', objectValue), path: `${path}.source` }
  return sources.get(required(place, 'type', anyText))?.(place)
}

/** Whether encode-response.ts made the citation from another provider's link. It lacks the proof that providers require. */
const isInvented = (citation: Json): boolean =>
  isObject(citation) && citation.type === 'web_search_result_location' && citation.encrypted_index === ''

/** The block without citations that the gateway made, so that any provider accepts it. */
export function withoutInventedCitations(block: JsonObject): JsonObject {
  if (!Array.isArray(block.citations)) return block
  const citations: readonly Json[] = block.citations
  const genuine = citations.filter(citation => !isInvented(citation))
  if (genuine.length === citations.length) return block
  const { citations: _, ...rest } = block
  return genuine.length === 0 ? rest : { ...rest, citations: genuine }
}
