import { earlierItem } from '../common/earlier-answers.ts'
import {
  anyText,
  arrayOf,
  booleanValue,
  integerBetween,
  numberBetween,
  objectValue,
  optional,
  type Read,
  refuse,
  required,
  stringMap,
} from '../common/field-readers.ts'
import { readRouting } from '../common/routing-options.ts'
import { customToolNames } from '../common/tool-groups.ts'
import { GatewayError } from '../errors/gateway-error.ts'
import type { FunctionCallItem, Item } from '../protocol/item.ts'
import { originalOf, remember } from '../protocol/original.ts'
import type { InferenceRequest, Prompt } from '../protocol/request.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'
import { decodeInput } from './decode-items.ts'
import { decodeReasoningOptions, decodeTextOptions, decodeTool, decodeToolChoice } from './decode-options.ts'
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
    delivery: optional({ body, path: '' }, 'stream', booleanValue) ? 'stream' : 'whole',
    metadata,
  }
  return remember(request, { dialect, body })
}

/** Fields of the body that are part of the prompt, by name. */
const promptFields: ReadonlyMap<string, Read<unknown>> = new Map(
  Object.entries({
    input: decodeInput,
    instructions: anyText,
    tools: arrayOf(decodeTool),
    tool_choice: decodeToolChoice,
    parallel_tool_calls: booleanValue,
    max_output_tokens: integerBetween(1),
    max_tool_calls: integerBetween(1),
    temperature: numberBetween(0, 2),
    top_p: numberBetween(0, 1),
    top_k: integerBetween(),
    top_logprobs: integerBetween(0, 20),
    frequency_penalty: numberBetween(),
    presence_penalty: numberBetween(),
    text: decodeTextOptions,
    reasoning: decodeReasoningOptions,
    truncation: anyText,
    metadata: stringMap(),
    include: arrayOf(anyText),
    user: anyText,
    safety_identifier: anyText,
    prompt_cache_key: anyText,
    service_tier: anyText,
    extensions: objectValue,
  } satisfies { readonly [Field in Exclude<keyof Prompt, 'native' | 'stop' | 'seed'>]-?: Read<Required<Prompt>[Field]> }),
)

/** Fields that need stored responses. Absent, null and false mean the same. */
const stateful: ReadonlySet<string> = new Set(['previous_response_id', 'conversation', 'background', 'prompt'])
/** Fields that are read elsewhere, or have no effect here. */
const otherFields: ReadonlySet<string> = new Set(['model', 'gateway', 'stream', 'stream_options', 'store', ...stateful])

const promptAsText = '`prompt` is a stored prompt, which is not supported. The text of a request is its `input`: write `"input"` instead.'

function checkEnvelope(body: JsonObject): void {
  for (const key of stateful) {
    const value = body[key]
    if (value === undefined || value === null || value === false) continue
    if (key === 'prompt' && typeof value === 'string') refuse('unknown_parameter', promptAsText, key)
    refuse('unknown_parameter', `\`${key}\` is not supported: this gateway does not store responses. Send the conversation in full.`, key)
  }
  if (optional({ body, path: '' }, 'store', booleanValue) === true) {
    refuse('invalid_parameter_value', '`store` must be false or omitted: this gateway does not store responses.', 'store')
  }
  optional({ body, path: '' }, 'stream_options', objectValue)
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
  const decoded = prompt as unknown as Prompt
  return decoded.input.some(isCustomCall) ? withoutHostedCalls(decoded) : decoded
}

/** A custom call without a result, of a tool that the request does not offer, was run by a provider: it is a record of an earlier answer. */
function withoutHostedCalls(prompt: Prompt): Prompt {
  const { input } = prompt
  const offered = customToolNames(prompt)
  const answered = new Set(input.flatMap(item => (item.type === 'function_call_output' ? [item.call_id] : [])))
  const isHosted = (item: Item): boolean => isCustomCall(item) && !offered.has(item.name) && !answered.has(item.call_id)
  if (!input.some(isHosted)) return prompt
  return {
    ...prompt,
    input: input.map(item => {
      const original = isHosted(item) ? originalOf(item) : undefined
      return original ? remember<Item>(earlierItem(dialect, original.body), original) : item
    }),
  }
}

const isCustomCall = (item: Item): item is FunctionCallItem => item.type === 'function_call' && item.custom === true
