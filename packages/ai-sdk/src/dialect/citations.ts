import type { LanguageModelV4Citation, LanguageModelV4Source } from '@ai-sdk/provider'
import type { JsonObject } from '@signalbox/dialects/protocol'

interface EncodedCitations {
  readonly sources: readonly LanguageModelV4Source[]
  readonly citations: readonly LanguageModelV4Citation[]
}

/** Encodes the annotations of a text as sources, each once, and as citations of its passages. `before`: sources of the response so far. */
export function encodeCitations(annotations: readonly JsonObject[] = [], before: number): EncodedCitations {
  const sources = new Map<string, LanguageModelV4Source>()
  const citations = annotations.flatMap((annotation): readonly LanguageModelV4Citation[] => {
    const source = citedSource(annotation, `source-${before + sources.size}`)
    if (!source) return []
    const key = source.sourceType === 'url' ? source.url : `${source.title} ${source.filename}`
    const known = sources.get(key) ?? source
    sources.set(key, known)
    const { start_index, end_index, cited_text } = annotation
    return [
      {
        source: known,
        ...(typeof start_index === 'number' && { startIndex: start_index }),
        ...(typeof end_index === 'number' && { endIndex: end_index }),
        ...(typeof cited_text === 'string' && { citedText: cited_text }),
      },
    ]
  })
  return { sources: [...sources.values()], citations }
}

function citedSource(annotation: JsonObject, id: string): LanguageModelV4Source | undefined {
  const { url, title, document_title, filename, file_id } = annotation
  if (typeof url === 'string') return { type: 'source', sourceType: 'url', id, url, ...(typeof title === 'string' && { title }) }
  const name = [filename, title, document_title, file_id].find(value => typeof value === 'string')
  if (typeof name !== 'string') return undefined
  return {
    type: 'source',
    sourceType: 'document',
    id,
    mediaType: 'text/plain',
    title: name,
    ...(typeof filename === 'string' && { filename }),
  }
}
