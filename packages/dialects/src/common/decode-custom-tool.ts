import type { FunctionTool } from '../protocol/tool.ts'
import { isObject } from '../protocol/wire.ts'
import { anyText, nonEmptyText, type ObjectAtPath, objectValue, optional, optionalFields, required } from './field-readers.ts'

/** Decodes a custom tool: name, description and input format, whose grammar may be in its own field. */
export function customTool(place: ObjectAtPath): FunctionTool {
  const format = optional(place, 'format', objectValue)
  const { syntax, definition } = isObject(format?.grammar) ? format.grammar : (format ?? {})
  return {
    type: 'function',
    name: required(place, 'name', nonEmptyText),
    ...optionalFields(place, { description: anyText }),
    custom: typeof syntax === 'string' && typeof definition === 'string' ? { grammar: { syntax, definition } } : {},
  }
}
