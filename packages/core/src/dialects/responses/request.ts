import { GatewayError } from '../../errors/gateway-error.ts'
import {
  type CachePoint,
  type FunctionCallItem,
  type FunctionCallOutputItem,
  type Item,
  type MessageItem,
  type Part,
  type ReasoningItem,
  sealedPrefix,
} from '../../protocol/item.ts'
import { remember } from '../../protocol/original.ts'
import type { FunctionTool, Prompt, TextFormat, Tool, ToolChoice } from '../../protocol/request.ts'
import { isObject, type Json, type JsonObject } from '../../protocol/wire.ts'
import {
  filled,
  flag,
  integer,
  list,
  missing,
  number,
  object,
  oneOf,
  optional,
  type Read,
  refuse,
  required,
  stringMap,
  text,
  wrong,
} from '../field-readers.ts'
import { objects } from '../json.ts'
import { texts } from './items.ts'
import { dialect } from './wire.ts'

// What a caller may send, field by field. A reading remembers the wire object that it came from, so nothing unknown is lost
// on the way to a provider that speaks the same language.

const readInput: Read<readonly Item[]> = (value, path) => {
  if (typeof value === 'string') return [{ type: 'message', role: 'user', content: [{ type: 'text', text: value }] }]
  return Array.isArray(value) ? list(readItem)(value, path) : wrong(path, 'a string or an array of items', value)
}

const readItem: Read<Item> = (value, path) => {
  const body = object(value, path)
  const type = optional({ body, path }, 'type', text)
  if (type === undefined && body.role === undefined && typeof body.id === 'string') return readReference(body, path)
  const reader = items.get(type ?? 'message')
  const item: Item = reader ? reader(body, path) : { type: 'native', dialect, body }
  // A reference is nothing that a provider could read.
  return type === 'item_reference' ? item : remember(item, { dialect, body })
}

/**
 * Nothing is stored here, so what an id stands for has to be sent. Except for a thought: a conversation goes on without its
 * state, with the warning that it always gets when that cannot be given back. (The AI SDK refers to thoughts by itself.)
 */
function readReference({ id }: JsonObject, path: string): Item {
  return typeof id === 'string' && id.startsWith('rs_')
    ? { type: 'reasoning', id, summary: [], encrypted_content: sealedPrefix + id }
    : unresolved(path)
}

function unresolved(path: string): never {
  throw new GatewayError('invalid_parameter_value', {
    message: `\`${path}\` refers to an item by id, and nothing is stored here.`,
    param: path,
    suggestion: 'Send the items of the conversation in full. In the AI SDK set `store: false` for the provider; it then does so by itself.',
  })
}

const readMessage = (body: JsonObject, path: string): MessageItem => {
  const role = required({ body, path }, 'role', oneOf('user', 'assistant', 'system', 'developer'))
  const content = required({ body, path }, 'content', readContent)
  const id = optional({ body, path }, 'id', text)
  const phase = optional({ body, path }, 'phase', text)
  const status = optional({ body, path }, 'status', text)
  return {
    type: 'message',
    ...(id && { id }),
    role,
    content,
    ...((phase === 'commentary' || phase === 'final_answer') && { phase }),
    ...((status === 'in_progress' || status === 'completed' || status === 'incomplete') && { status }),
  }
}

const readContent: Read<readonly Part[]> = (value, path) => {
  if (typeof value === 'string') return [{ type: 'text', text: value }]
  return Array.isArray(value) ? list(readPart)(value, path) : wrong(path, 'a string or an array of content parts', value)
}

const readPart: Read<Part> = (value, path) => {
  const body = object(value, path)
  const reader = parts.get(required({ body, path }, 'type', text))
  return remember<Part>(reader ? reader(body, path) : { type: 'native', dialect, body }, { dialect, body })
}

const readText = (body: JsonObject, path: string): Part => {
  const said = required({ body, path }, 'text', text)
  const annotations = objects(body.annotations)
  return { type: 'text', text: said, ...(annotations.length > 0 && { annotations }), ...cacheOf(body) }
}

/** A breakpoint of the prompt cache stands on the part that it ends with. */
const cacheOf = ({ prompt_cache_breakpoint: mark }: JsonObject): { readonly cache?: CachePoint } =>
  isObject(mark) || mark === true ? { cache: {} } : {}

const readImage = (body: JsonObject, path: string): Part => {
  const url = optional({ body, path }, 'image_url', filled)
  const detail = optional({ body, path }, 'detail', text)
  if (url !== undefined) return { type: 'image', url, ...(detail !== undefined && { detail }), ...cacheOf(body) }
  return typeof body.file_id === 'string' ? { type: 'native', dialect, body } : missing(`${path}.image_url`)
}

/** A file by address or by its bytes; one that the provider keeps under an id is known to no other. */
const readFile = (body: JsonObject, path: string): Part => {
  const address = optional({ body, path }, 'file_url', filled)
  const data = optional({ body, path }, 'file_data', filled)
  const filename = optional({ body, path }, 'filename', text)
  const url = address ?? (data === undefined ? undefined : asDataUrl(data, filename))
  if (url !== undefined) return { type: 'file', url, ...(filename !== undefined && { filename }), ...cacheOf(body) }
  return typeof body.file_id === 'string' ? { type: 'native', dialect, body } : missing(`${path}.file_data`)
}

/** Bare base64 is a PDF unless its name says otherwise. */
const asDataUrl = (data: string, filename = ''): string => {
  if (data.startsWith('data:')) return data
  return `data:${/\.(txt|md)$/i.test(filename) ? 'text/plain' : 'application/pdf'};base64,${data}`
}

const readAudio = (body: JsonObject, path: string): Part => {
  const audio = required({ body, path }, 'input_audio', object)
  const place = { body: audio, path: `${path}.input_audio` }
  return { type: 'audio', data: required(place, 'data', filled), format: required(place, 'format', filled), ...cacheOf(body) }
}

const parts: ReadonlyMap<string, (body: JsonObject, path: string) => Part> = new Map([
  ['input_text', readText],
  ['output_text', readText],
  ['text', readText],
  ['input_image', readImage],
  ['input_file', readFile],
  ['input_audio', readAudio],
  ['refusal', (body, path): Part => ({ type: 'refusal', refusal: required({ body, path }, 'refusal', text) })],
])

const readCall = (body: JsonObject, path: string): FunctionCallItem => {
  const id = optional({ body, path }, 'id', text)
  return {
    type: 'function_call',
    ...(id && { id }),
    call_id: required({ body, path }, 'call_id', filled),
    name: required({ body, path }, 'name', filled),
    arguments: required({ body, path }, 'arguments', text),
  }
}

const readCallOutput = (body: JsonObject, path: string): FunctionCallOutputItem => ({
  type: 'function_call_output',
  call_id: required({ body, path }, 'call_id', filled),
  output: required({ body, path }, 'output', (value, at): string | readonly Part[] => {
    if (typeof value === 'string') return value
    return Array.isArray(value) ? list(readPart)(value, at) : wrong(at, 'a string or an array of content parts', value)
  }),
})

const readReasoning = (body: JsonObject, path: string): ReasoningItem => {
  const id = optional({ body, path }, 'id', text)
  const summary = optional({ body, path }, 'summary', list(object))
  const content = optional({ body, path }, 'content', list(object))
  const encrypted_content = optional({ body, path }, 'encrypted_content', text)
  return {
    type: 'reasoning',
    ...(id && { id }),
    summary: texts(summary),
    ...(content && content.length > 0 && { content: texts(content) }),
    ...(encrypted_content && { encrypted_content }),
  }
}

const items: ReadonlyMap<string, (body: JsonObject, path: string) => Item> = new Map<string, (body: JsonObject, path: string) => Item>([
  ['message', readMessage],
  ['function_call', readCall],
  ['function_call_output', readCallOutput],
  ['reasoning', readReasoning],
  ['item_reference', readReference],
])

const readTool: Read<Tool> = (value, path) => {
  const body = object(value, path)
  if (required({ body, path }, 'type', filled) !== 'function') return { type: 'native', dialect, body }
  if (isObject(body.function)) return missing(`${path}.name`, 'Here the fields of a function stand beside `type`, not inside `function`.')
  const description = optional({ body, path }, 'description', text)
  const parameters = optional({ body, path }, 'parameters', object)
  const strict = optional({ body, path }, 'strict', flag)
  const tool: FunctionTool = {
    type: 'function',
    name: required({ body, path }, 'name', filled),
    ...(description !== undefined && { description }),
    ...(parameters && { parameters }),
    ...(body.strict === null ? { strict: null } : strict !== undefined && { strict }),
  }
  return remember(tool, { dialect, body })
}

const readToolChoice: Read<ToolChoice> = (value, path) => {
  if (typeof value === 'string') return oneOf('auto', 'none', 'required')(value, path)
  if (!isObject(value)) return wrong(path, 'a string or an object', value)
  if (required({ body: value, path }, 'type', filled) !== 'function') return { type: 'native', dialect, body: value }
  return remember<ToolChoice & object>(
    { type: 'function', name: required({ body: value, path }, 'name', filled) },
    { dialect, body: value },
  )
}

const readFormat: Read<TextFormat> = (value, path) => {
  const body = object(value, path)
  const type = required({ body, path }, 'type', oneOf('text', 'json_object', 'json_schema'))
  if (type !== 'json_schema') return { type }
  const description = optional({ body, path }, 'description', text)
  const strict = optional({ body, path }, 'strict', flag)
  return {
    type,
    name: required({ body, path }, 'name', filled),
    schema: required({ body, path }, 'schema', object),
    ...(strict !== undefined && { strict }),
    ...(description !== undefined && { description }),
  }
}

const readTextOptions: Read<NonNullable<Prompt['text']>> = (value, path) => {
  const body = object(value, path)
  const format = optional({ body, path }, 'format', readFormat)
  const verbosity = optional({ body, path }, 'verbosity', text)
  return remember({ ...(format && { format }), ...(verbosity !== undefined && { verbosity }) }, { dialect, body })
}

const efforts = oneOf('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'off')
const summaries = oneOf('auto', 'concise', 'detailed')

const readReasoningOptions: Read<NonNullable<Prompt['reasoning']>> = (value, path) => {
  const body = object(value, path)
  const effort = optional({ body, path }, 'effort', efforts)
  const old = optional({ body, path }, 'generate_summary', summaries)
  const summary = optional({ body, path }, 'summary', summaries) ?? old
  return remember({ ...(effort && { effort: effort === 'off' ? 'none' : effort }), ...(summary && { summary }) }, { dialect, body })
}

/** Fields of the body that are part of the prompt, by name. */
const promptFields: ReadonlyMap<string, Read<unknown>> = new Map(
  Object.entries({
    input: readInput,
    instructions: text,
    tools: list(readTool),
    tool_choice: readToolChoice,
    parallel_tool_calls: flag,
    max_output_tokens: integer(1),
    max_tool_calls: integer(1),
    temperature: number(0, 2),
    top_p: number(0, 1),
    top_k: integer(),
    top_logprobs: integer(0, 20),
    frequency_penalty: number(),
    presence_penalty: number(),
    text: readTextOptions,
    reasoning: readReasoningOptions,
    truncation: text,
    metadata: stringMap(),
    include: list(text),
    user: text,
    safety_identifier: text,
    prompt_cache_key: text,
    service_tier: text,
    extensions: object,
  } satisfies { readonly [Field in Exclude<keyof Prompt, 'native' | 'stop' | 'seed'>]-?: Read<Required<Prompt>[Field]> }),
)

/** What only makes sense where answers are stored. Absent, null and false are the same to us. */
const stateful: ReadonlySet<string> = new Set(['previous_response_id', 'conversation', 'background', 'prompt'])
/** Read elsewhere, or of no consequence here. */
const beside: ReadonlySet<string> = new Set(['model', 'gateway', 'stream', 'stream_options', 'store', ...stateful])

export function checkEnvelope(body: JsonObject): void {
  for (const key of stateful) {
    const value = body[key]
    if (value === undefined || value === null || value === false) continue
    refuse('unknown_parameter', `\`${key}\` is not supported: nothing is stored here. Send the conversation in full.`, key)
  }
  if (optional({ body, path: '' }, 'store', flag) === true) {
    refuse('invalid_parameter_value', '`store` must be false or left out: nothing is stored here.', 'store')
  }
  optional({ body, path: '' }, 'stream_options', object)
}

export function readPrompt(body: JsonObject): Prompt {
  const prompt: Record<string, unknown> = { input: required({ body, path: '' }, 'input', readInput) }
  const unknown: [string, Json][] = []
  for (const key of Object.keys(body)) {
    const value = body[key]
    if (value === undefined || value === null || key === 'input' || beside.has(key)) continue
    const read = promptFields.get(key)
    if (read) prompt[key] = read(value, key)
    else unknown.push([key, value])
  }
  if (unknown.length > 0) prompt.native = { type: 'native', dialect, body: Object.fromEntries(unknown) }
  return prompt as unknown as Prompt
}
