import { stringOf } from '../common/json.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'

// Tool calls of types that the gateway does not model, such as `mcp`: their chunks are joined as a client joins them, and the call is
// passed on as it is.

const knownTypes: ReadonlySet<string> = new Set(['', 'function', 'custom'])

/** Adds an entry of `tool_calls` to the unknown calls, if it belongs to one. Their keys are the `index`, or negative without one. */
export function addUnknownCall(calls: Map<number, JsonObject>, entry: JsonObject): boolean {
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
