import type { Quirks } from '../protocol/model.ts'
import { hostSurcharges } from './host-surcharges.ts'
import { rateLimits } from './rate-limits.ts'
import { vendor } from './vendor.ts'

// Vendors with an API compatible with OpenAI's. `refuses` lists fields that the vendor rejects or ignores: both give the client a warning.
// Fields whose support is uncertain are sent, and the vendor decides.

const chat = ['chat'] as const
/** Most vendors only support the old name of the output limit. */
export const oldCap: Quirks = { max_tokens_field: 'max_tokens' }
/** Penalties, which many vendors ignore. */
export const penalties = ['frequency_penalty', 'presence_penalty']
const probabilities = ['logprobs', 'top_logprobs']
/** Fields that only OpenAI has. Hosts that validate every field reject them. */
const openaiOnlyFields = ['safety_identifier', 'verbosity', 'store']
/** The reasoning switch that most vendors of reasoning models use. */
export const thinkingType = { on: { thinking: { type: 'enabled' } }, off: { thinking: { type: 'disabled' } } }

const groqRefuses = [
  ...penalties,
  ...probabilities,
  ...openaiOnlyFields,
  'logit_bias',
  'n',
  'top_k',
  'prompt_cache_key',
  'truncation',
  'include',
]
/** Without `reasoning_format`, Qwen writes its reasoning into the text. It has no effort levels. */
const groqQwen: Quirks = {
  fixed_fields: { reasoning_format: 'parsed' },
  thinking_switch: { on: { reasoning_effort: 'default' }, off: { reasoning_effort: 'none' } },
  thinking: ['toggle'],
  reasoning_field: 'reasoning',
}
const groqGptOss: Quirks = { efforts: ['low', 'medium', 'high'], reasoning_field: 'reasoning' }
/** Rejects unknown fields with a 400. */
export const groq = vendor({
  id: 'groq',
  display_name: 'Groq',
  baseUrl: 'https://api.groq.com/openai/v1',
  check: '/models',
  speaks: ['chat', 'responses'],
  data_policy: 'zdr',
  // The prompt cache keeps entries for two hours after their last read.
  quirks: { prompt_cache_ms: 7_200_000, refuses: groqRefuses, priority_tier: 'performance', rate_limits: rateLimits.openai },
  quirksOf: model => (/qwen/.test(model) ? groqQwen : /gpt-oss/.test(model) ? groqGptOss : { earlier_reasoning: 'own' }),
})

/** Rejects unknown fields with a 422, including `stream_options`. Streams always include usage. */
export const mistral = vendor({
  id: 'mistral',
  display_name: 'Mistral',
  baseUrl: 'https://api.mistral.ai/v1',
  check: '/models',
  speaks: chat,
  data_policy: 'no_training',
  quirks: {
    ...oldCap,
    refuses: [...probabilities, ...openaiOnlyFields, 'logit_bias', 'top_k', 'user'],
    seed_field: 'random_seed',
    required_tool_choice: 'any',
    call_id_length: 9,
    earlier_reasoning: 'own',
    no_stream_options: true,
    rate_limits: rateLimits.mistral,
  },
})

/** Reasons by default. */
const deepseekV4: Quirks = {
  efforts: ['low', 'high', 'max'],
  sampling: 'unless_thinking',
  thinking_switch: thinkingType,
}
/** DeepSeek: Chat Completions, Responses and Messages. Reasons by default. Source: api-docs.deepseek.com, pricing, 2026-11. */
export const deepseek = vendor({
  id: 'deepseek',
  display_name: 'DeepSeek',
  baseUrl: 'https://api.deepseek.com',
  check: '/models',
  speaks: ['chat', 'responses', 'messages'],
  paths: { messages: '/anthropic/v1/messages' },
  data_policy: 'may_train',
  // Strict tools exist only at another base URL.
  // The prompt cache is on disk and lasts for hours; one hour is the minimum.
  quirks: { ...oldCap, prompt_cache_ms: 3_600_000, no_json_schema: true, refuses: [...penalties, 'top_k', 'seed', 'strict'] },
  quirksOf: model => (/v4|^deepseek-(flash|pro)/.test(model) ? deepseekV4 : /reasoner|r1/.test(model) ? { sampling: 'none' } : undefined),
})

/** Models reason unless their name says `non-reasoning`. Reasoning models reject penalties and `stop`. */
export const xai = vendor({
  id: 'xai',
  display_name: 'xAI',
  baseUrl: 'https://api.x.ai/v1',
  check: '/models',
  speaks: ['responses', 'chat'],
  data_policy: 'no_training',
  hostSurcharges: hostSurcharges.xai,
  quirks: { refuses: ['top_k', ...penalties, 'stop'], priority_tier: 'priority', rate_limits: rateLimits.openai },
  quirksOf: model => (/non-reasoning/.test(model) ? { refuses: ['top_k'] } : undefined),
})

/** Together AI: Chat Completions. */
export const together = vendor({
  id: 'together',
  display_name: 'Together AI',
  baseUrl: 'https://api.together.ai/v1',
  check: '/models',
  speaks: chat,
  data_policy: 'zdr',
  hostSurcharges: hostSurcharges.together,
  quirks: {
    ...oldCap,
    reasoning_field: 'reasoning',
    thinking_switch: { on: { reasoning: { enabled: true } }, off: { reasoning: { enabled: false } } },
    rate_limits: rateLimits.together,
  },
})

/** Fireworks AI: Chat Completions, Responses and Messages. Source: developersdigest.tech/reference/api-compatibility/fireworks, 2026-11. */
export const fireworks = vendor({
  id: 'fireworks',
  display_name: 'Fireworks AI',
  baseUrl: 'https://api.fireworks.ai/inference/v1',
  check: '/models',
  speaks: ['chat', 'responses', 'messages'],
  data_policy: 'zdr',
  quirks: {
    ...oldCap,
    efforts: ['low', 'medium', 'high'],
    reasoning_field: 'reasoning_content',
    thinking_switch: thinkingType,
    priority_tier: 'priority',
    rate_limits: rateLimits.fireworks,
  },
})

/** Cerebras: Chat Completions. */
export const cerebras = vendor({
  id: 'cerebras',
  display_name: 'Cerebras',
  baseUrl: 'https://api.cerebras.ai/v1',
  check: '/models',
  speaks: chat,
  data_policy: 'zdr',
  quirks: {
    efforts: ['none', 'low', 'medium', 'high'],
    reasoning_field: 'reasoning',
    refuses: [...openaiOnlyFields, 'top_k'],
    priority_tier: 'priority',
    rate_limits: rateLimits.cerebras,
  },
})

/** Meta Model API: Responses and Chat Completions. */
export const meta = vendor({
  id: 'meta',
  display_name: 'Meta Model API',
  baseUrl: 'https://api.meta.ai/v1',
  speaks: ['responses', 'chat'],
  data_policy: 'no_training',
})

/** Perplexity's Agent API, which follows the Responses API. It replaced Chat Completions on 2026-09-27. */
export const perplexity = vendor({
  id: 'perplexity',
  display_name: 'Perplexity',
  baseUrl: 'https://api.perplexity.ai/v1',
  speaks: ['responses'],
  quirks: { refuses: ['stop', 'seed'] },
})

/** Cohere's compatibility API, whose documentation lists the unsupported fields. Reasoning is on or off, without levels. */
export const cohere = vendor({
  id: 'cohere',
  display_name: 'Cohere',
  baseUrl: 'https://api.cohere.ai/compatibility/v1',
  speaks: chat,
  data_policy: 'no_training',
  quirks: {
    ...oldCap,
    efforts: ['none', 'high'],
    refuses: ['logit_bias', 'top_logprobs', 'n', 'service_tier', 'parallel_tool_calls', 'store', 'metadata'],
  },
})
