import type { Item } from '../../protocol/item.ts'
import { type Frame, isObject, type JsonObject } from '../../protocol/wire.ts'
import { readFrame } from '../frame.ts'
import type { Growing } from './growing.ts'

// What an event is and what it is about, for streams that do not say so as they should.

/** An error may come without a type, and a type may stand only in the frame. */
export const nameOf = (body: JsonObject, frame: Frame): string => {
  if (typeof body.type === 'string') return body.type
  return body.error !== undefined && body.error !== null ? 'error' : (frame.event ?? '')
}

/** Some relays put the event into a field of an object of their own. */
export function unwrap(body: JsonObject): JsonObject {
  if (typeof body.type === 'string' && (body.type === 'error' || body.type.startsWith('response.'))) return body
  const inner = [body.data, body.value, body.payload, body.chunk, body.event].find(isObject)
  return inner && typeof inner.type === 'string' ? inner : body
}

/** Seen in the wild: a snapshot without its very last brace. The response inside is whole, so nothing has to be guessed. */
export function mended({ data }: Frame): JsonObject | undefined {
  if (!/^\{"type":"response\.(created|completed|incomplete|failed)","response":/.test(data)) return undefined
  const content = readFrame({ data: `${data}}` })
  return isObject(content) && isObject(content.response) ? content : undefined
}

const knownFields: ReadonlySet<string> = new Set([
  'type',
  'sequence_number',
  'item_id',
  'output_index',
  'content_index',
  'summary_index',
  'delta',
  'logprobs',
  'obfuscation',
])

export function hasUnknown(body: JsonObject): boolean {
  for (const field in body) if (!knownFields.has(field)) return true
  return false
}

/** The streamed item that an item of the snapshot is: by id, else the next of its type, since ids may change. */
export function match(candidates: ReadonlySet<Growing>, item: Item): Growing | undefined {
  const id = idOf(item)
  const alike = [...candidates].filter(
    ({ item: known }) => known.type === item.type && (item.type !== 'native' || isSameNative(known, item)),
  )
  return alike.find(({ item: known }) => id !== undefined && idOf(known) === id) ?? alike[0]
}

const idOf = (item: Item): unknown => (item.type === 'native' ? item.body.id : 'id' in item ? item.id : undefined)
const isSameNative = (known: Item, item: Item): boolean =>
  known.type === 'native' && item.type === 'native' && known.body.type === item.body.type
