import { objects, stringOf } from '../common/json.ts'
import { remember } from '../protocol/original.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { dialect } from './wire.ts'

// Turns sources that a host lists beside the message into `url_citation` annotations: `search_results`, or `citations` as a list of URLs.

/** Response fields with content beside the message that is not decoded. */
export const contentBeside = ['related_questions', 'images', 'videos'] as const

interface Source {
  readonly url: string
  readonly title: string
  readonly body: JsonObject
}

const maxSources = 1000
const maxCitations = 1000

export const namesSources = ({ citations, search_results }: JsonObject): boolean =>
  entriesIn(citations).length > 0 || entriesIn(search_results).length > 0

/** Creates the citations. Each `[n]` in the text cites source n; a source without a mention is cited for the whole text. */
export function citationsOf(text: string, body: JsonObject): readonly JsonObject[] {
  const { citations, search_results } = body
  const titles = new Map(objects(search_results).map(({ url, title }) => [stringOf(url), stringOf(title)]))
  const urls = entriesIn(citations).length > 0 ? entriesIn(citations).map(urlOf) : objects(search_results).map(urlOf)
  const sources = urls.slice(0, maxSources).map((url): Source => ({ url, title: titles.get(url) || url, body }))
  const found: JsonObject[] = []
  const cited = new Set<string>()
  for (const mention of text.matchAll(/\[(\d{1,4})\]/g)) {
    const source = sources[Number(mention[1]) - 1]
    if (!source || source.url === '' || found.length >= maxCitations) continue
    cited.add(source.url)
    found.push(citation(source, mention.index, mention.index + mention[0].length))
  }
  for (const source of sources) {
    if (source.url === '' || cited.has(source.url)) continue
    cited.add(source.url)
    found.push(citation(source, 0, text.length))
  }
  return found
}

/** The annotation's original is the list it was made from, so clients of this dialect receive that list. */
const citation = ({ url, title, body }: Source, start_index: number, end_index: number): JsonObject =>
  remember<JsonObject>({ type: 'url_citation', url, title, start_index, end_index }, { dialect, body })

const entriesIn = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : [])
const urlOf = (entry: Json): string => (isObject(entry) ? stringOf(entry.url) : stringOf(entry))
