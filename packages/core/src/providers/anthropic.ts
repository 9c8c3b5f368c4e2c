import { messagesProvider } from '../dialects/index.ts'
import type { Provider } from '../protocol/provider.ts'
import { claudeQuirks } from './claude-models.ts'
import { defineProvider } from './define-provider.ts'
import { providerOptions } from './provider-options.ts'
import { rateLimits } from './rate-limits.ts'
import { tierSigns } from './tier-signs.ts'
import { vendorOptions } from './vendor.ts'

/** The options of `anthropic`. */
export interface AnthropicOptions {
  readonly apiKey?: string | undefined
  /** Up to and including the version. */
  readonly baseUrl?: string
}

/** Anthropic, in the Messages language, with its own token counter. */
export function anthropic(options: AnthropicOptions = {}): Provider {
  const { apiKey, baseUrl = 'https://api.anthropic.com/v1' } = providerOptions('anthropic', options, vendorOptions)
  const provider = defineProvider({
    id: 'anthropic',
    display_name: 'Anthropic',
    baseUrl,
    dialects: [messagesProvider],
    apiKey,
    keyHeaders: { messages: 'x-api-key' },
    quirks: { rate_limits: rateLimits.anthropic, priority_tier: 'auto', billing_header: true },
    quirksOf: claudeQuirks,
    data_policy: 'no_training',
    check: '/models?limit=1',
    checkHeaders: { 'anthropic-version': '2023-06-01' },
    signs: tierSigns.anthropic,
  })
  return { ...provider, countEndpoint: call => `${provider.endpoint(call)}/count_tokens` }
}
