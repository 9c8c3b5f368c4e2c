import type { Quirks } from '../protocol/model.ts'
import { hostSurcharges } from './host-surcharges.ts'
import { rateLimits } from './rate-limit-headers.ts'
import { type VendorFactory, type VendorRow, vendor } from './vendor.ts'
import { oldMaxTokens, openaiOnlyFields, penalties, probabilities, thinkingType } from './vendor-quirks.ts'

// Hosts of other vendors' models, and third-party gateways.

const host = <const Id extends string>(row: VendorRow<Id>): VendorFactory<Id> => vendor({ ...row, isHost: true })

/** Models that search in every request, by the variant `:online` (openrouter.ai/docs, web search) or by themselves. */
const searchingQuirksOf = (model: string): Quirks | undefined =>
  /:online\b|^perplexity\/sonar|-search-(?:api|preview)/.test(model) ? { extends_prompt: true } : undefined

/**
 * OpenRouter. It adapts requests to its providers, so no field is dropped. Cache points go to text parts: openrouter.ai/docs, prompt
 * caching, 2026-11; it converts or ignores them for providers that cache on their own.
 */
export const openrouter = host({
  id: 'openrouter',
  display_name: 'OpenRouter',
  baseURL: 'https://openrouter.ai/api/v1',
  apiKeyVariables: ['OPENROUTER_API_KEY'],
  check: '/key',
  speaks: ['chat', 'responses', 'messages'],
  quirks: { ...oldMaxTokens, reasoning_field: 'reasoning', cache_marks: ['system', 'user', 'assistant', 'results'] },
  quirksOf: searchingQuirksOf,
})

/** Vercel AI Gateway: Chat Completions, Responses and Messages. Source: vercel.com/docs/ai-gateway, pi-ai 1.5.2, 2026-11. */
export const vercelAiGateway = host({
  id: 'vercel-ai-gateway',
  display_name: 'Vercel AI Gateway',
  baseURL: 'https://ai-gateway.vercel.sh/v1',
  apiKeyVariables: ['AI_GATEWAY_API_KEY'],
  speaks: ['chat', 'responses', 'messages'],
  quirks: { ...oldMaxTokens, reasoning_field: 'reasoning' },
  quirksOf: searchingQuirksOf,
})

/** Hugging Face router, which forwards to many hosts. Source: pi-ai 1.5.2, 2026-11. */
export const huggingface = host({
  id: 'huggingface',
  display_name: 'Hugging Face router',
  baseURL: 'https://router.huggingface.co/v1',
  apiKeyVariables: ['HF_TOKEN', 'HUGGINGFACE_API_KEY'],
  speaks: ['chat', 'responses'],
  quirks: oldMaxTokens,
})

/** SambaNova Cloud: Chat Completions and Messages. Source: docs.sambanova.ai, OpenAI compatibility, 2026-11. */
export const sambanova = host({
  id: 'sambanova',
  display_name: 'SambaNova',
  baseURL: 'https://api.sambanova.ai/v1',
  apiKeyVariables: ['SAMBANOVA_API_KEY'],
  speaks: ['chat', 'messages'],
  quirks: oldMaxTokens,
})

/** SiliconFlow, international. Source: docs.siliconflow.com, chat completions, 2026-11. */
export const siliconflow = host({
  id: 'siliconflow',
  display_name: 'SiliconFlow',
  baseURL: 'https://api.siliconflow.com/v1',
  apiKeyVariables: ['SILICONFLOW_API_KEY'],
  check: '/models',
  speaks: ['chat'],
  quirks: oldMaxTokens,
})

/** SiliconFlow in China. Source: docs.siliconflow.cn, 2026-11. */
export const siliconflowCn = host({
  id: 'siliconflow-cn',
  display_name: 'SiliconFlow (China)',
  baseURL: 'https://api.siliconflow.cn/v1',
  apiKeyVariables: ['SILICONFLOW_CN_API_KEY'],
  check: '/models',
  speaks: ['chat'],
  quirks: oldMaxTokens,
})

/** Deep Infra: Chat Completions and Messages. */
export const deepinfra = host({
  id: 'deepinfra',
  display_name: 'Deep Infra',
  baseURL: 'https://api.deepinfra.com/v1/openai',
  apiKeyVariables: ['DEEPINFRA_API_KEY', 'DEEPINFRA_TOKEN'],
  speaks: ['chat', 'messages'],
  paths: { messages: '../../anthropic/v1/messages' },
  data_policy: 'zdr',
  quirks: oldMaxTokens,
})

/** Nebius Token Factory: Chat Completions. */
export const nebius = host({
  id: 'nebius',
  display_name: 'Nebius Token Factory',
  baseURL: 'https://api.tokenfactory.nebius.com/v1',
  apiKeyVariables: ['NEBIUS_API_KEY'],
  check: '/models',
  speaks: ['chat'],
  data_policy: 'zdr',
  quirks: oldMaxTokens,
})

/** Novita AI: Chat Completions and Messages. Source: its model pages, 2026-11. */
export const novita = host({
  id: 'novita',
  display_name: 'Novita AI',
  baseURL: 'https://api.novita.ai/openai/v1',
  apiKeyVariables: ['NOVITA_API_KEY'],
  speaks: ['chat', 'messages'],
  paths: { messages: '../../anthropic/v1/messages' },
  data_policy: 'zdr',
  quirks: oldMaxTokens,
})

/** Baseten: Chat Completions. */
export const baseten = host({
  id: 'baseten',
  display_name: 'Baseten',
  baseURL: 'https://inference.baseten.co/v1',
  apiKeyVariables: ['BASETEN_API_KEY'],
  speaks: ['chat'],
  data_policy: 'zdr',
  quirks: oldMaxTokens,
})

/** NVIDIA NIM: Chat Completions. */
export const nvidia = host({
  id: 'nvidia',
  display_name: 'NVIDIA NIM',
  baseURL: 'https://integrate.api.nvidia.com/v1',
  apiKeyVariables: ['NVIDIA_API_KEY'],
  speaks: ['chat'],
  quirks: oldMaxTokens,
})

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
const groqOthers: Quirks = { earlier_reasoning: 'own' }
/** The first match wins. Compound models search and run code by themselves (console.groq.com/docs/compound, and recorded answers). */
const groqModels: readonly (readonly [id: RegExp, quirks: Quirks])[] = [
  [/qwen/, groqQwen],
  [/gpt-oss/, groqGptOss],
  [/^(groq\/)?compound/, { ...groqOthers, extends_prompt: true }],
]
/** Rejects unknown fields with a 400. */
export const groq = host({
  id: 'groq',
  display_name: 'Groq',
  baseURL: 'https://api.groq.com/openai/v1',
  apiKeyVariables: ['GROQ_API_KEY'],
  check: '/models',
  speaks: ['chat', 'responses'],
  data_policy: 'zdr',
  // The prompt cache keeps entries for two hours after their last read.
  quirks: {
    prompt_cache_ms: 7_200_000,
    refuses: groqRefuses,
    standard_tier: 'on_demand',
    priority_tier: 'performance',
    // Flex has higher limits at the usual price (console.groq.com/docs/flex-processing, read on 2026-11-28).
    flex_percent: 100,
    rate_limits: rateLimits.openai,
  },
  quirksOf: model => groqModels.find(([id]) => id.test(model))?.[1] ?? groqOthers,
})

/** Together AI: Chat Completions. */
export const together = host({
  id: 'together',
  display_name: 'Together AI',
  baseURL: 'https://api.together.ai/v1',
  apiKeyVariables: ['TOGETHER_API_KEY', 'TOGETHER_AI_API_KEY'],
  check: '/models',
  speaks: ['chat'],
  data_policy: 'zdr',
  hostSurcharges: hostSurcharges.together,
  quirks: {
    ...oldMaxTokens,
    reasoning_field: 'reasoning',
    thinking_switch: { on: { reasoning: { enabled: true } }, off: { reasoning: { enabled: false } } },
    rate_limits: rateLimits.together,
  },
})

/** Fireworks AI: Chat Completions, Responses and Messages. Source: developersdigest.tech/reference/api-compatibility/fireworks, 2026-11. */
export const fireworks = host({
  id: 'fireworks',
  display_name: 'Fireworks AI',
  baseURL: 'https://api.fireworks.ai/inference/v1',
  apiKeyVariables: ['FIREWORKS_API_KEY'],
  check: '/models',
  speaks: ['chat', 'responses', 'messages'],
  data_policy: 'zdr',
  quirks: {
    ...oldMaxTokens,
    efforts: ['low', 'medium', 'high'],
    reasoning_field: 'reasoning_content',
    thinking_switch: thinkingType,
    priority_tier: 'priority',
    rate_limits: rateLimits.fireworks,
  },
})

/** Cerebras: Chat Completions. */
export const cerebras = host({
  id: 'cerebras',
  display_name: 'Cerebras',
  baseURL: 'https://api.cerebras.ai/v1',
  apiKeyVariables: ['CEREBRAS_API_KEY'],
  check: '/models',
  speaks: ['chat'],
  data_policy: 'zdr',
  quirks: {
    efforts: ['none', 'low', 'medium', 'high'],
    reasoning_field: 'reasoning',
    refuses: [...openaiOnlyFields, 'top_k'],
    priority_tier: 'priority',
    rate_limits: rateLimits.cerebras,
  },
})
