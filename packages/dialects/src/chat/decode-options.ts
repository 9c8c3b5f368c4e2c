import { customTool } from '../common/decode-custom-tool.ts'
import {
  anyText,
  arrayOf,
  booleanValue,
  literalOf,
  nonEmptyText,
  type ObjectAtPath,
  objectValue,
  optional,
  optionalFields,
  type Read,
  required,
  wrongType,
} from '../common/field-readers.ts'
import { stringOf } from '../common/json.ts'
import { remember } from '../protocol/original.ts'
import type { Prompt, TextFormat, ToolChoice } from '../protocol/request.ts'
import type { FunctionTool, Native, Tool } from '../protocol/tool.ts'
import { isObject, type Json, type JsonObject, own } from '../protocol/wire.ts'
import { cacheOf, inside } from './decode-parts.ts'
import { dialect } from './wire.ts'

// Tools, tool choice and response format. Their fields are nested one level deeper than in a prompt.

const decodeTool: Read<Tool> = (value, path) => {
  const body = withType(objectValue(value, path))
  const type = required({ body, path }, 'type', nonEmptyText)
  if (type === 'custom') return remember<FunctionTool>(customTool(inside(body, path, 'custom')), { dialect, body, path })
  if (type !== 'function') {
    return remember<Native>({ type: 'native', dialect, body }, { dialect, body, path })
  }
  const tool = decodeFunction(required({ body, path }, 'function', objectValue), `${path}.function`)
  return remember<FunctionTool>({ ...tool, ...cacheOf(body) }, { dialect, body, path })
}

/** Adds the function type, which some SDKs omit. */
const withType = (body: JsonObject): JsonObject =>
  (body.type === undefined || body.type === null) && isObject(body.function) ? { ...body, type: 'function' } : body

/** Decodes a legacy function. It is sent as a tool, which every host supports. */
const decodeOldFunction: Read<Tool> = (value, path) => {
  const body = objectValue(value, path)
  return remember<FunctionTool>(decodeFunction(body, path), { dialect, body: { type: 'function', function: body }, path })
}

function decodeFunction(body: JsonObject, path: string): FunctionTool {
  const place = { body, path }
  const fields = optionalFields(place, { description: anyText, parameters: objectValue, strict: booleanValue })
  return { type: 'function', name: required(place, 'name', nonEmptyText), strict: false, ...fields }
}

const decodeToolChoice: Read<ToolChoice> = (value, path) => {
  if (typeof value === 'string') {
    const choice = literalOf('auto', 'none', 'required', 'any')(value, path)
    // `any` is Mistral's word (docs.mistral.ai, Function calling).
    return choice === 'any' ? 'required' : choice
  }
  if (!isObject(value)) return wrongType(path, 'a string or an object', value)
  const type = required({ body: value, path }, 'type', nonEmptyText)
  const original = { dialect, body: value, path }
  if (type === 'function' || type === 'custom') return remember<ToolChoice & object>(namedFunction(inside(value, path, type)), original)
  if (type === 'allowed_tools') return remember<Native>(allowedTools(inside(value, path, 'allowed_tools')), original)
  return remember<Native>({ type: 'native', dialect, body: value }, original)
}

const namedFunction = (place: ObjectAtPath): ToolChoice & object => ({ type: 'function', name: required(place, 'name', nonEmptyText) })

/** Decodes the choice into its Responses form, which every provider dialect reads. */
function allowedTools(place: ObjectAtPath): Native {
  const mode = required(place, 'mode', literalOf('auto', 'required'))
  const tools = required(place, 'tools', arrayOf(decodeAllowed))
  return { type: 'native', dialect: 'responses', body: { type: 'allowed_tools', mode, tools } }
}

const decodeAllowed: Read<JsonObject> = (value, path) => {
  const body = objectValue(value, path)
  const type = required({ body, path }, 'type', nonEmptyText)
  const inner = own(body, type)
  return isObject(inner) ? { type, name: stringOf(inner.name) } : body
}

const decodeOldChoice: Read<ToolChoice> = (value, path) => {
  if (typeof value === 'string') return literalOf('auto', 'none')(value, path)
  return isObject(value) ? namedFunction({ body: value, path }) : wrongType(path, 'a string or an object', value)
}

/** Decodes tools and tool choice. The new field names take precedence over the legacy ones. */
export function decodeTools(body: JsonObject): Pick<Prompt, 'tools' | 'tool_choice'> {
  const place = { body, path: '' }
  const offered = optional(place, 'tools', arrayOf(decodeTool))
  const old = optional(place, 'functions', arrayOf(decodeOldFunction))
  const tools = offered || old ? [...(offered ?? []), ...(old ?? [])] : undefined
  const oldChoice = optional(place, 'function_call', decodeOldChoice)
  const tool_choice = optional(place, 'tool_choice', decodeToolChoice) ?? oldChoice
  return { ...(tools && { tools }), ...(tool_choice !== undefined && { tool_choice }) }
}

const decodeResponseFormat: Read<TextFormat> = (value, path) => {
  const body = objectValue(value, path)
  const type = required({ body, path }, 'type', literalOf('text', 'json_object', 'json_schema'))
  if (type !== 'json_schema') return { type }
  const schema = inside(body, path, 'json_schema')
  const format: TextFormat = {
    type,
    name: required(schema, 'name', nonEmptyText),
    schema: required(schema, 'schema', objectValue),
    ...optionalFields(schema, { strict: booleanValue, description: anyText }),
  }
  return remember(format, { dialect, body, path })
}

export function decodeFormat(body: JsonObject): Pick<Prompt, 'text'> {
  const format = optional({ body, path: '' }, 'response_format', decodeResponseFormat)
  const options = { ...(format && { format }), ...optionalFields({ body, path: '' }, { verbosity: anyText }) }
  return Object.keys(options).length > 0 ? { text: options } : {}
}

/** Whether `modalities` requests text only, which is the default. */
export const isTextOnly = (modalities: Json | undefined): boolean =>
  Array.isArray(modalities) && modalities.length === 1 && modalities[0] === 'text'
