import type { LanguageModelV4Citation, LanguageModelV4Source } from '@ai-sdk/provider'
import type { JsonObject, Native, Part } from '@signalbox/dialects/protocol'
import { metadataOf, type StreamPart } from './wire.ts'

// Encodes citations, files and custom parts.

/** Encodes the annotations of a text as sources, each once, and as citations of its passages. `before`: sources of the response so far. */
export function encodeCitations(
  annotations: readonly JsonObject[],
  before: number,
): { readonly sources: readonly LanguageModelV4Source[]; readonly citations: readonly LanguageModelV4Citation[] } {
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
        startIndex: typeof start_index === 'number' ? start_index : undefined,
        endIndex: typeof end_index === 'number' ? end_index : undefined,
        citedText: typeof cited_text === 'string' ? cited_text : undefined,
      },
    ]
  })
  return { sources: [...sources.values()], citations }
}

function citedSource(annotation: JsonObject, id: string): LanguageModelV4Source | undefined {
  const { url, title, document_title, filename, file_id } = annotation
  if (typeof url === 'string') return { type: 'source', sourceType: 'url', id, url, title: typeof title === 'string' ? title : undefined }
  const name = [filename, title, document_title, file_id].find(value => typeof value === 'string')
  if (typeof name !== 'string') return undefined
  return {
    type: 'source',
    sourceType: 'document',
    id,
    mediaType: 'text/plain',
    title: name,
    filename: typeof filename === 'string' ? filename : undefined,
  }
}

type AnyPart = Extract<StreamPart, { type: 'file' | 'custom' }>

/** Encodes a non-text part of a message. */
export function encodeFilePart(part: Exclude<Part, { type: 'text' | 'refusal' }>): AnyPart {
  if (part.type === 'native') return encodeNative(part)
  if (part.type === 'audio') return { type: 'file', mediaType: `audio/${part.format}`, data: { type: 'data', data: part.data } }
  return fileOf(part.url, part.type === 'image' ? 'image/png' : 'application/octet-stream')
}

function fileOf(url: string, usual: string): AnyPart {
  const [, mediaType = usual, data] = /^data:([^;,]*)(?:;[^,]*)?,(.*)$/s.exec(url) ?? []
  return { type: 'file', mediaType, data: data === undefined ? { type: 'url', url: new URL(url) } : { type: 'data', data } }
}

/** A generated image becomes a file. Any other item without its own type becomes a custom part, which can be sent back with the next turn. */
export function encodeNative({ dialect, body }: Native): AnyPart {
  const { type, result, output_format: format = 'png' } = body
  if (type === 'image_generation_call' && typeof result === 'string' && result !== '')
    return { type: 'file', mediaType: `image/${typeof format === 'string' ? format : 'png'}`, data: { type: 'data', data: result } }
  return { type: 'custom', kind: `gateway.${typeof type === 'string' ? type : 'item'}`, ...metadataOf({ item: { dialect, body } }) }
}
