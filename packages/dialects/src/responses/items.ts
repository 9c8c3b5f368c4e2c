import { documentName } from '../common/document-name.ts'
import { objects, stringOf } from '../common/json.ts'
import { outputFeatureOf } from '../common/output-features.ts'
import type {
  AudioPart,
  FilePart,
  FunctionCallItem,
  FunctionCallOutputItem,
  ImagePart,
  Item,
  ItemStatus,
  MessageItem,
  Part,
  ReasoningItem,
  Role,
} from '../protocol/item.ts'
import { originalOf, remember } from '../protocol/original.ts'
import type { CachePoint } from '../protocol/tool.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { outputFidelity } from './output-fidelity.ts'
import { dialect } from './wire.ts'

// Wire item ⇄ Item. Decoding never throws: anything unexpected becomes native or is left out. Every decoded item remembers its wire object,
// so that unknown fields are kept if it is encoded in this dialect again.

export function decodeItem(body: JsonObject): Item {
  const decode = itemDecoders.get(stringOf(body.type) || 'message')
  return remember<Item>(decode ? decode(body) : { type: 'native', dialect, body }, { dialect, body })
}

const itemDecoders: ReadonlyMap<string, (body: JsonObject) => Item> = new Map<string, (body: JsonObject) => Item>([
  ['message', decodeMessageItem],
  ['function_call', decodeCall],
  ['custom_tool_call', decodeCustomCall],
  ['function_call_output', decodeCallOutput],
  ['reasoning', decodeReasoning],
])

const roles: ReadonlySet<Json | undefined> = new Set(['user', 'assistant', 'system', 'developer'])

function decodeMessageItem(body: JsonObject): MessageItem {
  return {
    type: 'message',
    ...itemId(body),
    role: roles.has(body.role) ? (body.role as Role) : 'assistant',
    content: typeof body.content === 'string' ? [{ type: 'text', text: body.content }] : objects(body.content).map(decodePart),
    phase: body.phase === 'commentary' || body.phase === 'final_answer' ? body.phase : undefined,
    ...statusOf(body),
  }
}

function decodeCall(body: JsonObject): FunctionCallItem {
  const given = body.arguments
  return {
    type: 'function_call',
    ...itemId(body),
    call_id: stringOf(body.call_id),
    name: stringOf(body.name),
    ...namespaceOf(body),
    arguments: isObject(given) ? JSON.stringify(given) : stringOf(given),
    ...statusOf(body),
  }
}

function decodeCustomCall(body: JsonObject): FunctionCallItem {
  const call = { call_id: stringOf(body.call_id), name: stringOf(body.name), ...namespaceOf(body), arguments: stringOf(body.input) }
  return { type: 'function_call', ...itemId(body), ...call, custom: true, ...statusOf(body) }
}

function decodeCallOutput(body: JsonObject): FunctionCallOutputItem {
  const output = typeof body.output === 'string' ? body.output : objects(body.output).map(decodePart)
  return { type: 'function_call_output', call_id: stringOf(body.call_id), output }
}

function decodeReasoning(body: JsonObject): ReasoningItem {
  const content = entryTexts(body.content)
  return {
    type: 'reasoning',
    ...itemId(body),
    summary: entryTexts(body.summary),
    content: content.length > 0 ? content : undefined,
    encrypted_content: typeof body.encrypted_content === 'string' && body.encrypted_content !== '' ? body.encrypted_content : undefined,
  }
}

function decodePart(body: JsonObject): Part {
  const decode = partDecoders.get(stringOf(body.type))
  return remember<Part>(decode?.(body) ?? { type: 'native', dialect, body }, { dialect, body })
}

const decodeTextPart = (body: JsonObject): Part => {
  const annotations = objects(body.annotations)
  const logprobs = objects(body.logprobs)
  return {
    type: 'text',
    text: stringOf(body.text),
    annotations: annotations.length > 0 ? annotations : undefined,
    logprobs: logprobs.length > 0 ? logprobs : undefined,
  }
}

const partDecoders: ReadonlyMap<string, (body: JsonObject) => Part | undefined> = new Map<string, (body: JsonObject) => Part | undefined>([
  ['output_text', decodeTextPart],
  ['input_text', decodeTextPart],
  ['text', decodeTextPart],
  ['refusal', ({ refusal }) => ({ type: 'refusal', refusal: stringOf(refusal) })],
  [
    'input_image',
    ({ image_url, detail }) =>
      typeof image_url === 'string'
        ? { type: 'image', url: image_url, detail: typeof detail === 'string' ? detail : undefined }
        : undefined,
  ],
])

export const entryTexts = (value: Json | undefined): readonly string[] => objects(value).map(block => stringOf(block.text))

const itemId = ({ id }: JsonObject): { readonly id?: string } => (typeof id === 'string' && id !== '' ? { id } : {})
const namespaceOf = ({ namespace }: JsonObject): { readonly namespace?: string } =>
  typeof namespace === 'string' && namespace !== '' ? { namespace } : {}
const statusOf = ({ status }: JsonObject): { readonly status?: ItemStatus } =>
  status === 'in_progress' || status === 'completed' || status === 'incomplete' ? { status } : {}

/** Encodes a response item with its id. */
export function encodeItem(item: Item, id: string): JsonObject {
  const known = originalBody(item)
  if (item.type === 'native') return { ...item.body, id }
  if (item.type === 'message') {
    const { role, content, phase, status = 'completed' } = item
    return { ...known, id, type: 'message', status, role, content: content.map(encodeOutputPart), ...(phase && { phase }) }
  }
  if (item.type === 'function_call') {
    const { call_id, name, namespace, status = 'completed' } = item
    const named = { call_id, namespace, name }
    if (item.custom) return { ...known, id, type: 'custom_tool_call', status, ...named, input: item.arguments }
    const written = item.arguments === '' && status === 'completed' ? '{}' : item.arguments
    return { ...known, id, type: 'function_call', status, ...named, arguments: written }
  }
  if (item.type === 'reasoning') return { ...withoutNull(known), id, ...encodeReasoning(item) }
  return { ...known, id, type: 'function_call_output', call_id: item.call_id, output: encodeOutput(item.output) }
}

const encodeReasoning = ({ summary, content, encrypted_content }: ReasoningItem): JsonObject => ({
  type: 'reasoning',
  summary: summary.map(text => ({ type: 'summary_text', text })),
  ...(content && { content: content.map(text => ({ type: 'reasoning_text', text })) }),
  ...(encrypted_content !== undefined && { encrypted_content }),
})

/** `encrypted_content` must be a string or absent, because clients check it. */
function withoutNull(body: JsonObject | undefined): JsonObject | undefined {
  if (body?.encrypted_content !== null) return body
  const { encrypted_content, ...rest } = body
  return rest
}

function encodeOutputPart(part: Part): JsonObject {
  if (part.type === 'native') return part.body
  const known = originalBody(part)
  if (part.type === 'text') {
    const { text, annotations = [], logprobs = [] } = part
    return { ...known, type: 'output_text', text, annotations: annotations.filter(isExpressible), logprobs }
  }
  if (part.type === 'refusal') return { ...known, type: 'refusal', refusal: part.refusal }
  return { ...known, ...encodeMedia(part) }
}

/** Whether an annotation can be expressed. Those that only another dialect has are left out. */
export const isExpressible = (annotation: JsonObject): boolean =>
  (originalOf(annotation)?.dialect ?? dialect) === dialect || outputFidelity[outputFeatureOf(stringOf(annotation.type))] !== 'dropped'

function encodeMedia(part: ImagePart | FilePart | AudioPart): JsonObject {
  if (part.type === 'image') return { type: 'input_image', image_url: part.url, detail: part.detail }
  if (part.type === 'audio') return { type: 'input_audio', input_audio: { data: part.data, format: part.format } }
  const { url, filename } = part
  if (url.startsWith('data:')) return { type: 'input_file', file_data: url, filename: documentName(part) }
  return { type: 'input_file', file_url: url, filename }
}

/** Encodes an item of a request; undefined if it belongs to another dialect. */
export function encodeInputItem(item: Item): JsonObject | undefined {
  if (item.type === 'native') return item.dialect === dialect ? item.body : undefined
  const known = originalBody(item)
  if (known) return known
  if (item.type === 'message') {
    const { id, role, content, phase, status } = item
    const parts = content.flatMap(part => encodeInputPart(part, role))
    return { type: 'message', id, role, content: parts, phase, status }
  }
  if (item.type === 'function_call') {
    const { id, call_id, name, namespace, status } = item
    const named = { id, call_id, namespace, name }
    if (item.custom) return { type: 'custom_tool_call', ...named, input: item.arguments }
    const written = item.arguments === '' ? '{}' : item.arguments
    return { type: 'function_call', ...named, arguments: written, status }
  }
  if (item.type === 'reasoning') return { id: item.id, ...encodeReasoning(item) }
  return { type: 'function_call_output', call_id: item.call_id, output: encodeOutput(item.output) }
}

const encodeOutput = (output: string | readonly Part[]): Json =>
  typeof output === 'string' ? output : output.flatMap(part => encodeInputPart(part, 'user'))

/** Encodes a part of a request; empty if it belongs to another dialect. */
function encodeInputPart(part: Part, role: Role): readonly JsonObject[] {
  if (part.type === 'native') return part.dialect === dialect ? [part.body] : []
  const known = originalBody(part)
  if (known) return [known]
  if (part.type === 'refusal') return [{ type: 'refusal', refusal: part.refusal }]
  if (part.type !== 'text') return [{ ...encodeMedia(part), prompt_cache_breakpoint: breakpoint(part) }]
  const { text, annotations = [] } = part
  return [
    role === 'assistant'
      ? { type: 'output_text', text, annotations }
      : { type: 'input_text', text, prompt_cache_breakpoint: breakpoint(part) },
  ]
}

/** Everything up to and including the part may be cached. */
const breakpoint = ({ cache }: { readonly cache?: CachePoint }): JsonObject | undefined => cache && { mode: 'explicit' }

/** Whether a cache point is sent: it is on a part that can carry one, or came in this dialect. */
export const carriesBreakpoint = (decoded: object): boolean =>
  originalBody(decoded) !== undefined ||
  ('type' in decoded && (decoded.type === 'text' || decoded.type === 'image' || decoded.type === 'file'))

export const originalBody = (decoded: object): JsonObject | undefined => {
  const original = originalOf(decoded)
  return original?.dialect === dialect ? original.body : undefined
}
