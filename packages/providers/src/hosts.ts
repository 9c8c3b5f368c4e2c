import type { Quirks } from '@signalbox/dialects/protocol'
import { hostSurcharges } from './host-surcharges.ts'
import { rateLimits } from './rate-limit-headers.ts'
import { type VendorFactory, type VendorRow, vendor } from './vendor.ts'
import { oldMaxTokens, openaiOnlyFields, penalties, probabilities, thinkingType } from './vendor-quirks.ts'

// Hosts of other vendors' models, and third-party gateways.

const host = <const Id extends string>(row: VendorRow<Id>): VendorFactory<Id> => vendor({ ...row, isHost: true })

/** Models that search in every request, by the variant `:online` (openrouter.ai/docs, web search) or by themselves. */
const searchingQuirksOf = (model: string): Quirks | undefined =>
  /:online\b|^perplexity\/sonar|-search-(?:api|preview)/.test(model) ? { extendsPrompt: true } : undefined

/**
 * OpenRouter. It adapts requests to its providers, so no field is dropped. Cache points go to text parts: openrouter.ai/docs, prompt
 * caching, 2026-11; it converts or ignores them for providers that cache on their own.
 */
export const openrouter = host({
  id: 'openrouter',
  displayName: 'OpenRouter',
  baseURL: 'https://openrouter.ai/api/v1',
  apiKeyVariables: ['OPENROUTER_API_KEY'],
  check: '/key',
  apis: ['chat', 'responses', 'messages'],
  quirks: { ...oldMaxTokens, reasoningField: 'reasoning', cacheMarks: ['system', 'user', 'assistant', 'results'] },
  quirksOf: searchingQuirksOf,
})

/** Vercel AI Gateway: Chat Completions, Responses and Messages. Source: vercel.com/docs/ai-gateway, pi-ai 1.5.2, 2026-11. */
export const vercelAiGateway = host({
  id: 'vercel-ai-gateway',
  displayName: 'Vercel AI Gateway',
  baseURL: 'https://ai-gateway.vercel.sh/v1',
  apiKeyVariables: ['AI_GATEWAY_API_KEY'],
  apis: ['chat', 'responses', 'messages'],
  quirks: { ...oldMaxTokens, reasoningField: 'reasoning' },
  quirksOf: searchingQuirksOf,
})

/** Hugging Face router, which forwards to many hosts. Source: pi-ai 1.5.2, 2026-11. */
export const huggingface = host({
  id: 'huggingface',
  displayName: 'Hugging Face router',
  baseURL: 'https://router.huggingface.co/v1',
  apiKeyVariables: ['HF_TOKEN', 'HUGGINGFACE_API_KEY'],
  apis: ['chat', 'responses'],
  quirks: oldMaxTokens,
})

/** SambaNova Cloud: Chat Completions and Messages. Source: docs.sambanova.ai, OpenAI compatibility, 2026-11. */
export const sambanova = host({
  id: 'sambanova',
  displayName: 'SambaNova',
  baseURL: 'https://api.sambanova.ai/v1',
  apiKeyVariables: ['SAMBANOVA_API_KEY'],
  apis: ['chat', 'messages'],
  quirks: oldMaxTokens,
})

/** SiliconFlow, international. Source: docs.siliconflow.com, chat completions, 2026-11. */
export const siliconflow = host({
  id: 'siliconflow',
  displayName: 'SiliconFlow',
  baseURL: 'https://api.siliconflow.com/v1',
  apiKeyVariables: ['SILICONFLOW_API_KEY'],
  check: '/models',
  apis: ['chat'],
  quirks: oldMaxTokens,
})

/** SiliconFlow in China. Source: docs.siliconflow.cn, 2026-11. */
export const siliconflowCn = host({
  id: 'siliconflow-cn',
  displayName: 'SiliconFlow (China)',
  baseURL: 'https://api.siliconflow.cn/v1',
  apiKeyVariables: ['SILICONFLOW_CN_API_KEY'],
  check: '/models',
  apis: ['chat'],
  quirks: oldMaxTokens,
})

/** Deep Infra: Chat Completions and Messages. */
export const deepinfra = host({
  id: 'deepinfra',
  displayName: 'Deep Infra',
  baseURL: 'https://api.deepinfra.com/v1/openai',
  apiKeyVariables: ['DEEPINFRA_API_KEY', 'DEEPINFRA_TOKEN'],
  apis: ['chat', 'messages'],
  paths: { messages: '../../anthropic/v1/messages' },
  dataPolicy: 'zdr',
  quirks: oldMaxTokens,
})

/** Nebius Token Factory: Chat Completions. */
export const nebius = host({
  id: 'nebius',
  displayName: 'Nebius Token Factory',
  baseURL: 'https://api.tokenfactory.nebius.com/v1',
  apiKeyVariables: ['NEBIUS_API_KEY'],
  check: '/models',
  apis: ['chat'],
  dataPolicy: 'zdr',
  quirks: oldMaxTokens,
})

/** Novita AI: Chat Completions and Messages. Source: its model pages, 2026-11. */
export const novita = host({
  id: 'novita',
  displayName: 'Novita AI',
  baseURL: 'https://api.novita.ai/openai/v1',
  apiKeyVariables: ['NOVITA_API_KEY'],
  apis: ['chat', 'messages'],
  paths: { messages: '../../anthropic/v1/messages' },
  dataPolicy: 'zdr',
  quirks: oldMaxTokens,
})

/** Baseten: Chat Completions. */
export const baseten = host({
  id: 'baseten',
  displayName: 'Baseten',
  baseURL: 'https://inference.baseten.co/v1',
  apiKeyVariables: ['BASETEN_API_KEY'],
  apis: ['chat'],
  dataPolicy: 'zdr',
  quirks: oldMaxTokens,
})

/** NVIDIA NIM: Chat Completions. */
export const nvidia = host({
  id: 'nvidia',
  displayName: 'NVIDIA NIM',
  baseURL: 'https://integrate.api.nvidia.com/v1',
  apiKeyVariables: ['NVIDIA_API_KEY'],
  apis: ['chat'],
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
  fixedFields: { reasoning_format: 'parsed' },
  thinkingSwitch: { on: { reasoning_effort: 'default' }, off: { reasoning_effort: 'none' } },
  thinking: ['toggle'],
  reasoningField: 'reasoning',
}
const groqGptOss: Quirks = { efforts: ['low', 'medium', 'high'], reasoningField: 'reasoning' }
const groqOthers: Quirks = { earlierReasoning: 'own' }
/** The first match wins. Compound models search and run code by themselves (console.groq.com/docs/compound, and recorded answers). */
const groqModels: readonly (readonly [id: RegExp, quirks: Quirks])[] = [
  [/qwen/, groqQwen],
  [/gpt-oss/, groqGptOss],
  [/^(groq\/)?compound/, { ...groqOthers, extendsPrompt: true }],
]
/** Rejects unknown fields with a 400. */
export const groq = host({
  id: 'groq',
  displayName: 'Groq',
  baseURL: 'https://api.groq.com/openai/v1',
  apiKeyVariables: ['GROQ_API_KEY'],
  check: '/models',
  apis: ['chat', 'responses'],
  dataPolicy: 'zdr',
  // The prompt cache keeps entries for two hours after their last read.
  quirks: {
    promptCacheMs: 7_200_000,
    refuses: groqRefuses,
    standardTier: 'on_demand',
    priorityTier: 'performance',
    // Flex has higher limits at the usual price (console.groq.com/docs/flex-processing, read on 2026-11-28).
    flexPercent: 100,
    rateLimits: rateLimits.openai,
  },
  quirksOf: model => groqModels.find(([id]) => id.test(model))?.[1] ?? groqOthers,
})

/** Together AI: Chat Completions. */
export const together = host({
  id: 'together',
  displayName: 'Together AI',
  baseURL: 'https://api.together.ai/v1',
  apiKeyVariables: ['TOGETHER_API_KEY', 'TOGETHER_AI_API_KEY'],
  check: '/models',
  apis: ['chat'],
  dataPolicy: 'zdr',
  hostSurcharges: hostSurcharges.together,
  quirks: {
    ...oldMaxTokens,
    reasoningField: 'reasoning',
    thinkingSwitch: { on: { reasoning: { enabled: true } }, off: { reasoning: { enabled: false } } },
    rateLimits: rateLimits.together,
  },
})

/** Fireworks AI: Chat Completions, Responses and Messages. Source: developersdigest.tech/reference/api-compatibility/fireworks, 2026-11. */
export const fireworks = host({
  id: 'fireworks',
  displayName: 'Fireworks AI',
  baseURL: 'https://api.fireworks.ai/inference/v1',
  apiKeyVariables: ['FIREWORKS_API_KEY'],
  check: '/models',
  apis: ['chat', 'responses', 'messages'],
  dataPolicy: 'zdr',
  quirks: {
    ...oldMaxTokens,
    efforts: ['low', 'medium', 'high'],
    reasoningField: 'reasoning_content',
    thinkingSwitch: thinkingType,
    priorityTier: 'priority',
    rateLimits: rateLimits.fireworks,
  },
})

/** Cerebras: Chat Completions. */
export const cerebras = host({
  id: 'cerebras',
  displayName: 'Cerebras',
  baseURL: 'https://api.cerebras.ai/v1',
  apiKeyVariables: ['CEREBRAS_API_KEY'],
  check: '/models',
  apis: ['chat'],
  dataPolicy: 'zdr',
  quirks: {
    efforts: ['none', 'low', 'medium', 'high'],
    reasoningField: 'reasoning',
    refuses: [...openaiOnlyFields, 'top_k'],
    priorityTier: 'priority',
    rateLimits: rateLimits.cerebras,
  },
})
