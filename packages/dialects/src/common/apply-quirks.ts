import type { Quirks } from '../protocol/model.ts'
import type { Effort } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'

// Adapts an encoded body to the quirks of an offer. Every dropped field gets a warning.

export const unsupported = (param: string, message: string): Warning => ({ code: 'unsupported_parameter', message, param })

const contentLostCode = 'content_lost'

/** A part of the conversation that a dialect cannot represent. A request that would lose one is not sent. */
export const contentLost = (param: string, message: string): Warning => ({ code: contentLostCode, message, param })

/** Whether a warning says that a part of the conversation would be lost. */
export const isContentLost = ({ code }: Warning): boolean => code === contentLostCode

export interface Encoded {
  readonly body: JsonObject
  readonly warnings: readonly Warning[]
}

/** Default values of fields. Dropping a field with its default value changes nothing, so it gets no warning. */
export const defaults: ReadonlyMap<string, Json> = new Map<string, Json>([
  ['temperature', 1],
  ['top_p', 1],
  ['frequency_penalty', 0],
  ['presence_penalty', 0],
  ['logprobs', false],
  ['top_logprobs', 0],
  ['n', 1],
  ['store', false],
  ['verbosity', 'medium'],
  ['parallel_tool_calls', true],
  ['tool_choice', 'auto'],
  ['service_tier', 'auto'],
  ['truncation', 'disabled'],
])

/** Removes the fields that the offer refuses. `warningNames`: names to use in warnings for fields with another name in a prompt. */
export function dropRefused({ body, warnings }: Encoded, quirks: Quirks, warningNames?: ReadonlyMap<string, string>): Encoded {
  const refused = (quirks.refuses ?? []).filter(field => body[field] !== undefined)
  if (refused.length === 0) return { body, warnings }
  const gone = new Set(refused)
  const lost = refused.filter(field => body[field] !== null && body[field] !== defaults.get(field))
  return {
    body: Object.fromEntries(Object.entries(body).filter(([field]) => !gone.has(field))),
    warnings: [
      ...warnings,
      ...[...new Set(lost.map(field => warningNames?.get(field) ?? field))].map(param =>
        unsupported(param, `\`${param}\` is not supported by this provider and was left out.`),
      ),
    ],
  }
}

/**
 * Names of the output cap at some server or other. The hold covers the cap that the gateway sends, so no other may reach a server that
 * reads it. Hugging Face, Ollama, llama.cpp, Meta on Bedrock, Amazon Titan, Anthropic's text completions, Cohere.
 */
const outputCaps: readonly string[] = [
  ...['max_output_tokens', 'max_completion_tokens', 'max_tokens', 'maxOutputTokens', 'maxTokens', 'maxTokenCount', 'max_tokens_to_sample'],
  ...['max_new_tokens', 'max_length', 'max_gen_len', 'max_decode_tokens', 'n_predict', 'num_predict', 'num_tokens_to_generate'],
]

const plainName = (field: string): string => field.replaceAll(/[_-]/g, '').toLowerCase()
const plainCaps: ReadonlySet<string> = new Set(outputCaps.map(plainName))

/**
 * Removes the output caps inside a value that is sent as the client wrote it, and adds their paths to `dropped`. A property of a JSON Schema
 * with such a name is an object, and stays.
 */
export function withoutOutputCaps(value: Json, path: string, dropped: string[]): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map((each, at) => withoutOutputCaps(each, `${path}[${at}]`, dropped))
  if (!isObject(value)) return value
  const kept: (readonly [string, Json])[] = []
  for (const [field, inner] of Object.entries(value)) {
    const place = path === '' ? field : `${path}.${field}`
    if (inner === undefined) continue
    if (!isObject(inner) && plainCaps.has(plainName(field))) dropped.push(place)
    else kept.push([field, withoutOutputCaps(inner, place, dropped)])
  }
  return Object.fromEntries(kept)
}

/** Fields that decide which provider is paid and how much, what is stored, or how the response is sent. Only the gateway sets them. */
const gatewayFields: ReadonlySet<string> = new Set([
  'model',
  'models',
  'fallbacks',
  // Routing fields of providers that are gateways themselves.
  'provider',
  'route',
  // `providerOptions.gateway` of Vercel AI Gateway: models and order. Presets of OpenRouter and Perplexity: model, provider and tools.
  'providerOptions',
  'provider_options',
  'preset',
  // Fields that a server merges into the body.
  'extra_body',
  'extraBody',
  'stream',
  'stream_options',
  'store',
  'background',
  'previous_response_id',
  'conversation',
  'gateway',
  'extensions',
  // The hold covers this prompt, and one response of a known length at a known price.
  'input',
  'messages',
  'contents',
  'instructions',
  'system',
  'systemInstruction',
  'system_instruction',
  'tools',
  'functions',
  'toolConfig',
  'tool_config',
  'cachedContent',
  'cached_content',
  'prompt',
  ...outputCaps,
  'n',
  'best_of',
  'service_tier',
  'serviceTier',
  'speed',
  'inference_geo',
  'performanceConfig',
])

/** Whether only the gateway sets this body field. */
export const isGatewayField = (field: string): boolean => gatewayFields.has(field)

/**
 * Removes fields that only the gateway sets from a caller's body, because a provider may be a gateway itself. `own`: fields of the
 * provider's dialect, which are set elsewhere.
 */
export function dropGatewayFields({ body, warnings }: Encoded, own: ReadonlySet<string>): Encoded {
  const gone = Object.keys(body).filter(field => gatewayFields.has(field) && !own.has(field))
  if (gone.length === 0) return { body, warnings }
  return {
    body: Object.fromEntries(Object.entries(body).filter(([field]) => !gone.includes(field))),
    warnings: [...warnings, ...gone.map(field => unsupported(field, `\`${field}\` is set by the gateway and was left out.`))],
  }
}

/** Merges the caller's parameters for this provider, after all other fields. */
export function extend({ body, warnings }: Encoded, extensions: JsonObject | undefined): Encoded {
  if (!extensions) return { body, warnings }
  const kept = Object.entries(extensions).filter(([field]) => !gatewayFields.has(field))
  const held = Object.keys(extensions).filter(field => gatewayFields.has(field))
  return {
    body: { ...body, ...Object.fromEntries(kept) },
    warnings: [
      ...warnings,
      ...held.map(field => unsupported(`extensions.${field}`, `\`${field}\` is set by the gateway; the extension was left out.`)),
    ],
  }
}

const ladder: readonly Effort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

/**
 * The effort itself, else the next lower one that the offer supports, else the next higher. `none` does not count as lower: it disables
 * reasoning.
 */
export function nearestEffort(
  effort: Effort,
  known: readonly string[] | undefined,
): { readonly effort?: Effort; readonly warnings: readonly Warning[] } {
  if (!known || known.includes(effort)) return { effort, warnings: [] }
  const rung = ladder.indexOf(effort)
  const isKnown = (each: Effort): boolean => known.includes(each)
  const near = ladder.slice(1, Math.max(rung, 1)).findLast(isKnown) ?? ladder.slice(rung + 1).find(isKnown) ?? ladder.find(isKnown)
  const param = 'reasoning.effort'
  if (near === undefined) return { warnings: [unsupported(param, 'This model does not support `reasoning.effort`; it was left out.')] }
  return {
    effort: near,
    warnings: [unsupported(param, `Reasoning effort "${effort}" is not supported by this model; "${near}" was used.`)],
  }
}
