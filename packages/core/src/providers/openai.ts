import { chatProvider } from '../dialects/chat/provider.ts'
import { responsesProvider } from '../dialects/responses/provider.ts'
import type { Provider } from '../protocol/provider.ts'
import { accountTiers } from './account-tiers.ts'
import { defineProvider } from './define-provider.ts'
import { hostSurcharges } from './host-surcharges.ts'
import { openaiQuirksOf } from './openai-models.ts'
import { providerOptions } from './provider-options.ts'
import { rateLimits } from './rate-limit-headers.ts'
import { type VendorOptions, vendorOptions } from './vendor.ts'

/** OpenAI: Responses and Chat Completions. */
export function openai(options: VendorOptions = {}): Provider<'openai'> {
  const { apiKey, baseURL = 'https://api.openai.com/v1' } = providerOptions('openai', options, vendorOptions)
  return defineProvider({
    id: 'openai',
    display_name: 'OpenAI',
    baseURL,
    dialects: [responsesProvider, chatProvider],
    apiKey,
    quirks: {
      developer_role: true,
      refuses: ['top_k'],
      min_output_tokens: 16,
      sealed_reasoning: true,
      earlier_reasoning: 'own',
      allowed_tools: true,
      shared_fields: ['prompt_cache_options', 'prompt_cache_retention', 'moderation'],
      cache_breakpoints: true,
      standard_tier: 'default',
      priority_tier: 'priority',
      // The prices of batches, which are half (developers.openai.com/api/docs/guides/flex-processing, read on 2026-11-28).
      flex_percent: 50,
      rate_limits: rateLimits.openai,
    },
    quirksOf: openaiQuirksOf,
    data_policy: 'no_training',
    hostSurcharges: hostSurcharges.openai,
    check: '/models',
    tierHeaders: accountTiers.openai,
  })
}
