import { originalOf } from '../protocol/original.ts'
import type { Prompt } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'
import { type DialectName, isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { oneWarning, partsOf } from './lossy-marks.ts'

// Unknown fields inside messages, parts and tools. A provider of the caller's own language gets them with the original; for any
// other they are lost, with a warning.

const marks = ['prompt_cache_breakpoint', 'cache_control']

/** The known fields, by language and type, and for an object inside also by the field that holds it. */
const knownFields: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ['responses message', ['type', 'id', 'role', 'content', 'phase', 'status']],
  ['responses function_call', ['type', 'id', 'call_id', 'name', 'arguments', 'status']],
  ['responses function_call_output', ['type', 'id', 'call_id', 'name', 'output', 'status']],
  ['responses reasoning', ['type', 'id', 'summary', 'content', 'encrypted_content', 'status']],
  ['responses input_text', ['type', 'text', 'annotations', 'logprobs', ...marks]],
  ['responses output_text', ['type', 'text', 'annotations', 'logprobs', ...marks]],
  ['responses input_image', ['type', 'image_url', 'detail', 'file_id', ...marks]],
  ['responses input_file', ['type', 'file_data', 'file_url', 'file_id', 'filename', 'detail', ...marks]],
  ['responses input_audio', ['type', 'input_audio', ...marks]],
  ['responses input_audio.input_audio', ['data', 'format']],
  ['responses refusal', ['type', 'refusal']],
  ['responses function', ['type', 'name', 'description', 'parameters', 'strict']],
  ['responses settings of reasoning', ['effort', 'summary', 'generate_summary']],
  ['responses settings of text', ['format', 'verbosity']],
  ['responses settings of text.format', ['type', 'name', 'schema', 'strict', 'description']],
  [
    'chat message',
    ['role', 'content', 'refusal', 'tool_calls', 'tool_call_id', 'function_call', 'reasoning_content', 'reasoning', 'reasoning_details'],
  ],
  ['chat text', ['type', 'text', ...marks]],
  ['chat image_url', ['type', 'image_url', ...marks]],
  ['chat image_url.image_url', ['url', 'detail']],
  ['chat input_audio', ['type', 'input_audio', ...marks]],
  ['chat input_audio.input_audio', ['data', 'format']],
  ['chat file', ['type', 'file', ...marks]],
  ['chat file.file', ['file_data', 'file_id', 'filename']],
  ['chat refusal', ['type', 'refusal']],
  ['chat function', ['type', 'function', ...marks]],
  ['chat function.function', ['name', 'description', 'parameters', 'strict']],
  ['messages message', ['role', 'content']],
  ['messages text', ['type', 'text', 'cache_control', 'citations']],
  ['messages image', ['type', 'source', 'cache_control']],
  ['messages document', ['type', 'source', 'title', 'cache_control']],
  ['messages tool_use', ['type', 'id', 'name', 'input', 'cache_control']],
  ['messages tool_result', ['type', 'tool_use_id', 'content', 'is_error', 'cache_control']],
  ['messages thinking', ['type', 'thinking', 'signature']],
  ['messages redacted_thinking', ['type', 'data']],
  // Early streaming of arguments does not change them.
  ['messages custom', ['type', 'name', 'description', 'input_schema', 'strict', 'cache_control', 'eager_input_streaming']],
  ['messages settings of reasoning', ['thinking', 'output_config']],
  ['messages settings of reasoning.thinking', ['type', 'budget_tokens', 'display']],
  ['messages settings of reasoning.output_config', ['effort', 'format']],
])

/** One warning for all such fields, on the way to a provider that speaks `dialect`. */
export function unknownFieldWarnings({ input, tools = [], reasoning, text }: Prompt, dialect: DialectName): readonly Warning[] {
  const lost: string[] = []
  const seen = new Set<JsonObject>()
  const search = (body: JsonObject, kind: string, path: string): void => {
    const known = knownFields.get(kind)
    if (!known) return
    for (const field in body) {
      const value = body[field]
      if (!known.includes(field)) {
        if (isSet(value)) lost.push(`${path}.${field.slice(0, 100)}`)
      } else if (isObject(value)) search(value, `${kind}.${field}`, `${path}.${field}`)
    }
  }
  /** `kind`: the type of an object without one. `place`: its path in the prompt, if its path in the body is not known. */
  const look = (reading: object, kind: string, place: string): void => {
    const original = originalOf(reading)
    if (!original || original.dialect === dialect || seen.has(original.body)) return
    // One message of the assistant may be several items.
    seen.add(original.body)
    const { type } = original.body
    search(original.body, `${original.dialect} ${typeof type === 'string' ? type : kind}`, original.path ?? place)
  }
  if (reasoning) look(reasoning, 'settings of reasoning', 'reasoning')
  if (text) look(text, 'settings of text', 'text')
  for (const [at, tool] of tools.entries()) look(tool, 'custom', `tools[${at}]`)
  for (const [at, item] of input.entries()) {
    look(item, 'message', `input[${at}]`)
    for (const [index, part] of partsOf(item).entries()) if (part.type !== 'native') look(part, 'text', `input[${at}].content[${index}]`)
  }
  return lost.length === 0 ? [] : oneWarning(lost, 'is not known to this provider’s language, and was left out.')
}

const isSet = (value: Json | undefined): boolean =>
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
