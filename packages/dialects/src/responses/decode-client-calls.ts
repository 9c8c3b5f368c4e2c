import { stringOf } from '../common/json.ts'
import type { FunctionCallItem, FunctionCallOutputItem, ImagePart, Item } from '../protocol/item.ts'
import { remember } from '../protocol/original.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { dialect } from './wire.ts'

// Calls of tools that only this dialect has and the client runs: a shell, a patch, a computer, a tool search. They and their results are decoded as
// function calls, so that the conversation can continue in every dialect. In this dialect they are sent unchanged.

/** The name of the client's tool search in other dialects. */
export const toolSearchName = 'tool_search'

/** The name of each call in other dialects, and the fields that contain its arguments. */
const callTypes: ReadonlyMap<string, { readonly name: string; readonly fields: readonly string[] }> = new Map([
  ['local_shell_call', { name: 'local_shell', fields: ['action'] }],
  ['shell_call', { name: 'shell', fields: ['action'] }],
  ['apply_patch_call', { name: 'apply_patch', fields: ['operation'] }],
  ['computer_call', { name: 'computer', fields: ['action', 'actions'] }],
  ['tool_search_call', { name: toolSearchName, fields: ['arguments'] }],
])

const resultTypes: ReadonlySet<string> = new Set([...callTypes.keys()].map(type => `${type}_output`))

/** Decodes a call or its result. Undefined for other items and for items without a call id. */
export function decodeClientCall(type: string, body: JsonObject): Item | undefined {
  const call = callTypes.get(type)
  // The result of the first shell tool has its call id in `id`.
  const call_id = stringOf(body.call_id) || (type.startsWith('local_shell_call') ? stringOf(body.id) : '')
  // A shell in a container of the provider is not run by the client.
  const isInContainer = isObject(body.environment) && typeof body.environment.container_id === 'string'
  if (call_id === '' || body.execution === 'server' || isInContainer) return undefined
  if (call) return { type: 'function_call', call_id, name: call.name, arguments: argumentsOf(body, call.fields) } satisfies FunctionCallItem
  if (!resultTypes.has(type)) return undefined
  const output = outputOf(body)
  // A screenshot that the provider stores under an id cannot be expressed in other dialects.
  return output === undefined
    ? { type: 'native', dialect, body }
    : ({ type: 'function_call_output', call_id, output } satisfies FunctionCallOutputItem)
}

function argumentsOf(body: JsonObject, fields: readonly string[]): string {
  if (typeof body.arguments === 'string') return body.arguments
  const held = Object.entries(body).filter(([field, value]) => fields.includes(field) && value !== undefined)
  const [only] = held
  return JSON.stringify(only && held.length === 1 && isObject(only[1]) ? only[1] : Object.fromEntries(held))
}

/** The output of a result. Undefined for a screenshot that the provider stores under an id. */
function outputOf({ output, status }: JsonObject): string | readonly ImagePart[] | undefined {
  if (isObject(output) && output.type === 'computer_screenshot') return screenshotOf(output)
  return writtenOutput(output) || stringOf(status)
}

const screenshotOf = (body: JsonObject): readonly ImagePart[] | undefined =>
  typeof body.image_url === 'string' ? [remember<ImagePart>({ type: 'image', url: body.image_url }, { dialect, body })] : undefined

const writtenOutput = (value: Json | undefined): string => {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}
