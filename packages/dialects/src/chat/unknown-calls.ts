import { objects, stringOf } from '../common/json.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'

// Tool calls of types that the gateway does not model, such as `mcp`: their chunks are joined as a client joins them, and the call is
// passed on as it is.

/** Calls by their `index`; calls without one have a negative key. */
export type UnknownCalls = Map<number, JsonObject>

const knownTypes: ReadonlySet<string> = new Set(['', 'function', 'custom'])

/** Consumes the pieces of unknown calls in a message or delta. Returns the other pieces. */
export function takeUnknownCalls(calls: UnknownCalls, holder: JsonObject): JsonObject {
  const entries = objects(holder.tool_calls)
  const others = entries.filter(entry => !takeEntry(calls, entry))
  return others.length === entries.length ? holder : { ...holder, tool_calls: others }
}

function takeEntry(calls: UnknownCalls, entry: JsonObject): boolean {
  const { index, type, ...piece } = entry
  const position = typeof index === 'number' ? index : undefined
  const begun = position === undefined ? undefined : calls.get(position)
  const isNew = !knownTypes.has(stringOf(type)) && !isObject(entry.function) && !isObject(entry.custom)
  if (!begun && !isNew) return false
  calls.set(position ?? -1 - calls.size, begun ? merged(begun, piece) : { ...piece, ...(type !== undefined && { type }) })
  return true
}

/** Identifying fields, which are not appended to. */
const fixed: ReadonlySet<string> = new Set(['id', 'type', 'name'])

function merged(whole: JsonObject, piece: JsonObject): JsonObject {
  const fields = new Map(Object.entries(whole))
  for (const [field, value] of Object.entries(piece)) fields.set(field, grown(field, fields.get(field), value))
  return Object.fromEntries(fields)
}

function grown(field: string, before: Json | undefined, added: Json | undefined): Json | undefined {
  if (typeof before === 'string' && typeof added === 'string' && !fixed.has(field)) return before + added
  return isObject(before) && isObject(added) ? merged(before, added) : (added ?? before)
}
