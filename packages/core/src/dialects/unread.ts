import { originalOf } from '../protocol/original.ts'
import type { Prompt } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'
import type { DialectName, Json, JsonObject } from '../protocol/wire.ts'
import { oneWarning, partsOf } from './marks.ts'

// Fields inside messages, blocks and tools that we do not read. A provider of the caller's own language gets them with the
// original; to every other they are lost, and a caller is told so.

/** What our readers take from each kind of piece, by language. A kind that is not listed was not read at all, and speaks for itself. */
const read: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  responses: {
    message: ['type', 'id', 'role', 'content', 'phase', 'status'],
    function_call: ['type', 'id', 'call_id', 'name', 'arguments', 'status'],
    function_call_output: ['type', 'id', 'call_id', 'name', 'output', 'status'],
    reasoning: ['type', 'id', 'summary', 'content', 'encrypted_content', 'status'],
    input_text: ['type', 'text', 'annotations', 'logprobs', 'prompt_cache_breakpoint'],
    output_text: ['type', 'text', 'annotations', 'logprobs', 'prompt_cache_breakpoint'],
    input_image: ['type', 'image_url', 'detail', 'file_id', 'prompt_cache_breakpoint'],
    input_file: ['type', 'file_data', 'file_url', 'file_id', 'filename', 'detail', 'prompt_cache_breakpoint'],
    input_audio: ['type', 'input_audio', 'prompt_cache_breakpoint'],
    refusal: ['type', 'refusal'],
    function: ['type', 'name', 'description', 'parameters', 'strict'],
  },
  chat: {
    message: [
      'role',
      'content',
      'refusal',
      'tool_calls',
      'tool_call_id',
      'function_call',
      'reasoning_content',
      'reasoning',
      'reasoning_details',
    ],
    text: ['type', 'text', 'prompt_cache_breakpoint', 'cache_control'],
    image_url: ['type', 'image_url', 'prompt_cache_breakpoint', 'cache_control'],
    input_audio: ['type', 'input_audio', 'prompt_cache_breakpoint', 'cache_control'],
    file: ['type', 'file', 'prompt_cache_breakpoint', 'cache_control'],
    refusal: ['type', 'refusal'],
    function: ['type', 'function', 'prompt_cache_breakpoint', 'cache_control'],
  },
  messages: {
    message: ['role', 'content'],
    text: ['type', 'text', 'cache_control', 'citations'],
    image: ['type', 'source', 'cache_control'],
    document: ['type', 'source', 'title', 'cache_control'],
    tool_use: ['type', 'id', 'name', 'input', 'cache_control'],
    tool_result: ['type', 'tool_use_id', 'content', 'is_error', 'cache_control'],
    thinking: ['type', 'thinking', 'signature'],
    redacted_thinking: ['type', 'data'],
    // Whether arguments stream early is a matter of delivery.
    custom: ['type', 'name', 'description', 'input_schema', 'strict', 'cache_control', 'eager_input_streaming'],
  },
}

/** One warning for all such fields, on the way to a provider that speaks `dialect`. */
export function unread({ input, tools = [] }: Prompt, dialect: DialectName): readonly Warning[] {
  const lost: string[] = []
  const seen = new Set<JsonObject>()
  /** `kind`: of a piece that does not name its own. `place`: among our items, where the caller's is not known. */
  const look = (reading: object, kind: string, place: string): void => {
    const original = originalOf(reading)
    if (!original || original.dialect === dialect || seen.has(original.body)) return
    // What the assistant said in one message may be several items of ours.
    seen.add(original.body)
    const { type } = original.body
    const known = read[original.dialect]?.[typeof type === 'string' ? type : kind]
    if (!known) return
    for (const field in original.body) {
      if (!known.includes(field) && says(original.body[field])) lost.push(`${original.path ?? place}.${field.slice(0, 100)}`)
    }
  }
  for (const [at, tool] of tools.entries()) look(tool, 'custom', `tools[${at}]`)
  for (const [at, item] of input.entries()) {
    look(item, 'message', `input[${at}]`)
    for (const [index, part] of partsOf(item).entries()) if (part.type !== 'native') look(part, 'text', `input[${at}].content[${index}]`)
  }
  return lost.length === 0 ? [] : oneWarning(lost, 'is not known to this provider’s language, and was left out.')
}

const says = (value: Json | undefined): boolean =>
  value !== undefined &&
  value !== null &&
  value !== false &&
  value !== '' &&
  !(Array.isArray(value) && value.length === 0) &&
  !isBare(value)

/** `citations: { enabled: false }` and the like. */
const isBare = (value: Json): boolean =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.values(value).every(inner => inner === false || inner === null)
