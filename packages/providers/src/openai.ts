import type { Provider } from '@signalbox/dialects/protocol'
import { chatProvider, responsesProvider } from '@signalbox/dialects/providers'
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
    displayName: 'OpenAI',
    baseURL,
    dialects: [responsesProvider, chatProvider],
    apiKey,
    quirks: {
      developerRole: true,
      refuses: ['top_k'],
      minOutputTokens: 16,
      sealedReasoning: true,
      earlierReasoning: 'own',
      allowedTools: true,
      sharedFields: ['prompt_cache_options', 'prompt_cache_retention', 'moderation'],
      cacheBreakpoints: true,
      standardTier: 'default',
      priorityTier: 'priority',
      // The prices of batches, which are half (developers.openai.com/api/docs/guides/flex-processing, read on 2026-11-28).
      flexPercent: 50,
      rateLimits: rateLimits.openai,
    },
    quirksOf: openaiQuirksOf,
    dataPolicy: 'no_training',
    hostSurcharges: hostSurcharges.openai,
    check: '/models',
    tierHeaders: accountTiers.openai,
  })
}
