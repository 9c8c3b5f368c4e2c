import type { FunctionCallItem, FunctionCallOutputItem, ImagePart, Item } from '../../protocol/item.ts'
import { remember } from '../../protocol/original.ts'
import { isObject, type Json, type JsonObject } from '../../protocol/wire.ts'
import { stringOf } from '../json.ts'
import { dialect } from './wire.ts'

// Calls of tools that this language alone has and the client runs: a shell, a patch, a computer. They and their results are function calls
// inside, so that a conversation which holds some can go on in every language; in this one they go as they came.

/** The name of each call elsewhere, and the fields that hold its arguments. */
const callTypes: ReadonlyMap<string, { readonly name: string; readonly fields: readonly string[] }> = new Map([
  ['local_shell_call', { name: 'local_shell', fields: ['action'] }],
  ['shell_call', { name: 'shell', fields: ['action'] }],
  ['apply_patch_call', { name: 'apply_patch', fields: ['operation'] }],
  ['computer_call', { name: 'computer', fields: ['action', 'actions'] }],
])

const resultTypes: ReadonlySet<string> = new Set([...callTypes.keys()].map(type => `${type}_output`))

/** Undefined if the item is another, or names no call. */
export function decodeClientCall(type: string, body: JsonObject): Item | undefined {
  const call = callTypes.get(type)
  // The result of the first shell tool names its call as `id`.
  const call_id = stringOf(body.call_id) || (type.startsWith('local_shell_call') ? stringOf(body.id) : '')
  if (call_id === '') return undefined
  if (call) return { type: 'function_call', call_id, name: call.name, arguments: argumentsOf(body, call.fields) } satisfies FunctionCallItem
  if (!resultTypes.has(type)) return undefined
  const output = outputOf(body)
  // A screenshot that the provider keeps under an id is content that no other provider can get.
  return output === undefined
    ? { type: 'native', dialect, body }
    : ({ type: 'function_call_output', call_id, output } satisfies FunctionCallOutputItem)
}

function argumentsOf(body: JsonObject, fields: readonly string[]): string {
  const held = Object.entries(body).filter(([field, value]) => fields.includes(field) && value !== undefined)
  const [only] = held
  return JSON.stringify(only && held.length === 1 && isObject(only[1]) ? only[1] : Object.fromEntries(held))
}

/** Undefined for a screenshot that the provider keeps under an id. */
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
