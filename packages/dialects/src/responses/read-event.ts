import { readFrame } from '../common/parse-frame.ts'
import type { InferenceEvent } from '../protocol/event.ts'
import { remember } from '../protocol/original.ts'
import { type Frame, isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { dialect } from './wire.ts'

// Reads stream events that depart from the documented format.

/** The event name. An error may have no type, and a type may be in the frame only. */
export const eventNameOf = (body: JsonObject, frame: Frame): string => {
  if (typeof body.type === 'string') return body.type
  return body.error !== undefined && body.error !== null ? 'error' : (frame.event ?? '')
}

/** Unwraps an event that some relays put into a field of their own object. */
export function unwrapEvent(body: JsonObject): JsonObject {
  if (typeof body.type === 'string' && (body.type === 'error' || body.type.startsWith('response.'))) return body
  const inner = [body.data, body.value, body.payload, body.chunk, body.event].find(isObject)
  return inner && typeof inner.type === 'string' ? inner : body
}

/** What a delta event adds. The text of any other event is that of a whole part, even if it has a delta. */
export function deltaIn(body: JsonObject): Json | undefined {
  const { type, delta } = unwrapEvent(body)
  return typeof type === 'string' && type.endsWith('.delta') ? delta : undefined
}

/** Repairs a snapshot without its last brace, which some providers omit. The response in it is complete, so nothing has to be guessed. */
export function repairSnapshot({ data }: Frame): JsonObject | undefined {
  if (!/^\{"type":"response\.(created|completed|incomplete|failed)","response":/.test(data)) return undefined
  const content = readFrame({ data: `${data}}` })
  return isObject(content) && isObject(content.response) ? content : undefined
}

const deltaFields: ReadonlySet<string> = new Set([
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

/** Keeps the original of a delta with unknown fields, so that a client of the same dialect receives them. */
export function rememberUnknownFields(event: InferenceEvent | undefined, body: JsonObject): void {
  if (!event) return
  for (const field in body) {
    if (deltaFields.has(field)) continue
    remember(event, { dialect, body })
    return
  }
}
