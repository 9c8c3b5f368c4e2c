import {
  anyText,
  arrayOf,
  booleanValue,
  integerBetween,
  literalOf,
  numberBetween,
  type ObjectAtPath,
  objectValue,
  optional,
  optionalFields,
  type Read,
  refuse,
  required,
  stringMap,
} from '../common/field-readers.ts'
import { readRouting } from '../common/routing-options.ts'
import { logprobsInclude } from '../common/sampling.ts'
import { GatewayError } from '../errors/gateway-error.ts'
import { remember } from '../protocol/original.ts'
import type { InferenceRequest, Prompt } from '../protocol/request.ts'
import { isObject, type JsonObject } from '../protocol/wire.ts'
import { decodeMessages } from './decode-messages.ts'
import { decodeFormat, decodeTools, isTextOnly } from './decode-options.ts'
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
    ...(metadata && { metadata }),
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
  const unknown = unknownFieldsOf(body)
  return {
    input: required(place, 'messages', decodeMessages),
    ...decodeTools(body),
    ...(seed !== undefined && { seed }),
    ...optionalFields(place, sameFields),
    ...(max_output_tokens !== undefined && { max_output_tokens }),
    ...(stop && stop.length > 0 && { stop }),
    ...(optional(place, 'logprobs', booleanValue) && { include: [logprobsInclude] }),
    ...decodeFormat(body),
    ...(effort && effort !== 'default' && { reasoning: { effort: effort === 'off' ? 'none' : effort } }),
    ...(unknown && { native: { type: 'native', dialect, body: unknown } }),
  }
}

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

/** Fields that are read here, in decode-options.ts or in ../routing-options.ts. */
const readFields: ReadonlySet<string> = new Set([
  ...Object.keys(sameFields),
  ...['model', 'gateway', 'stream', 'stream_options', 'store', 'n', 'messages', 'stop', 'logprobs', 'reasoning_effort', 'random_seed'],
  ...['tools', 'tool_choice', 'functions', 'function_call', 'max_tokens', 'max_completion_tokens', 'response_format', 'verbosity'],
])

function unknownFieldsOf(body: JsonObject): JsonObject | undefined {
  const unknown = Object.entries(body).filter(
    ([field, value]) => !readFields.has(field) && value !== undefined && value !== null && !(field === 'modalities' && isTextOnly(value)),
  )
  return unknown.length > 0 ? Object.fromEntries(unknown) : undefined
}
