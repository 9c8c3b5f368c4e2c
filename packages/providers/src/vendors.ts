import type { Quirks } from '@signalbox/dialects/protocol'
import { hostSurcharges } from './host-surcharges.ts'
import { rateLimits } from './rate-limit-headers.ts'
import { vendor } from './vendor.ts'
import { oldMaxTokens, openaiOnlyFields, penalties, probabilities, thinkingType } from './vendor-quirks.ts'

// Vendors of their own models with an OpenAI-compatible API. `refuses` lists fields that the vendor rejects or ignores: the client gets a
// warning for both. Fields whose support is uncertain are sent, and the vendor decides.

/** Rejects unknown fields with a 422, including `stream_options`. Streams always include usage. */
export const mistral = vendor({
  id: 'mistral',
  displayName: 'Mistral',
  baseURL: 'https://api.mistral.ai/v1',
  apiKeyVariables: ['MISTRAL_API_KEY'],
  check: '/models',
  apis: ['chat'],
  dataPolicy: 'no_training',
  quirks: {
    ...oldMaxTokens,
    refuses: [...probabilities, ...openaiOnlyFields, 'logit_bias', 'top_k', 'user'],
    seedField: 'random_seed',
    requiredToolChoice: 'any',
    callIdLength: 9,
    earlierReasoning: 'own',
    noStreamOptions: true,
    rateLimits: rateLimits.mistral,
  },
})

/** Reasons by default. */
const deepseekV4: Quirks = {
  efforts: ['low', 'high', 'max'],
  sampling: 'unless_thinking',
  thinkingSwitch: thinkingType,
}
/** DeepSeek: Chat Completions, Responses and Messages. Reasons by default. Source: api-docs.deepseek.com, pricing, 2026-11. */
export const deepseek = vendor({
  id: 'deepseek',
  displayName: 'DeepSeek',
  baseURL: 'https://api.deepseek.com',
  apiKeyVariables: ['DEEPSEEK_API_KEY'],
  check: '/models',
  apis: ['chat', 'responses', 'messages'],
  paths: { messages: '/anthropic/v1/messages' },
  dataPolicy: 'may_train',
  // Strict tools exist only at another base URL.
  // The prompt cache is on disk and lasts for hours; one hour is the minimum.
  quirks: { ...oldMaxTokens, promptCacheMs: 3_600_000, noJsonSchema: true, refuses: [...penalties, 'top_k', 'seed', 'strict'] },
  quirksOf: model => (/v4|^deepseek-(flash|pro)/.test(model) ? deepseekV4 : /reasoner|r1/.test(model) ? { sampling: 'none' } : undefined),
})

/** Models reason unless their name says `non-reasoning`. Reasoning models reject penalties and `stop`. */
export const xai = vendor({
  id: 'xai',
  displayName: 'xAI',
  baseURL: 'https://api.x.ai/v1',
  apiKeyVariables: ['XAI_API_KEY'],
  check: '/models',
  apis: ['responses', 'chat'],
  dataPolicy: 'no_training',
  hostSurcharges: hostSurcharges.xai,
  quirks: {
    refuses: ['top_k', ...penalties, 'stop'],
    priorityTier: 'priority',
    rateLimits: rateLimits.openai,
    // X search answers with custom calls (`x_keyword_search`, `view_x_video`) that xAI ran. Source: vercel/ai, packages/xai.
    ownCustomTools: true,
  },
  quirksOf: model => (/non-reasoning/.test(model) ? { refuses: ['top_k'] } : undefined),
})

/** Meta Model API: Responses and Chat Completions. */
export const meta = vendor({
  id: 'meta',
  displayName: 'Meta Model API',
  baseURL: 'https://api.meta.ai/v1',
  apiKeyVariables: ['META_MODEL_API_KEY', 'META_API_KEY', 'LLAMA_API_KEY'],
  apis: ['responses', 'chat'],
  dataPolicy: 'no_training',
})

/** Perplexity's Agent API, which follows the Responses API. It replaced Chat Completions on 2026-09-27. */
export const perplexity = vendor({
  id: 'perplexity',
  displayName: 'Perplexity',
  baseURL: 'https://api.perplexity.ai/v1',
  apiKeyVariables: ['PERPLEXITY_API_KEY'],
  apis: ['responses'],
  quirks: { refuses: ['stop', 'seed'] },
  // Sonar models search in every request.
  quirksOf: model => (/sonar/.test(model) ? { extendsPrompt: true } : undefined),
})

/** Cohere's compatibility API, whose documentation lists the unsupported fields. Reasoning is on or off, without levels. */
export const cohere = vendor({
  id: 'cohere',
  displayName: 'Cohere',
  baseURL: 'https://api.cohere.ai/compatibility/v1',
  apiKeyVariables: ['COHERE_API_KEY', 'CO_API_KEY'],
  apis: ['chat'],
  dataPolicy: 'no_training',
  quirks: {
    ...oldMaxTokens,
    efforts: ['none', 'high'],
    refuses: ['logit_bias', 'top_logprobs', 'n', 'service_tier', 'parallel_tool_calls', 'store', 'metadata'],
  },
})

/** Xiaomi MiMo. Source: pi-ai 1.5.2, 2026-11. */
export const xiaomi = vendor({
  id: 'xiaomi',
  displayName: 'Xiaomi MiMo',
  baseURL: 'https://api.xiaomimimo.com/v1',
  apiKeyVariables: ['XIAOMI_API_KEY'],
  apis: ['chat'],
  quirks: {
    thinkingSwitch: thinkingType,
  },
})
