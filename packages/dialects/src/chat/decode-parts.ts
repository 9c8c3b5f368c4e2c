import {
  anyText,
  arrayOf,
  missing,
  nonEmptyText,
  type ObjectAtPath,
  objectValue,
  optional,
  optionalFields,
  type Read,
  required,
  wrongType,
} from '../common/field-readers.ts'
import type { Part } from '../protocol/item.ts'
import { remember } from '../protocol/original.ts'
import type { CachePoint } from '../protocol/tool.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { dialect } from './wire.ts'

// Decodes the content of a client message: a text, or a list of parts.

/** Clients of Mistral may write the address of an image as a string (docs.mistral.ai, Vision), which only Mistral takes. */
export function withImageObjects(message: JsonObject): JsonObject {
  const { content } = message
  if (!Array.isArray(content) || !content.some(hasBareAddress)) return message
  return {
    ...message,
    content: (content as readonly Json[]).map(part => (hasBareAddress(part) ? { ...part, image_url: { url: part.image_url } } : part)),
  }
}

const hasBareAddress = (part: Json): part is JsonObject & { readonly image_url: string } =>
  isObject(part) && part.type === 'image_url' && typeof part.image_url === 'string'

export const decodeContent: Read<readonly Part[]> = (value, path) => {
  if (typeof value === 'string') return [{ type: 'text', text: value }]
  return Array.isArray(value) ? arrayOf(decodePart)(value, path) : wrongType(path, 'a string or an array of content parts', value)
}

const decodePart: Read<Part> = (value, path) => {
  const body = objectValue(value, path)
  const decode = decoders.get(required({ body, path }, 'type', anyText))
  const part: Part = decode?.(body, path) ?? { type: 'native', dialect, body }
  return remember(part, { dialect, body, path })
}

type DecodePart = (body: JsonObject, path: string) => Part | undefined

const decodeText: DecodePart = (body, path) => ({ type: 'text', text: required({ body, path }, 'text', anyText), cache: cacheOf(body) })

const decodeRefusal: DecodePart = (body, path) => ({ type: 'refusal', refusal: required({ body, path }, 'refusal', anyText) })

const decodeImage: DecodePart = (body, path) => {
  const image = inside(body, path, 'image_url')
  return { type: 'image', url: required(image, 'url', nonEmptyText), ...optionalFields(image, { detail: anyText }), cache: cacheOf(body) }
}

const decodeAudio: DecodePart = (body, path) => {
  const audio = inside(body, path, 'input_audio')
  return {
    type: 'audio',
    data: required(audio, 'data', nonEmptyText),
    format: required(audio, 'format', nonEmptyText),
    cache: cacheOf(body),
  }
}

/** Decodes an inline file. A file that the provider stores under an id cannot be expressed in other dialects. */
const decodeFile: DecodePart = (body, path) => {
  const file = inside(body, path, 'file')
  const data = optional(file, 'file_data', nonEmptyText)
  const filename = optional(file, 'filename', anyText)
  const kept = optional(file, 'file_id', nonEmptyText)
  if (data !== undefined) {
    return { type: 'file', url: asDataUrl(data, filename), filename, cache: cacheOf(body) }
  }
  return kept === undefined ? missing(`${file.path}.file_data`) : undefined
}

export const inside = (body: JsonObject, path: string, field: string): ObjectAtPath => ({
  body: required({ body, path }, field, objectValue),
  path: `${path}.${field}`,
})

/** Bare base64 is treated as PDF unless the file name says otherwise. */
const asDataUrl = (data: string, filename = ''): string =>
  data.startsWith('data:') ? data : `data:${/\.(txt|md)$/i.test(filename) ? 'text/plain' : 'application/pdf'};base64,${data}`

const decoders: ReadonlyMap<string, DecodePart> = new Map([
  ['text', decodeText],
  ['refusal', decodeRefusal],
  ['image_url', decodeImage],
  ['input_audio', decodeAudio],
  ['file', decodeFile],
])

/** Reads a cache breakpoint, which is set on the last cached element. Hosts use two names for it. */
export function cacheOf({ prompt_cache_breakpoint: mark, cache_control: control }: JsonObject): CachePoint | undefined {
  if (isObject(control) && control.type === 'ephemeral') return isTtl(control.ttl) ? { ttl: control.ttl } : {}
  return isObject(mark) || mark === true ? {} : undefined
}

const isTtl = (value: Json | undefined): value is '5m' | '1h' => value === '5m' || value === '1h'
