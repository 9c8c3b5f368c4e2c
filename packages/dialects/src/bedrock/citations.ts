import { objects, stringOf } from '../common/json.ts'
import { remember } from '../protocol/original.ts'
import { isObject, type Json, type JsonObject, own } from '../protocol/wire.ts'
import { dialect } from './wire.ts'

// Citations of this API are those of Claude's own: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_CitationLocation.html.
// An annotation of a place in a document has the names of the Messages API, which describes it in most detail.

type LocationReader = (location: JsonObject) => JsonObject

const counted = (value: Json | undefined): number => (typeof value === 'number' && Number.isSafeInteger(value) ? value : 0)

const locations: ReadonlyMap<string, LocationReader> = new Map<string, LocationReader>([
  ['documentChar', ({ start, end }) => ({ type: 'char_location', start_char_index: counted(start), end_char_index: counted(end) })],
  ['documentPage', ({ start, end }) => ({ type: 'page_location', start_page_number: counted(start), end_page_number: counted(end) })],
  [
    'documentChunk',
    ({ start, end }) => ({ type: 'content_block_location', start_block_index: counted(start), end_block_index: counted(end) }),
  ],
])

/** The annotation of a citation. `length`: that of the cited text. Undefined for a place that is not known here. */
export function annotationOf(citation: JsonObject, length: number): JsonObject | undefined {
  const { title, location, sourceContent } = citation
  if (!isObject(location)) return undefined
  const original = { dialect, body: citation }
  const url = isObject(location.web) ? stringOf(location.web.url) : ''
  if (url !== '') {
    return remember<JsonObject>({ type: 'url_citation', url, title: stringOf(title) || url, start_index: 0, end_index: length }, original)
  }
  for (const [kind, read] of locations) {
    const place = own(location, kind)
    if (!isObject(place)) continue
    const cited_text = objects(sourceContent)
      .map(({ text }) => stringOf(text))
      .join('')
    const document = { document_index: counted(place.documentIndex), document_title: stringOf(title) || null, file_id: null }
    return remember<JsonObject>({ ...read(place), cited_text, ...document }, original)
  }
  return undefined
}
