import { GatewayError } from '../../errors/gateway-error.ts'
import { remember } from '../../protocol/original.ts'
import type { InferenceRequest, Prompt } from '../../protocol/request.ts'
import { isObject, type JsonObject } from '../../protocol/wire.ts'
import { flag, integer, list, number, object, oneOf, optional, type Read, refuse, required, stringMap, text } from '../field-readers.ts'
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

const top = (body: JsonObject): { readonly body: JsonObject; readonly path: string } => ({ body, path: '' })

function decodePrompt(body: JsonObject): Prompt {
  const place = top(body)
  const parallel_tool_calls = optional(place, 'parallel_tool_calls', flag)
  const old = optional(place, 'max_tokens', integer(1))
  const max_output_tokens = optional(place, 'max_completion_tokens', integer(1)) ?? old
  const effort = optional(place, 'reasoning_effort', efforts)
  const unknown = unknownFieldsOf(body)
  return {
    input: required(place, 'messages', decodeMessages),
    ...decodeTools(body),
    ...(parallel_tool_calls !== undefined && { parallel_tool_calls }),
    ...(max_output_tokens !== undefined && { max_output_tokens }),
    ...decodeSampling(body),
    ...decodeLogprobs(body),
    ...decodeFormat(body),
    ...(effort && { reasoning: { effort: effort === 'off' ? 'none' : effort } }),
    ...decodeAccount(body),
    ...(unknown && { native: { type: 'native', dialect, body: unknown } }),
  }
}

const efforts = oneOf('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'off')

type Sampling = Pick<Prompt, 'temperature' | 'top_p' | 'top_k' | 'frequency_penalty' | 'presence_penalty' | 'stop' | 'seed'>

function decodeSampling(body: JsonObject): Sampling {
  const place = top(body)
  const temperature = optional(place, 'temperature', number(0, 2))
  const top_p = optional(place, 'top_p', number(0, 1))
  const top_k = optional(place, 'top_k', integer())
  const frequency_penalty = optional(place, 'frequency_penalty', number())
  const presence_penalty = optional(place, 'presence_penalty', number())
  const stop = optional(place, 'stop', decodeStop)
  const seed = optional(place, 'seed', integer())
  return {
    ...(temperature !== undefined && { temperature }),
    ...(top_p !== undefined && { top_p }),
    ...(top_k !== undefined && { top_k }),
    ...(frequency_penalty !== undefined && { frequency_penalty }),
    ...(presence_penalty !== undefined && { presence_penalty }),
    ...(stop && stop.length > 0 && { stop }),
    ...(seed !== undefined && { seed }),
  }
}

const decodeStop: Read<readonly string[]> = (value, path) => (typeof value === 'string' ? [value] : list(text)(value, path))

function decodeLogprobs(body: JsonObject): Pick<Prompt, 'include' | 'top_logprobs'> {
  const wanted = optional(top(body), 'logprobs', flag)
  const top_logprobs = optional(top(body), 'top_logprobs', integer(0, 20))
  return { ...(wanted && { include: [wantsLogprobs] }), ...(top_logprobs !== undefined && { top_logprobs }) }
}

const accountFields = ['user', 'safety_identifier', 'prompt_cache_key', 'service_tier'] as const satisfies readonly (keyof Prompt)[]

/** The user, the tier, and fields for one provider alone. */
function decodeAccount(body: JsonObject): Pick<Prompt, (typeof accountFields)[number] | 'metadata' | 'extensions'> {
  const place = top(body)
  const metadata = optional(place, 'metadata', stringMap())
  const extensions = optional(place, 'extensions', object)
  const named = accountFields.flatMap(field => {
    const value = optional(place, field, text)
    return value === undefined ? [] : [[field, value] as const]
  })
  return { ...Object.fromEntries(named), ...(metadata && { metadata }), ...(extensions && { extensions }) }
}

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
  'model',
  'gateway',
  'stream',
  'stream_options',
  'store',
  'n',
  'messages',
  'tools',
  'tool_choice',
  'functions',
  'function_call',
  'parallel_tool_calls',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'top_k',
  'frequency_penalty',
  'presence_penalty',
  'stop',
  'seed',
  'logprobs',
  'top_logprobs',
  'response_format',
  'verbosity',
  'reasoning_effort',
  ...accountFields,
  'metadata',
  'extensions',
])

function unknownFieldsOf(body: JsonObject): JsonObject | undefined {
  const unknown = Object.entries(body).filter(
    ([field, value]) => !known.has(field) && value !== undefined && value !== null && !(field === 'modalities' && isTextOnly(value)),
  )
  return unknown.length > 0 ? Object.fromEntries(unknown) : undefined
}
