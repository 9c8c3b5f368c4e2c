import type { Model, Offer, Provider } from '@signalbox/dialects/protocol'
import { simulated } from '@signalbox/providers'

// Providers and models of a server without configured providers, to try routing, fallback, streaming and cost offline.

export const simulatedProviders = (): readonly Provider[] => [
  simulated({ id: 'sim-cheap', firstWordMs: 250, wordMs: 25 }),
  simulated({ id: 'sim-fast', firstWordMs: 20, wordMs: 5 }),
  simulated({ id: 'sim-flaky', firstWordMs: 60, wordMs: 10, failEvery: 2 }),
]

/** US dollars per million tokens: input and output. `sim-flaky` is so cheap that it stays first despite its failures. */
const prices = { 'sim-cheap': [0.2, 0.4], 'sim-fast': [2, 6], 'sim-flaky': [0.01, 0.02] } as const

const simulatedOffer = (provider: keyof typeof prices, model: string): Offer => ({
  provider,
  model,
  api: 'chat',
  contextWindow: 32_768,
  maxOutputTokens: 4_096,
  abilities: ['streaming'],
  price: { input: prices[provider][0] * 1_000_000, output: prices[provider][1] * 1_000_000 },
})

export const simulatedModels: readonly Model[] = [
  {
    id: 'sim/echo',
    family: 'sim',
    displayName: 'Simulated echo',
    author: 'signalbox',
    offers: [simulatedOffer('sim-cheap', 'echo'), simulatedOffer('sim-fast', 'echo')],
  },
  {
    id: 'sim/story',
    family: 'sim',
    displayName: 'Simulated story',
    author: 'signalbox',
    // Every second call of the first one fails, and the response shows the fallback.
    offers: [simulatedOffer('sim-flaky', 'story'), simulatedOffer('sim-fast', 'story'), simulatedOffer('sim-cheap', 'story')],
  },
]
