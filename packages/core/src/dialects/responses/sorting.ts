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

/**
 * Says which streamed item each item of the last snapshot is: by id, where ids hold; else, since some providers change them
 * with every event, the next of its type. What is left was never streamed.
 */
export function matchItems(streamed: readonly Growing[], snapshot: readonly Item[]): readonly (Growing | undefined)[] {
  const free = new Set(streamed)
  const byId = new Map(streamed.map(growing => [keyOf(growing.item) ?? growing, growing]))
  const idsHold = snapshot.some(item => byId.has(keyOf(item) ?? ''))
  const queues = new Map<unknown, Growing[]>()
  for (const growing of streamed.toReversed()) {
    const queue = queues.get(typeOf(growing.item))
    if (queue) queue.push(growing)
    else queues.set(typeOf(growing.item), [growing])
  }
  return snapshot.map(item => {
    const key = keyOf(item)
    const named = key === undefined ? undefined : byId.get(key)
    const found = named && free.has(named) ? named : idsHold && key !== undefined ? undefined : next(queues.get(typeOf(item)), free)
    if (found) free.delete(found)
    return found
  })
}

function next(queue: Growing[] | undefined, free: ReadonlySet<Growing>): Growing | undefined {
  for (let growing = queue?.pop(); growing; growing = queue?.pop()) if (free.has(growing)) return growing
  return undefined
}

const typeOf = (item: Item): unknown => (item.type === 'native' ? item.body.type : item.type)

function keyOf(item: Item): string | undefined {
  const id = item.type === 'native' ? item.body.id : 'id' in item ? item.id : undefined
  return typeof id === 'string' && id !== '' ? `${typeOf(item)}:${id}` : undefined
}
