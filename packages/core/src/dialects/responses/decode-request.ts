import { GatewayError } from '../../errors/gateway-error.ts'
import { remember } from '../../protocol/original.ts'
import type { InferenceRequest, Prompt } from '../../protocol/request.ts'
import { isObject, type Json, type JsonObject } from '../../protocol/wire.ts'
import { flag, integer, list, number, object, optional, type Read, refuse, required, stringMap, text } from '../field-readers.ts'
import { readRouting } from '../routing-options.ts'
import { decodeInput } from './decode-items.ts'
import { decodeReasoningOptions, decodeTextOptions, decodeTool, decodeToolChoice } from './decode-options.ts'
import { dialect } from './wire.ts'

// What a caller may send, field by field. Decoded values remember the wire objects that they came from, so nothing unknown is
// lost on the way to a provider of the same language.

export function decodeRequest(body: JsonObject): InferenceRequest {
  if (!isObject(body)) throw new GatewayError('invalid_request', { message: 'The body must be a JSON object.', param: 'body' })
  checkEnvelope(body)
  const { routing, metadata } = readRouting(body)
  const request: InferenceRequest = {
    prompt: decodePrompt(body),
    routing,
    delivery: optional({ body, path: '' }, 'stream', flag) ? 'stream' : 'whole',
    ...(metadata && { metadata }),
  }
  return remember(request, { dialect, body })
}

/** Fields of the body that are part of the prompt, by name. */
const promptFields: ReadonlyMap<string, Read<unknown>> = new Map(
  Object.entries({
    input: decodeInput,
    instructions: text,
    tools: list(decodeTool),
    tool_choice: decodeToolChoice,
    parallel_tool_calls: flag,
    max_output_tokens: integer(1),
    max_tool_calls: integer(1),
    temperature: number(0, 2),
    top_p: number(0, 1),
    top_k: integer(),
    top_logprobs: integer(0, 20),
    frequency_penalty: number(),
    presence_penalty: number(),
    text: decodeTextOptions,
    reasoning: decodeReasoningOptions,
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

/** Fields that need stored answers. Absent, null and false mean the same. */
const stateful: ReadonlySet<string> = new Set(['previous_response_id', 'conversation', 'background', 'prompt'])
/** Fields that are read elsewhere, or have no effect here. */
const otherFields: ReadonlySet<string> = new Set(['model', 'gateway', 'stream', 'stream_options', 'store', ...stateful])

function checkEnvelope(body: JsonObject): void {
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

function decodePrompt(body: JsonObject): Prompt {
  const prompt: Record<string, unknown> = { input: required({ body, path: '' }, 'input', decodeInput) }
  const unknown: [string, Json][] = []
  for (const key of Object.keys(body)) {
    const value = body[key]
    if (value === undefined || value === null || key === 'input' || otherFields.has(key)) continue
    const decode = promptFields.get(key)
    if (decode) prompt[key] = decode(value, key)
    else unknown.push([key, value])
  }
  if (unknown.length > 0) prompt.native = { type: 'native', dialect, body: Object.fromEntries(unknown) }
  return prompt as unknown as Prompt
}
