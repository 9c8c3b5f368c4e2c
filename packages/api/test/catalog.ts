import { webClock } from '@signalbox/core/runtime'
import type { Model, Offer, Provider, ProviderFacts } from '@signalbox/dialects/protocol'
import { createGateway, type Gateway, type GatewayOptions } from '@signalbox/gateway'
import { compatible } from '@signalbox/providers'

// A small catalog, with known and unknown facts, and requests for it.

const providers: readonly Provider[] = [
  compatible({ id: 'plain', baseURL: 'http://plain.invalid', apis: ['responses', 'chat'] }),
  compatible({ id: 'cloud', baseURL: 'http://cloud.invalid', apis: ['gemini', 'messages'], dataPolicy: 'zdr' }),
  compatible({ id: 'idle', baseURL: 'http://idle.invalid' }),
]

const facts: readonly ProviderFacts[] = [
  {
    id: 'plain',
    displayName: 'Plain AI',
    dataPolicy: 'no_training',
    retentionDays: 30,
    headquarters: 'CH',
    docsURL: 'https://plain.example/docs',
    env: ['PLAIN_API_KEY', 'PLAIN_KEY'],
    tiers: [
      { tier: 'free', displayName: 'Free', dataPolicy: 'may_train', qualification: 'Nothing paid yet' },
      { tier: 'zdr', displayName: 'Zero retention', dataPolicy: 'zdr', qualification: 'By agreement' },
    ],
  },
  { id: 'cloud', displayName: 'Cloud', dataPolicy: 'may_train' },
  { id: 'elsewhere', displayName: 'Not here', dataPolicy: 'zdr' },
]

const offer = (provider: string, more: Partial<Offer> = {}): Offer => ({
  provider,
  model: 'theirs',
  api: provider === 'cloud' ? 'messages' : 'chat',
  ...more,
})

const models: readonly Model[] = [
  {
    id: 'thinker-2',
    aliases: ['acme/thinker-2', 'thinker'],
    family: 'thinker',
    displayName: 'Thinker 2',
    author: 'acme',
    created: 1_750_000_000,
    knowledgeCutoff: '2025-08',
    retiresAt: '2027-01-31',
    openWeights: false,
    inputModalities: ['text', 'image', 'pdf'],
    outputModalities: ['text'],
    capabilities: ['tools', 'reasoning', 'streaming', 'web_search'],
    offers: [
      offer('plain', { status: 'deprecated', price: { input: 9_000_000, output: 9_000_000 }, contextWindow: 1_000 }),
      offer('plain', {
        price: {
          input: 50_000,
          output: 2_500_000,
          cached: 5_000,
          cacheWrite: 62_500,
          cacheWrite1h: 100_000,
          tiers: [{ over: 200_000, input: 100_000, output: 5_000_000, cached: 10_000 }],
          priority: { input: 100_000, output: 5_000_000 },
        },
        contextWindow: 200_000,
        maxOutputTokens: 64_000,
      }),
      offer('cloud', {
        contextWindow: 400_000,
        regions: [
          { region: 'us', model: 'us.x' },
          { region: 'eu', model: 'eu.x' },
        ],
      }),
      offer('elsewhere', { price: { input: 0, output: 0 }, contextWindow: 9_000_000 }),
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
