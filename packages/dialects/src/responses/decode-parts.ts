import {
  anyText,
  arrayOf,
  missing,
  nonEmptyText,
  objectValue,
  optional,
  optionalFields,
  type Read,
  required,
  wrongType,
} from '../common/field-readers.ts'
import { objects } from '../common/json.ts'
import type { Part } from '../protocol/item.ts'
import { remember } from '../protocol/original.ts'
import type { CachePoint } from '../protocol/tool.ts'
import { isObject, type JsonObject } from '../protocol/wire.ts'
import { dialect } from './wire.ts'

// Decodes the content of a client message: a text, or a list of parts.

export const decodeContent: Read<readonly Part[]> = (value, path) => {
  if (typeof value === 'string') return [{ type: 'text', text: value }]
  return Array.isArray(value) ? arrayOf(decodePart)(value, path) : wrongType(path, 'a string or an array of content parts', value)
}

export const decodePart: Read<Part> = (value, path) => {
  const body = objectValue(value, path)
  const decode = decoders.get(required({ body, path }, 'type', anyText))
  return remember<Part>(decode ? decode(body, path) : { type: 'native', dialect, body }, { dialect, body, path })
}

const decodeText = (body: JsonObject, path: string): Part => {
  const annotations = objects(body.annotations)
  return {
    type: 'text',
    text: required({ body, path }, 'text', anyText),
    annotations: annotations.length > 0 ? annotations : undefined,
    cache: cacheOf(body),
  }
}

/** Reads a cache breakpoint, which is set on the last cached part. */
const cacheOf = ({ prompt_cache_breakpoint: mark }: JsonObject): CachePoint | undefined =>
  isObject(mark) || mark === true ? {} : undefined

const decodeImage = (body: JsonObject, path: string): Part => {
  const url = optional({ body, path }, 'image_url', nonEmptyText)
  const detail = optionalFields({ body, path }, { detail: anyText })
  if (url !== undefined) return { type: 'image', url, ...detail, cache: cacheOf(body) }
  return typeof body.file_id === 'string' ? { type: 'native', dialect, body } : missing(`${path}.image_url`)
}

/** Decodes a file by URL or data. A file that the provider stores under an id cannot be expressed in other dialects. */
const decodeFile = (body: JsonObject, path: string): Part => {
  const address = optional({ body, path }, 'file_url', nonEmptyText)
  const data = optional({ body, path }, 'file_data', nonEmptyText)
  const filename = optional({ body, path }, 'filename', anyText)
  const url = address ?? (data === undefined ? undefined : asDataUrl(data, filename))
  if (url !== undefined) return { type: 'file', url, filename, cache: cacheOf(body) }
  return typeof body.file_id === 'string' ? { type: 'native', dialect, body } : missing(`${path}.file_data`)
}

/** Bare base64 is treated as PDF unless the file name says otherwise. */
const asDataUrl = (data: string, filename = ''): string => {
  if (data.startsWith('data:')) return data
  return `data:${/\.(txt|md)$/i.test(filename) ? 'text/plain' : 'application/pdf'};base64,${data}`
}

const decodeAudio = (body: JsonObject, path: string): Part => {
  const audio = required({ body, path }, 'input_audio', objectValue)
  const place = { body: audio, path: `${path}.input_audio` }
  return {
    type: 'audio',
    data: required(place, 'data', nonEmptyText),
    format: required(place, 'format', nonEmptyText),
    cache: cacheOf(body),
  }
}

const decoders: ReadonlyMap<string, (body: JsonObject, path: string) => Part> = new Map([
  ['input_text', decodeText],
  ['output_text', decodeText],
  ['text', decodeText],
  ['input_image', decodeImage],
  ['input_file', decodeFile],
  ['input_audio', decodeAudio],
  ['refusal', (body, path): Part => ({ type: 'refusal', refusal: required({ body, path }, 'refusal', anyText) })],
])
