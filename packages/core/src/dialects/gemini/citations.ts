import { isObject, type Json, type JsonObject } from '../../protocol/wire.ts'
import { objects, stringOf } from '../json.ts'

// What an answer leans on → `url_citation` annotations. Places are counted in bytes of UTF-8 there, in characters here.

/** What a candidate told of its sources so far. */
export interface Sources {
  readonly chunks: readonly JsonObject[]
  readonly supports: readonly JsonObject[]
  /** Passages that stand elsewhere word for word. */
  readonly passages: readonly JsonObject[]
}

export const noSources: Sources = { chunks: [], supports: [], passages: [] }

/** Each list comes again with every chunk that adds to it. */
export function mergeSources(known: Sources, { groundingMetadata, citationMetadata }: JsonObject): Sources {
  if (!isObject(groundingMetadata) && !isObject(citationMetadata)) return known
  const { groundingChunks, groundingSupports } = isObject(groundingMetadata) ? groundingMetadata : {}
  const { citationSources, citations } = isObject(citationMetadata) ? citationMetadata : {}
  const latest = (told: Json | undefined, before: readonly JsonObject[]): readonly JsonObject[] =>
    objects(told).length > 0 ? objects(told) : before
  return {
    chunks: latest(groundingChunks, known.chunks),
    supports: latest(groundingSupports, known.supports),
    passages: latest(citationSources ?? citations, known.passages),
  }
}

/** More than any answer has; a bound for the products of hostile lists. */
const most = 1000

export function citationsOf(text: string, { chunks, supports, passages }: Sources): readonly JsonObject[] {
  if (chunks.length === 0 && passages.length === 0) return []
  const toIndex = characters(text)
  const sources = chunks.map(sourceOf)
  const cited: JsonObject[] = []
  const cite = (source: Source | undefined, start: Json | undefined, end: Json | undefined): void => {
    if (!source || cited.length >= most) return
    cited.push({ type: 'url_citation', ...source, start_index: toIndex(start, 0), end_index: toIndex(end, text.length) })
  }
  for (const { segment, groundingChunkIndices } of supports) {
    const { startIndex, endIndex } = isObject(segment) ? segment : {}
    for (const index of Array.isArray(groundingChunkIndices) ? groundingChunkIndices.slice(0, most) : [])
      cite(sources[Number(index)], startIndex, endIndex)
  }
  // Sources that support nothing in particular support it all.
  if (supports.length === 0) for (const source of sources) cite(source, undefined, undefined)
  for (const passage of passages) cite(sourceAt(passage), passage.startIndex, passage.endIndex)
  return cited
}

interface Source {
  readonly url: string
  readonly title: string
}

const kinds = ['web', 'retrievedContext', 'maps', 'image'] as const

function sourceOf(chunk: JsonObject): Source | undefined {
  const source = kinds.map(kind => chunk[kind]).find(isObject)
  return source && sourceAt(source)
}

function sourceAt(source: JsonObject): Source | undefined {
  const url = stringOf(source.uri) || stringOf(source.sourceUri)
  return url === '' ? undefined : { url, title: stringOf(source.title) || url }
}

/** Byte → character, in one walk over the text however many places are asked for. */
function characters(text: string): (byte: Json | undefined, otherwise: number) => number {
  const starts: number[] = []
  for (let at = 0; at < text.length; ) {
    const code = text.codePointAt(at) ?? 0
    const bytes = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
    for (let byte = 0; byte < bytes; byte++) starts.push(at)
    at += code > 0xffff ? 2 : 1
  }
  return (byte, otherwise) => (typeof byte === 'number' && byte >= 0 ? (starts[Math.floor(byte)] ?? text.length) : otherwise)
}
