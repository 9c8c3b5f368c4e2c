import type { Offer, Price } from '@signalbox/dialects/protocol'
import { describe, expect, test } from 'vitest'
import { catalog } from '../src/index.ts'

// Facts that a source newer than the rest of the catalog states. Prices in USD per million tokens.

const { models } = catalog()
const offerOf = (provider: string, id: string): Offer => {
  const offer = models.flatMap(({ offers }) => offers).find(each => each.provider === provider && each.model === id)
  if (!offer) throw new Error(`${provider} does not offer ${id}.`)
  return offer
}
const usd = (microdollars: number | undefined): number | undefined => (microdollars === undefined ? undefined : microdollars / 1_000_000)
const inUsd = ({ input, output, cached }: Pick<Price, 'input' | 'output' | 'cached'>): readonly (number | undefined)[] =>
  [input, output, cached].map(usd)

/** Newer lists, and pages of vendors. */
const newer = 'npm:@earendil-works/pi-ai@1.5.2'
const newest = 'npm:@earendil-works/pi-ai@1.6.0'
const openai62 = 'https://developers.openai.com/api/docs/models/gpt-6.2-sol'
const both = 'npm:@earendil-works/pi-ai@1.5.2; npm:@pydantic/genai-prices@0.1.8'
const toml = 'models.dev providers/anthropic/models/claude-sonnet-5-5.toml'
const claude = 'https://platform.claude.com/docs/en/about-claude/pricing'
const fastMode = 'https://platform.claude.com/docs/en/build-with-claude/fast-mode'
const perplexity = 'https://docs.perplexity.ai/docs/getting-started/pricing'

describe('prices', () => {
  test.each<[string, string, readonly (number | undefined)[], string]>([
    ['anthropic', 'claude-sonnet-5-5', [2, 10, 0.1], toml],
    ['google-vertex', 'claude-sonnet-5-5@default', [2, 10, 0.1], toml],
    ['amazon-bedrock', 'global.anthropic.claude-sonnet-5-5', [2, 10, 0.1], toml],
    ['azure', 'claude-sonnet-5-5', [2, 10, 0.1], toml],
    ['anthropic', 'claude-sonnet-5', [2, 10, 0.2], claude],
    ['anthropic', 'claude-haiku-5-5', [0.1, 0.5, 0.01], newer],
    ['anthropic', 'claude-fable-5-2', [8, 40, 0.2], fastMode],
    ['openai', 'gpt-6.1-terra', [1, 5, 0.05], newer],
    ['openai', 'gpt-6.2-astra', [8, 40, 0.4], openai62.replace('sol', 'astra')],
    ['openai', 'gpt-6.2-sol', [2, 10, 0.1], openai62],
    ['amazon-bedrock', 'global.openai.gpt-6.2-sol', [2, 10, 0.1], newest],
    ['google', 'gemini-4-hydrogen', [1.5, 7.5, 0.075], `${newest}; TokenMeter 0.17.0`],
    ['google', 'gemini-4-neon', [3, 15, 0.15], `${newest}; TokenMeter 0.17.0`],
    ['google', 'gemini-4-carbon', [2, 10, 0.1], `${newest}; litellm discussion 50970`],
    ['openrouter', 'deepseek/deepseek-v4.1-flash-1017', [0.15, 0.6, 0.003], newest],
    ['openai', 'gpt-5.4-pro', [30, 180, undefined], newest],
    ['openai', 'gpt-5.2-pro', [21, 168, undefined], newest],
    ['openai', 'gpt-5-pro', [15, 120, undefined], newest],
    ['openai', 'o3-pro', [20, 80, undefined], newest],
    ['openrouter', 'thinkingmachines/inkling-2-small', [0.3, 1, 0.03], newest],
    ['amazon-bedrock', 'qwen.qwen3-coder-next', [0.5, 1.2, undefined], newest],
    ['openrouter', 'xiaomi/mimo-v2.6-flash', [0.14, 0.28, 0.0028], newest],
    ['zai', 'glm-5-turbo', [1.2, 4, 0.24], newest],
    ['google', 'gemini-4-argon', [2, 10, 0.1], newer],
    ['moonshotai', 'kimi-k3.1-pro', [2, 10, 0.2], newer],
    ['moonshotai', 'kimi-k3.1-pro-highspeed', [4, 20, 0.2], newer],
    ['cloudflare-workers-ai', '@cf/google/gemma-4-26b-a4b-it', [0.1, 0.3, 0.05], newer],
    ['nvidia', 'nvidia/nemotron-3-ultra-550b-a55b', [0, 0, undefined], newer],
    ['mistral', 'mistral-large-4', [0.7, 2.1, 0.07], newer],
    ['meta', 'muse-wonder-1.0', [4, 20, 0.2], newer],
    ['meta', 'muse-ember-1.0', [0.1, 0.5, 0.004], newer],
    ['minimax', 'MiniMax-M3.1-Flash', [0.15, 0.6, 0.015], newer],
    ['perplexity', 'perplexity/sonar', [0.25, 2.5, 0.0625], perplexity],
    ['azure', 'gpt-5.6-sol', [4, 20, 0.4], both],
    ['azure', 'gpt-5', [1.25, 10, 0.125], both],
    ['azure', 'gpt-5-mini', [0.25, 2, 0.025], both],
    ['azure', 'gpt-5-nano', [0.05, 0.4, 0.005], both],
    ['azure', 'gpt-5.2', [1.75, 14, 0.175], both],
    ['azure', 'kimi-k2.6', [0.95, 4, 0.16], newer],
    ['azure', 'kimi-k2.5', [0.6, 3, 0.1], newer],
    ['azure', 'deepseek-v4-pro', [1.925, 3.828, 0.165], newer],
    ['baseten', 'deepseek-ai/DeepSeek-V4-Pro-0813', [1.32, 3.96, 0.132], newer],
    ['baseten', 'deepseek-ai/DeepSeek-V4.1-Flash', [0.3, 1.2, 0.007], newer],
    ['baseten', 'moonshotai/Kimi-K3', [3, 15, 0.3], newer],
    ['baseten', 'zai-org/GLM-5.3-Flash', [0.15, 0.5, 0.03], newer],
    ['baseten', 'zai-org/GLM-5.2', [1.4, 4.4, 0.14], newer],
    ['mistral', 'magistral-medium-latest', [2, 5, 0.2], newer],
    ['mistral', 'devstral-2512', [0.4, 2, 0.04], newer],
    ['fireworks', 'accounts/fireworks/models/deepseek-v4p1-flash', [0.3, 1.2, 0.006], newer],
    ['together', 'Qwen/Qwen3.7-Max', [2.5, 7.5, 0.5], newer],
  ])('of %s for %s are correct', (...row) => {
    const [provider, id, expected, from] = row
    const { price, source, asOf = '' } = offerOf(provider, id)
    expect([price && inUsd(price), source]).toEqual([expected, from])
    expect(asOf > '2026-09-23').toBe(true)
  })

  test('of Perplexity cost a fee for each search and each page', () => {
    expect(offerOf('perplexity', 'perplexity/sonar').price?.tools).toEqual({ web_search: 2_500, web_fetch: 500 })
  })

  test('of DeepSeek are higher at its peak hours', () => {
    const peakOf = (id: string) =>
      offerOf('deepseek', id).price?.windows?.map(({ days, from, to, ...rates }) => [days, from, to, ...inUsd(rates)])
    const days = [1, 2, 3, 4, 5]
    expect(inUsd(offerOf('deepseek', 'deepseek-v4-pro').price as Price)).toEqual([0.66, 1.98, 0.022])
    expect(peakOf('deepseek-v4-pro')).toEqual([
      [days, '01:00', '04:00', 1.32, 3.96, 0.044],
      [days, '06:00', '10:00', 1.32, 3.96, 0.044],
    ])
    expect(inUsd(offerOf('deepseek', 'deepseek-flash').price as Price)).toEqual([0.15, 0.6, 0.003])
    expect(peakOf('deepseek-flash')?.[0]).toEqual([days, '01:00', '04:00', 0.3, 1.2, 0.006])
  })

  test.each([
    ['gemini-3.6-flash', '2027-01-01', [1.5, 7.5, 0.15]],
    ['gemini-3.7-flash', '2027-01-01', [1.5, 7.5, 0.15]],
    ['gemini-3.8-flash', '2027-01-01', [1.5, 7.5, 0.15]],
    ['gemini-4-argon', '2026-12-01', [4, 20, 0.2]],
  ])('of Google for %s change on %s', (id, from, expected) => {
    expect(offerOf('google', id).price?.changes?.map(change => [change.from, inUsd(change.price)])).toEqual([[from, expected]])
  })

  test('of long prompts', () => {
    const tiers = (provider: string, id: string) => offerOf(provider, id).price?.tiers?.map(({ over, ...rates }) => [over, ...inUsd(rates)])
    expect(tiers('azure', 'gpt-5.6-sol')).toEqual([[272_000, 8, 30, 0.8]])
    expect(tiers('anthropic', 'claude-haiku-5-5')).toEqual([[100_000, 0.5, 2.5, 0.05]])
    expect(tiers('openai', 'gpt-6.1-terra')).toEqual([[272_000, 2, 7.5, 0.1]])
    expect(tiers('alibaba', 'qwen3-max')).toEqual([
      [32_000, 2.4, 12, undefined],
      [128_000, 3, 15, undefined],
    ])
  })

  test('of the priority tier exclude long prompts, and apply to older models too', () => {
    const priority = (id: string) => offerOf('openai', id).price?.priority
    expect(priority('gpt-5.2')).toMatchObject({ input: 3_500_000, output: 28_000_000, cached: 350_000 })
    expect(priority('gpt-6.1-sol')?.upTo).toBe(272_000)
    expect(
      models
        .flatMap(({ offers }) => offers)
        .filter(({ price }) => price?.priority?.upTo === undefined && price?.priority && price.tiers && price.tiers.length > 0)
        .map(({ provider }) => provider),
    ).not.toContain('openai')
  })

  test('of the priority tier are those of its page, for every model that the page lists', () => {
    const priority = (id: string) => offerOf('openai', id).price?.priority as Price
    expect(inUsd(priority('gpt-5-mini'))).toEqual([0.45, 3.6, 0.045])
    expect(inUsd(priority('gpt-4.1'))).toEqual([3.5, 14, 0.875])
    expect(inUsd(priority('gpt-6.2-astra'))).toEqual([16, 80, 0.8])
  })

  test('of cache writes that last twelve hours are those of GPT-6.2 Sol', () => {
    expect(usd(offerOf('openai', 'gpt-6.2-sol').price?.cacheWrite1h)).toBe(5)
  })

  test('of Gemini 4 Carbon double in December', () => {
    for (const provider of ['google', 'google-vertex']) {
      const [change] = offerOf(provider, 'gemini-4-carbon').price?.changes ?? []
      expect([change?.from, inUsd(change?.price as Price)]).toEqual(['2026-12-01', [4, 20, 0.2]])
    }
  })

  test.each([
    ['claude-opus-5-5', [8, 40, 0.4]],
    ['claude-fable-5-2', [16, 80, 0.4]],
    ['claude-opus-5', [10, 50, 1]],
  ])('of Anthropic for the fast mode of %s', (id, expected) => {
    const { price, source } = offerOf('anthropic', id)
    const { percent = 0 } = price?.surcharges?.find(({ field }) => field === 'speed') ?? {}
    expect(price && inUsd(price).map(rate => ((rate ?? 0) * percent) / 100)).toEqual(expected)
    expect(source).toMatch(/^https:\/\/platform\.claude\.com/)
  })

  test('of the fast mode of claude-opus-4-8 end with it', () => {
    const { price, source } = offerOf('anthropic', 'claude-opus-4-8')
    expect(price?.surcharges?.map(({ field }) => field)).toEqual(['speed', 'inference_geo'])
    expect(price?.changes?.map(change => [change.from, change.price.surcharges?.map(({ field }) => field)])).toEqual([
      ['2026-12-01', ['inference_geo']],
    ])
    expect(source).toBe('https://code.claude.com/docs/en/fast-mode')
  })

  test('of hosted tools are per call', () => {
    expect(offerOf('openai', 'gpt-6.1-sol').price?.tools).toEqual({ web_search: 10_000, file_search: 2_500 })
    expect(offerOf('anthropic', 'claude-sonnet-5-5').price?.tools).toEqual({ web_search: 10_000, web_fetch: 0 })
  })
})

test.each([
  ['openai', 'o4-mini', '2026-10-23'],
  ['openai', 'gpt-5', '2026-12-11'],
  ['openai', 'gpt-5-mini', '2026-12-11'],
  ['openai', 'gpt-5-nano', '2026-12-11'],
  ['openai', 'o3', '2026-12-11'],
  ['openai', 'gpt-4o', '2027-01-14'],
  ['openai', 'gpt-4o-mini', '2027-01-14'],
  ['openai', 'gpt-4.1', '2027-01-14'],
  ['openai', 'gpt-4.1-mini', '2027-01-14'],
  ['openai', 'gpt-5.1', '2027-04-01'],
  ['anthropic', 'claude-sonnet-4-5', '2026-11-30'],
  ['google', 'gemini-2.5-pro', '2026-12-01'],
  ['google', 'gemini-2.5-flash', '2026-12-01'],
  ['moonshotai', 'kimi-k2.6', '2026-12-31'],
  ['moonshotai', 'kimi-k2.7-code', '2026-12-31'],
])('%s shuts %s down after %s', (provider, id, day) => {
  expect(offerOf(provider, id).retiresAt).toBe(day)
})

test.each([
  ['gpt-4.1-nano', '2026-10-23'],
  ['o1', '2026-10-23'],
  ['o3-mini', '2026-10-23'],
  ['sonar-pro', '2026-09-27'],
  ['sonar-reasoning-pro', '2026-09-27'],
])('%s is marked as retired', (id, day) => {
  expect(models.find(model => model.id === id)).toMatchObject({ offers: [], retiresAt: day })
})

test.each<[string, string, Partial<Offer>]>([
  ['anthropic', 'claude-sonnet-4-5', { contextWindow: 200_000 }],
  ['mistral', 'magistral-medium-latest', { contextWindow: 262_144 }],
  ['mistral', 'mistral-small-2603', { contextWindow: 262_144 }],
  ['groq', 'qwen/qwen3.8-27b', { contextWindow: 131_072 }],
  ['minimax', 'MiniMax-M3', { maxOutputTokens: 524_288 }],
  ['together', 'Qwen/Qwen3.6-Plus', { maxOutputTokens: 65_536 }],
  ['together', 'Qwen/Qwen3.7-Max', { maxOutputTokens: 131_072 }],
])('limits of %s for %s', (provider, id, expected) => {
  expect(offerOf(provider, id)).toMatchObject(expected)
})

test('capabilities that hosts have or lack', () => {
  const can = (provider: string, id: string, ability: 'vision' | 'reasoning' | 'structured_output') =>
    offerOf(provider, id).abilities?.includes(ability)
  expect(can('mistral', 'magistral-medium-latest', 'vision')).toBe(true)
  expect(can('baseten', 'zai-org/GLM-5.2', 'vision')).toBe(false)
  expect(can('together', 'Qwen/Qwen3.7-Max', 'reasoning')).toBe(true)
  expect(can('alibaba', 'qwen3.7-max', 'structured_output')).toBe(true)
  expect(can('alibaba', 'qwen3.6-27b', 'structured_output')).toBe(false)
  expect(can('alibaba', 'kimi-k3', 'structured_output')).toBe(false)
  expect(offerOf('azure', 'gpt-6-astra').quirks?.efforts).not.toContain('none')
  expect(offerOf('xai', 'grok-4.5').quirks?.efforts).toContain('xhigh')
})

test('the last day of claude-opus-4-5 at Anthropic is known', () => {
  // The list of deprecated models in Anthropic's SDK 1.14.0.
  expect(offerOf('anthropic', 'claude-opus-4-5').retiresAt).toBe('2027-01-22')
})
