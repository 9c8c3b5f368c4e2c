import { createGateway, type Gateway, type GatewayOptions } from '@signalbox/core'
import type { Model, Offer, Provider, ProviderFacts } from '@signalbox/core/protocol'
import { compatible } from '@signalbox/core/providers'
import { webClock } from '@signalbox/core/runtime'

// A small catalog, with known and unknown facts, and requests for it.

const providers: readonly Provider[] = [
  compatible({ id: 'plain', baseURL: 'http://plain.invalid', speaks: ['responses', 'chat'] }),
  compatible({ id: 'cloud', baseURL: 'http://cloud.invalid', speaks: ['gemini', 'messages'], data_policy: 'zdr' }),
  compatible({ id: 'idle', baseURL: 'http://idle.invalid' }),
]

const facts: readonly ProviderFacts[] = [
  {
    id: 'plain',
    display_name: 'Plain AI',
    data_policy: 'no_training',
    retention_days: 30,
    headquarters: 'CH',
    docs_url: 'https://plain.example/docs',
    env: ['PLAIN_API_KEY', 'PLAIN_KEY'],
    tiers: [
      { tier: 'free', display_name: 'Free', data_policy: 'may_train', qualification: 'Nothing paid yet' },
      { tier: 'zdr', display_name: 'Zero retention', data_policy: 'zdr', qualification: 'By agreement' },
    ],
  },
  { id: 'cloud', display_name: 'Cloud', data_policy: 'may_train' },
  { id: 'elsewhere', display_name: 'Not here', data_policy: 'zdr' },
]

const offer = (provider: string, more: Partial<Offer> = {}): Offer => ({
  provider,
  provider_model_id: 'theirs',
  dialect: provider === 'cloud' ? 'messages' : 'chat',
  ...more,
})

const models: readonly Model[] = [
  {
    id: 'thinker-2',
    aliases: ['acme/thinker-2', 'thinker'],
    family: 'thinker',
    display_name: 'Thinker 2',
    author: 'acme',
    created: 1_750_000_000,
    knowledge_cutoff: '2025-08',
    retires_at: '2027-01-31',
    open_weights: false,
    input_modalities: ['text', 'image', 'pdf'],
    output_modalities: ['text'],
    capabilities: ['tools', 'reasoning', 'streaming', 'web_search'],
    offers: [
      offer('plain', { status: 'deprecated', price: { input: 9_000_000, output: 9_000_000 }, context_window: 1_000 }),
      offer('plain', {
        price: {
          input: 50_000,
          output: 2_500_000,
          cached: 5_000,
          cache_write: 62_500,
          cache_write_1h: 100_000,
          tiers: [{ over: 200_000, input: 100_000, output: 5_000_000, cached: 10_000 }],
          priority: { input: 100_000, output: 5_000_000 },
        },
        context_window: 200_000,
        max_output_tokens: 64_000,
      }),
      offer('cloud', {
        context_window: 400_000,
        regions: [
          { region: 'us', provider_model_id: 'us.x' },
          { region: 'eu', provider_model_id: 'eu.x' },
        ],
      }),
      offer('elsewhere', { price: { input: 0, output: 0 }, context_window: 9_000_000 }),
    ],
  },
  {
    id: 'small',
    author: 'tiny',
    offers: [offer('cloud', { price: { input: 0, output: 0 }, abilities: ['vision', 'json_mode'], delivery: 'whole_only' })],
  },
  { id: 'bare', offers: [offer('plain', { price: { input: 0, output: 1 } })] },
  { id: 'nowhere', offers: [offer('elsewhere')] },
]

/** An offer with an unknown provider is intended. */
const quiet = { info: () => {}, warn: () => {}, error: () => {} }

/** The directory of a real gateway; nothing in it reads the storage. */
export const directory = (options: Partial<Pick<GatewayOptions, 'models' | 'facts' | 'providers'>> = {}): Gateway['models'] =>
  createGateway({
    providers,
    models,
    facts,
    storage: { ping: () => undefined } as unknown as GatewayOptions['storage'],
    // Models without a date are as old as their directory, and a test may make two directories in different seconds.
    clock: { ...webClock(), now: () => Date.UTC(2026, 0) },
    logger: quiet,
    ...options,
  }).models
