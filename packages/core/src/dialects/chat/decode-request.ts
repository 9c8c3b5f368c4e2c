import { GatewayError } from '../../errors/gateway-error.ts'
import { remember } from '../../protocol/original.ts'
import type { InferenceRequest, Prompt } from '../../protocol/request.ts'
import { isObject, type JsonObject } from '../../protocol/wire.ts'
import {
  flag,
  integer,
  list,
  number,
  object,
  oneOf,
  optional,
  optionalFields,
  type Place,
  type Read,
  refuse,
  required,
  stringMap,
  text,
} from '../field-readers.ts'
import { readRouting } from '../routing-options.ts'
import { decodeMessages } from './decode-messages.ts'
import { decodeFormat, decodeTools, isTextOnly } from './decode-options.ts'
import { dialect, wantsLogprobs } from './wire.ts'

// What a caller may send, field by field. Decoded values remember the wire objects that they came from, so nothing unknown is
// lost on the way to a provider of the same language.

export function decodeRequest(body: JsonObject): InferenceRequest {
  if (!isObject(body)) throw new GatewayError('invalid_request', { message: 'The body must be a JSON object.', param: 'body' })
  checkEnvelope(body)
  const { routing, metadata } = readRouting(body)
  const request: InferenceRequest = {
    prompt: decodePrompt(body),
    routing,
    delivery: optional(top(body), 'stream', flag) ? 'stream' : 'whole',
    ...(metadata && { metadata }),
  }
  return remember(request, { dialect, body })
}

const top = (body: JsonObject): Place => ({ body, path: '' })

/** Fields with the same name and meaning in a prompt. */
const sameFields = {
  parallel_tool_calls: flag,
  temperature: number(0, 2),
  top_p: number(0, 1),
  top_k: integer(),
  frequency_penalty: number(),
  presence_penalty: number(),
  seed: integer(),
  top_logprobs: integer(0, 20),
  user: text,
  safety_identifier: text,
  prompt_cache_key: text,
  service_tier: text,
  metadata: stringMap(),
  extensions: object,
} satisfies { readonly [Field in keyof Prompt]?: Read<Required<Prompt>[Field]> }

function decodePrompt(body: JsonObject): Prompt {
  const place = top(body)
  const old = optional(place, 'max_tokens', integer(1))
  const max_output_tokens = optional(place, 'max_completion_tokens', integer(1)) ?? old
  const effort = optional(place, 'reasoning_effort', efforts)
  const stop = optional(place, 'stop', decodeStop)
  const unknown = unknownFieldsOf(body)
  return {
    input: required(place, 'messages', decodeMessages),
    ...decodeTools(body),
    ...optionalFields(place, sameFields),
    ...(max_output_tokens !== undefined && { max_output_tokens }),
    ...(stop && stop.length > 0 && { stop }),
    ...(optional(place, 'logprobs', flag) && { include: [wantsLogprobs] }),
    ...decodeFormat(body),
    ...(effort && { reasoning: { effort: effort === 'off' ? 'none' : effort } }),
    ...(unknown && { native: { type: 'native', dialect, body: unknown } }),
  }
}

const efforts = oneOf('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'off')

const decodeStop: Read<readonly string[]> = (value, path) => (typeof value === 'string' ? [value] : list(text)(value, path))

/** Checks fields about how an answer is stored or sent, which change nothing in it. */
function checkEnvelope(body: JsonObject): void {
  const n = optional(top(body), 'n', integer(1))
  if (n !== undefined && n > 1) refuse('invalid_parameter_value', '`n` must be 1 or left out: a request gets one answer here.', 'n')
  if (optional(top(body), 'store', flag) === true) {
    refuse('invalid_parameter_value', '`store` must be false or left out: nothing is stored here.', 'store')
  }
  wantsUsage(body)
}

/** Whether the caller wants a last chunk with the usage. */
export function wantsUsage(body: JsonObject): boolean {
  const options = optional(top(body), 'stream_options', object)
  return (options && optional({ body: options, path: 'stream_options' }, 'include_usage', flag)) ?? false
}

/** Fields that are read in this file, in decode-options.ts or in ../routing-options.ts. */
const known: ReadonlySet<string> = new Set([
  ...Object.keys(sameFields),
  ...['model', 'gateway', 'stream', 'stream_options', 'store', 'n', 'messages', 'stop', 'logprobs', 'reasoning_effort'],
  ...['tools', 'tool_choice', 'functions', 'function_call', 'max_tokens', 'max_completion_tokens', 'response_format', 'verbosity'],
])

function unknownFieldsOf(body: JsonObject): JsonObject | undefined {
  const unknown = Object.entries(body).filter(
    ([field, value]) => !known.has(field) && value !== undefined && value !== null && !(field === 'modalities' && isTextOnly(value)),
  )
  return unknown.length > 0 ? Object.fromEntries(unknown) : undefined
}
