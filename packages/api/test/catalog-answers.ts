import { capabilities } from '@signalbox/dialects/protocol'

// What the catalog of these tests looks like from outside.

const can = (...names: readonly string[]): Readonly<Record<string, boolean>> =>
  Object.fromEntries(capabilities.map(name => [`supports_${name}`, names.includes(name)]))

export const bare = {
  id: 'bare',
  family: 'bare',
  author: 'plain',
  display_name: 'bare',
  capabilities: can('streaming'),
  input_modalities: ['text'],
  output_modalities: ['text'],
  providers: ['plain'],
  has_free_provider: false,
}
export const nowhere = {
  ...bare,
  id: 'nowhere',
  family: 'nowhere',
  author: 'elsewhere',
  display_name: 'nowhere',
  capabilities: can(),
  providers: [],
}
export const small = {
  id: 'small',
  family: 'small',
  display_name: 'small',
  capabilities: can('vision', 'json_mode'),
  input_modalities: ['text', 'image'],
  output_modalities: ['text'],
  author: 'tiny',
  providers: ['cloud'],
  has_free_provider: true,
}
export const thinker = {
  id: 'thinker-2',
  family: 'thinker',
  display_name: 'Thinker 2',
  capabilities: can('tools', 'reasoning', 'streaming', 'web_search'),
  input_modalities: ['text', 'image', 'pdf'],
  output_modalities: ['text'],
  author: 'acme',
  providers: ['plain', 'cloud'],
  has_free_provider: false,
}
export const inDirectory = {
  bare: { ...bare, aliases: [], prices: [{ provider: 'plain', input_price: 0, output_price: 0.000001 }] },
  nowhere: { ...nowhere, aliases: [], prices: [] },
  small: { ...small, aliases: [], prices: [{ provider: 'cloud', input_price: 0, output_price: 0 }] },
  thinker: {
    ...thinker,
    aliases: ['acme/thinker-2', 'thinker'],
    context_window: 400_000,
    max_output_tokens: 64_000,
    prices: [
      {
        provider: 'plain',
        input_price: 0.05,
        output_price: 2.5,
        cached_input_price: 0.005,
        cache_write_price: 0.0625,
        cache_write_1h_price: 0.1,
        long_prompts: [{ over_tokens: 200_000, input_price: 0.1, output_price: 5, cached_input_price: 0.01 }],
        priority: { input_price: 0.1, output_price: 5 },
      },
    ],
    released_at: '2025-06-15T15:06:40.000Z',
    knowledge_cutoff: '2025-08',
    retires_at: '2027-01-31',
    open_weights: false,
  },
}
export const sellers = {
  plain: {
    id: 'plain',
    display_name: 'Plain AI',
    data_policy: 'no_training',
    retention_days: 30,
    headquarters: 'CH',
    docs_url: 'https://plain.example/docs',
    regions: [],
    endpoints: ['responses', 'chat_completions'],
    model_count: 2,
  },
  cloud: {
    id: 'cloud',
    display_name: 'Cloud',
    data_policy: 'zdr',
    regions: ['eu', 'us'],
    endpoints: ['gemini', 'messages'],
    model_count: 2,
  },
  idle: { id: 'idle', display_name: 'idle', data_policy: 'unknown', regions: [], endpoints: ['chat_completions'], model_count: 0 },
}
export const callable = {
  id: 'thinker-2',
  object: 'model',
  type: 'model',
  created: 1_750_000_000,
  created_at: '2025-06-15T15:06:40.000Z',
  display_name: 'Thinker 2',
  owned_by: 'signalbox',
  context_window: 400_000,
  supported_endpoints: ['responses', 'chat_completions', 'messages'],
  providers: [
    { name: 'plain', input_price: 0.05, output_price: 2.5, data_policy: 'no_training' },
    { name: 'cloud', data_policy: 'zdr' },
  ],
}
export const list = (...data: readonly unknown[]): unknown => ({ object: 'list', data, count: data.length })
export const tiersOf = (provider: string): string => `/v1/byok/providers/${provider}/tiers`
export const byok = (provider: string, display_name: string, more: object = {}): unknown => ({
  provider,
  display_name,
  ...more,
  tiers_url: tiersOf(provider),
})
