import { customTool } from '../common/decode-custom-tool.ts'
import {
  anyText,
  arrayOf,
  booleanValue,
  integerBetween,
  literalOf,
  nonEmptyText,
  numberBetween,
  type ObjectAtPath,
  objectValue,
  optional,
  optionalFields,
  type Read,
  refuse,
  required,
  stringMap,
  wrongType,
} from '../common/field-readers.ts'
import { stringOf } from '../common/json.ts'
import { readRouting } from '../common/routing-options.ts'
import { logprobsInclude } from '../common/sampling.ts'
import { GatewayError } from '../errors/gateway-error.ts'
import { remember } from '../protocol/original.ts'
import type { InferenceRequest, Prompt, TextFormat, ToolChoice } from '../protocol/request.ts'
import type { FunctionTool, Native, Tool } from '../protocol/tool.ts'
import { isObject, type Json, type JsonObject, own } from '../protocol/wire.ts'
import { decodeMessages } from './decode-messages.ts'
import { cacheOf, inside } from './decode-parts.ts'
import { dialect } from './wire.ts'

// Decodes a client request field by field. Decoded values remember the wire objects they came from, so unknown fields reach a provider of
// the same dialect.

export function decodeRequest(body: JsonObject): InferenceRequest {
  if (!isObject(body)) throw new GatewayError('invalid_request', { message: 'The body must be a JSON object.', param: 'body' })
  checkEnvelope(body)
  const { routing, metadata } = readRouting(body)
  const request: InferenceRequest = {
    prompt: decodePrompt(body),
    routing,
    delivery: optional(top(body), 'stream', booleanValue) ? 'stream' : 'whole',
    metadata,
  }
  return remember(request, { dialect, body })
}

const top = (body: JsonObject): ObjectAtPath => ({ body, path: '' })

/** Fields with the same name and meaning in a prompt. */
const sameFields = {
  parallel_tool_calls: booleanValue,
  temperature: numberBetween(0, 2),
  top_p: numberBetween(0, 1),
  top_k: integerBetween(),
  frequency_penalty: numberBetween(),
  presence_penalty: numberBetween(),
  seed: integerBetween(),
  top_logprobs: integerBetween(0, 20),
  user: anyText,
  safety_identifier: anyText,
  prompt_cache_key: anyText,
  service_tier: anyText,
  metadata: stringMap(),
  extensions: objectValue,
} satisfies { readonly [Field in keyof Prompt]?: Read<Required<Prompt>[Field]> }

function decodePrompt(body: JsonObject): Prompt {
  const place = top(body)
  const old = optional(place, 'max_tokens', integerBetween(1))
  const max_output_tokens = optional(place, 'max_completion_tokens', integerBetween(1)) ?? old
  const effort = optional(place, 'reasoning_effort', efforts)
  // Mistral's name of `seed` (docs.mistral.ai, API).
  const seed = optional(place, 'random_seed', integerBetween())
  const stop = optional(place, 'stop', decodeStop)
  const unknown = Object.entries(body).filter(
    ([field, value]) => !readFields.has(field) && value !== undefined && value !== null && !(field === 'modalities' && isTextOnly(value)),
  )
  return {
    input: required(place, 'messages', decodeMessages),
    ...decodeTools(place),
    seed,
    ...optionalFields(place, sameFields),
    max_output_tokens,
    stop: stop?.length ? stop : undefined,
    include: optional(place, 'logprobs', booleanValue) ? [logprobsInclude] : undefined,
    text: decodeTextOptions(place),
    reasoning: effort && effort !== 'default' ? { effort: effort === 'off' ? 'none' : effort } : undefined,
    native: unknown.length > 0 ? { type: 'native', dialect, body: Object.fromEntries(unknown) } : undefined,
  }
}

/** Whether `modalities` requests text only, which is the default. */
const isTextOnly = (modalities: Json): boolean => Array.isArray(modalities) && modalities.length === 1 && modalities[0] === 'text'

const efforts = literalOf('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'off', 'default')

const decodeStop: Read<readonly string[]> = (value, path) => (typeof value === 'string' ? [value] : arrayOf(anyText)(value, path))

/** Checks fields that control storage and delivery and do not affect the content. */
function checkEnvelope(body: JsonObject): void {
  // A hold covers one response of a known length, and a stream that has started cannot fall back for some of its choices.
  const n = optional(top(body), 'n', integerBetween(1))
  if (n !== undefined && n > 1)
    refuse('invalid_parameter_value', '`n` must be 1 or left out: this gateway returns one choice per request.', 'n')
  if (optional(top(body), 'store', booleanValue) === true) {
    refuse('invalid_parameter_value', '`store` must be false or omitted: this gateway does not store responses.', 'store')
  }
  wantsUsage(body)
}

/** Whether the client wants a final chunk with the usage. */
export function wantsUsage(body: JsonObject): boolean {
  const options = optional(top(body), 'stream_options', objectValue)
  return (options && optional({ body: options, path: 'stream_options' }, 'include_usage', booleanValue)) ?? false
}

/** Fields that are read here or in routing-options.ts. */
const readFields: ReadonlySet<string> = new Set([
  ...Object.keys(sameFields),
  ...['model', 'gateway', 'stream', 'stream_options', 'store', 'n', 'messages', 'stop', 'logprobs', 'reasoning_effort', 'random_seed'],
  ...['tools', 'tool_choice', 'functions', 'function_call', 'max_tokens', 'max_completion_tokens', 'response_format', 'verbosity'],
])

// Tools, tool choice and response format. Their fields are nested one level deeper than in a prompt.

const decodeTool: Read<Tool> = (value, path) => {
  const body = withType(objectValue(value, path))
  const type = required({ body, path }, 'type', nonEmptyText)
  if (type === 'custom') return remember<FunctionTool>(customTool(inside(body, path, 'custom')), { dialect, body, path })
  if (type !== 'function') return remember<Native>({ type: 'native', dialect, body }, { dialect, body, path })
  const tool = decodeFunction(required({ body, path }, 'function', objectValue), `${path}.function`)
  return remember<FunctionTool>({ ...tool, cache: cacheOf(body) }, { dialect, body, path })
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
function decodeTools(place: ObjectAtPath): Pick<Prompt, 'tools' | 'tool_choice'> {
  const offered = optional(place, 'tools', arrayOf(decodeTool))
  const old = optional(place, 'functions', arrayOf(decodeOldFunction))
  const oldChoice = optional(place, 'function_call', decodeOldChoice)
  const tool_choice = optional(place, 'tool_choice', decodeToolChoice) ?? oldChoice
  return { tools: offered || old ? [...(offered ?? []), ...(old ?? [])] : undefined, tool_choice }
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

function decodeTextOptions(place: ObjectAtPath): Prompt['text'] {
  const format = optional(place, 'response_format', decodeResponseFormat)
  const verbosity = optional(place, 'verbosity', anyText)
  return format || verbosity !== undefined ? { format, verbosity } : undefined
}
