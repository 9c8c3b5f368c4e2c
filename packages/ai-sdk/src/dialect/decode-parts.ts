import { anyText, nonEmptyText, objectValue, optional, refuse, required } from '@signalbox/dialects/common'
import { type JsonObject, type Part, remember } from '@signalbox/dialects/protocol'
import { base64Of, mediaTypeOf } from './media.ts'
import { cachePointOf } from './provider-options.ts'
import { dialect, ownOptions } from './wire.ts'

interface Place {
  readonly body: JsonObject
  readonly path: string
}

/** Text and file parts of a message. */
export const decodeParts = (parts: readonly Place[]): readonly Part[] => parts.map(decodePromptPart)

export function decodePromptPart(place: Place): Part {
  const { body, path } = place
  const type = required(place, 'type', anyText)
  const part =
    type === 'text'
      ? decodeTextPart(place)
      : type === 'file'
        ? decodeFile(place)
        : refuse('invalid_parameter_value', `\`${path}.type\` must be one of "text", "file".`, `${path}.type`)
  const cache = cachePointOf(body)
  return remember(cache && part.type !== 'refusal' && part.type !== 'native' ? { ...part, cache } : part, { dialect, body, path })
}

function decodeTextPart(place: Place): Part {
  const text = required(place, 'text', anyText)
  return ownOptions(place.body).refusal === true ? { type: 'refusal', refusal: text } : { type: 'text', text }
}

function decodeFile(place: Place): Part {
  const { path } = place
  const declared = required(place, 'mediaType', nonEmptyText)
  const filename = optional(place, 'filename', anyText)
  const source = fileContent(place)
  const mediaType = mediaTypeOf(declared, source.data)
  const [kind] = mediaType.split('/', 1)
  if (kind === 'audio') {
    if (source.data === undefined)
      return refuse('capability_mismatch', `\`${path}\` is audio at an address, which no provider takes: send its bytes.`, path)
    return { type: 'audio', data: source.data, format: audioFormat(mediaType) }
  }
  const url = source.url ?? `data:${mediaType};base64,${source.data}`
  return kind === 'image' ? { type: 'image', url } : { type: 'file', url, filename }
}

/** `audio/mpeg` → `mp3`. */
const audioFormat = (mediaType: string): string => {
  const subtype = mediaType.slice('audio/'.length).replace(/^x-/, '')
  return subtype === 'mpeg' ? 'mp3' : subtype === 'wave' ? 'wav' : subtype
}

/** A URL, or base64 data. */
type FileSource = { readonly url: string; readonly data?: undefined } | { readonly url?: undefined; readonly data: string }

function fileContent(place: Place): FileSource {
  const path = `${place.path}.data`
  const body = required(place, 'data', objectValue)
  const type = required({ body, path }, 'type', anyText)
  if (type === 'url') return { url: urlText(body, path) }
  if (type === 'text') return { data: base64Of(new TextEncoder().encode(required({ body, path }, 'text', anyText))) }
  if (type === 'data') {
    const data: unknown = body.data
    return { data: data instanceof Uint8Array ? base64Of(data) : required({ body, path }, 'data', nonEmptyText) }
  }
  if (type === 'reference')
    return refuse('capability_mismatch', `\`${path}\` refers to a file that one provider keeps: send its bytes or its address.`, path)
  return refuse('invalid_parameter_value', `\`${path}.type\` must be one of "data", "url", "text".`, `${path}.type`)
}

/** In process a URL is a `URL` object, over HTTP a string. */
function urlText(body: JsonObject, path: string): string {
  const url: unknown = body.url
  return url instanceof URL ? url.href : required({ body, path }, 'url', nonEmptyText)
}
