import { completed, endedFor, failed } from '../common/answer-failures.ts'
import type { ResponseHead } from '../common/item-assembler.ts'
import { objects, stringOf } from '../common/json.ts'
import { isCounted, readUsage, withTier } from '../common/usage.ts'
import type { UsageFields } from '../common/usage-fields.ts'
import { originalOf } from '../protocol/original.ts'
import type { Outcome } from '../protocol/response.ts'
import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'

export const dialect = 'chat'

export const originalBody = (decoded: object): JsonObject | undefined => {
  const original = originalOf(decoded)
  return original?.dialect === dialect ? original.body : undefined
}

export const without = (body: JsonObject, fields: ReadonlySet<string>): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([field]) => !fields.has(field)))

/** Message fields that hold reasoning, plain or sealed. */
export const reasoningFields: ReadonlySet<string> = new Set(['reasoning_content', 'reasoning', 'reasoning_details', 'extra_content'])

/** Decoded fields of a message or delta; others are passed through. */
export const messageFields: ReadonlySet<string> = new Set([
  ...reasoningFields,
  'role',
  'content',
  'text',
  'refusal',
  'annotations',
  'images',
  'tool_calls',
  'function_call',
])

/** Finish reasons of complete responses: OpenAI's, then those of other hosts. */
const completeReasons = [
  ...['stop', 'tool_calls', 'function_call'],
  ...['eos', 'eos_token', 'end_turn', 'stop_sequence', 'tool_use', 'tool_call', 'complete', 'done'],
]

/** Outcomes by finish reason. Z.AI's own are `model_context_window_exceeded`, `sensitive` and `network_error` (docs.z.ai, Chat Completion, 2026-11). */
const outcomes: ReadonlyMap<string, Outcome> = new Map<string, Outcome>([
  ...completeReasons.map(reason => [reason, completed] as const),
  ['length', { status: 'incomplete', reason: 'max_output_tokens' }],
  ['model_length', { status: 'incomplete', reason: 'max_output_tokens' }],
  ['max_tokens', { status: 'incomplete', reason: 'max_output_tokens' }],
  ['model_context_window_exceeded', { status: 'incomplete', reason: 'max_output_tokens' }],
  ['content_filter', { status: 'incomplete', reason: 'content_filter' }],
  ['sensitive', { status: 'incomplete', reason: 'content_filter' }],
  ['error', failed({ kind: 'server_error', message: 'The provider ended the response with an error.' })],
  ['network_error', failed({ kind: 'server_error', message: 'The provider ended the response with a network error.' })],
  ['abort', failed({ kind: 'server_error', message: 'The provider aborted the response.' })],
  ['insufficient_system_resource', failed({ kind: 'overloaded', message: 'The provider ended the response for lack of resources.' })],
])

export const outcomeOf = (reason: string): Outcome => {
  const lower = reason.toLowerCase()
  return outcomes.get(lower) ?? endedFor(lower)
}

/** The choice that is decoded: number 0, or the only one without a number. */
export const firstChoice = (body: JsonObject): JsonObject | undefined => objects(body.choices).find(isFirst)

const isFirst = ({ index }: JsonObject): boolean => index === undefined || index === null || index === 0

/** A field inside an object with a name such as `x_vendor`, where some providers put fields that belong elsewhere. */
export function vendorField(body: JsonObject, field: string): Json | undefined {
  for (const key in body) {
    const extras = key.startsWith('x_') ? body[key] : undefined
    if (isObject(extras) && extras[field] !== undefined && extras[field] !== null) return extras[field]
  }
  return undefined
}

/** The usage object: at the top level, in a vendor's own object, or in the choice. */
export function usageIn(body: JsonObject, choice: JsonObject | undefined): Json | undefined {
  if (isObject(body.usage)) return body.usage
  const elsewhere = vendorField(body, 'usage') ?? choice?.usage
  return isObject(elsewhere) ? elsewhere : undefined
}

export const usageFields: UsageFields = {
  input: ['prompt_tokens', 'input_tokens'],
  output: ['completion_tokens', 'output_tokens'],
  cached: ['prompt_tokens_details.cached_tokens', 'prompt_cache_hit_tokens', 'cached_tokens', 'num_cached_tokens'],
  cacheWrite: [
    'prompt_tokens_details.cache_write_tokens',
    'prompt_tokens_details.cache_creation_tokens',
    'prompt_tokens_details.cache_creation_input_tokens',
  ],
  reasoning: ['completion_tokens_details.reasoning_tokens', 'reasoning_tokens'],
  audio: ['prompt_tokens_details.audio_tokens'],
  unbilled: {
    prompt_cache_miss_tokens: 'the rest of the prompt (DeepSeek)',
    'prompt_tokens_details.text_tokens': 'a part of the prompt, at the input price',
    'prompt_tokens_details.image_tokens': 'a part of the prompt, at the input price',
    'prompt_tokens_details.video_tokens': 'a part of the prompt, at the input price',
    'prompt_tokens_details.cache_creation': 'cache_creation_input_tokens by lifetime (Alibaba)',
    'prompt_tokens_details.cache_type': 'the lifetime of the cache (Alibaba)',
    'completion_tokens_details.text_tokens': 'a part of the completion, at the output price',
    'completion_tokens_details.image_tokens': 'a part of the completion, at the output price',
    'completion_tokens_details.audio_tokens': 'a part of the completion; no offer writes audio',
    'completion_tokens_details.accepted_prediction_tokens': 'a part of the completion, at the output price',
    'completion_tokens_details.rejected_prediction_tokens': 'a part of the completion, at the output price',
    cost: 'the bill of the vendor itself',
    cost_details: 'the bill of the vendor itself',
    cost_in_usd_ticks: 'the bill of the vendor itself (xAI)',
    estimated_cost: 'the bill of the vendor itself (Deep Infra)',
    is_byok: 'whose key paid (OpenRouter)',
    num_sources_used: 'sources of Live Search, which xAI ended in January 2026',
    num_search_queries: 'searches of Perplexity, whose Chat Completions ended on 2026-09-27',
    citation_tokens: 'citations of Perplexity, whose Chat Completions ended on 2026-09-27',
    search_context_size: 'a setting of the search (Perplexity)',
    request_count: 'always 1 (Mistral)',
    prompt_audio_seconds: 'the length of audio, whose tokens are in the prompt (Mistral)',
    queue_time: 'seconds (Groq)',
    prompt_time: 'seconds (Groq)',
    completion_time: 'seconds (Groq)',
    total_time: 'seconds (Groq)',
  },
}

/** Decodes token counts. `tier`: the response's `service_tier`. */
export function countUsage(wire: Json | undefined, answered: boolean, tier: Json | undefined): ReturnType<typeof readUsage> {
  const usage = readUsage(wire, usageFields)
  return isCounted(usage, answered) ? withTier(usage, tier) : undefined
}

export const headOf = ({ id, model, created }: JsonObject): ResponseHead => ({
  id: stringOf(id),
  model: stringOf(model),
  created_at: typeof created === 'number' && created >= 0 && created < 1e11 ? Math.floor(created) : 0,
})
