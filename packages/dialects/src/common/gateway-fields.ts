import { isObject, type Json } from '../protocol/wire.ts'

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
  if (Array.isArray(value)) return (value as readonly Json[]).map((each, index) => withoutOutputCaps(each, `${path}[${index}]`, dropped))
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
