import { objects, stringOf } from '../common/json.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'

// Turns the sources of a response into `url_citation` annotations. This dialect counts positions in UTF-8 bytes, annotations in characters.

/** The sources that a candidate has listed so far. */
export interface Sources {
  readonly chunks: readonly JsonObject[]
  readonly supports: readonly JsonObject[]
  /** Sources of verbatim quotes. */
  readonly quotes: readonly JsonObject[]
  /** Number of distinct search queries, which are charged per query. */
  readonly searches: number
  /** Whether map data was used, which is charged. */
  readonly hasPlaces: boolean
}

export const noSources: Sources = { chunks: [], supports: [], quotes: [], searches: 0, hasPlaces: false }

/** Merges sources. A chunk that extends a list repeats all of it. */
export function mergeSources(known: Sources, { groundingMetadata, citationMetadata }: JsonObject): Sources {
  if (!isObject(groundingMetadata) && !isObject(citationMetadata)) return known
  const { groundingChunks, groundingSupports, webSearchQueries, imageSearchQueries } = isObject(groundingMetadata) ? groundingMetadata : {}
  const { citationSources, citations } = isObject(citationMetadata) ? citationMetadata : {}
  const latest = (list: Json | undefined, before: readonly JsonObject[]): readonly JsonObject[] =>
    objects(list).length > 0 ? objects(list) : before
  return {
    chunks: latest(groundingChunks, known.chunks),
    supports: latest(groundingSupports, known.supports),
    quotes: latest(citationSources ?? citations, known.quotes),
    searches: Math.max(known.searches, queriesIn(webSearchQueries) + queriesIn(imageSearchQueries)),
    hasPlaces: known.hasPlaces || objects(groundingChunks).some(({ maps }) => isObject(maps)),
  }
}

/** Counts charged queries: empty ones are free, and duplicates are charged once. */
const queriesIn = (list: Json | undefined): number =>
  Array.isArray(list) ? new Set(list.filter(query => typeof query === 'string' && query !== '')).size : 0

export const hasSources = ({ chunks, quotes }: Sources): boolean => chunks.length > 0 || quotes.length > 0

/** Charged tools other than search. */
export const toolsBesideSearch = ({ hasPlaces }: Sources): readonly string[] => (hasPlaces ? googleMaps : noFields)
const googleMaps: readonly string[] = ['google_maps']

/** Search data of a candidate besides the sources, which no other dialect has a field for. */
export function unmodeledIn({ groundingMetadata: grounding, urlContextMetadata: context }: JsonObject): readonly string[] {
  if (!isObject(grounding) && !isObject(context)) return noFields
  const found = isObject(grounding) ? searchFields.filter(field => isFilled(grounding[field])) : noFields
  return isObject(context) && isFilled(context.urlMetadata) ? [...found, 'urlContextMetadata'] : found
}

const searchFields = [
  'searchEntryPoint',
  'webSearchQueries',
  'imageSearchQueries',
  'retrievalQueries',
  'googleMapsWidgetContextToken',
] as const
const noFields: readonly string[] = []
const isFilled = (value: Json | undefined): boolean =>
  typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : Boolean(value)

/** Bounds the product of hostile lists. */
const maxCitations = 1000

export function citationsOf(text: string, { chunks, supports, quotes }: Sources): readonly JsonObject[] {
  if (chunks.length === 0 && quotes.length === 0) return []
  const toIndex = byteToCharacter(text)
  const sources = chunks.map(sourceOfChunk)
  const citations: JsonObject[] = []
  const cite = (source: Source | undefined, start: Json | undefined, end: Json | undefined): void => {
    if (!source || citations.length >= maxCitations) return
    citations.push({ type: 'url_citation', ...source, start_index: toIndex(start, 0), end_index: toIndex(end, text.length) })
  }
  for (const { segment, groundingChunkIndices } of supports) {
    const { startIndex, endIndex } = isObject(segment) ? segment : {}
    for (const index of Array.isArray(groundingChunkIndices) ? groundingChunkIndices.slice(0, maxCitations) : [])
      if (typeof index === 'number') cite(sources[index], startIndex, endIndex)
  }
  // Without supports, every source applies to the whole text.
  if (supports.length === 0) for (const source of sources) cite(source, undefined, undefined)
  for (const quote of quotes) cite(readSource(quote), quote.startIndex, quote.endIndex)
  return citations
}

interface Source {
  readonly url: string
  readonly title: string
}

const chunkKinds = ['web', 'retrievedContext', 'maps', 'image'] as const

function sourceOfChunk(chunk: JsonObject): Source | undefined {
  const source = chunkKinds.map(kind => chunk[kind]).find(isObject)
  return source && readSource(source)
}

function readSource(source: JsonObject): Source | undefined {
  const url = stringOf(source.uri) || stringOf(source.sourceUri)
  return url === '' ? undefined : { url, title: stringOf(source.title) || url }
}

/** Maps byte positions to character positions, walking the text once for all of them. */
function byteToCharacter(text: string): (byte: Json | undefined, fallback: number) => number {
  const starts: number[] = []
  for (let at = 0; at < text.length; ) {
    const code = text.codePointAt(at) ?? 0
    const bytes = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
    for (let byte = 0; byte < bytes; byte++) starts.push(at)
    at += code > 0xffff ? 2 : 1
  }
  return (byte, fallback) => (typeof byte === 'number' && byte >= 0 ? (starts[Math.floor(byte)] ?? text.length) : fallback)
}
