import type { Catalog } from '../../src/index.ts'
import { type UpdateResult, updateCatalog } from '../../src/update/index.ts'

// Samples in the published formats of the sources, and a small catalog that they update.

const today = '2026-11-22'

/** A catalog of one maker and two hosts. Prices in USD per million tokens. */
export const current: Catalog = {
  asOf: '2026-09-30',
  models: [
    {
      id: 'gpt-5',
      aliases: ['openai/gpt-5'],
      author: 'openai',
      offers: [
        {
          provider: 'openai',
          model: 'gpt-5',
          api: 'responses',
          contextWindow: 400_000,
          abilities: ['tools', 'json_mode', 'web_search'],
          price: { input: 1_250_000, output: 10_000_000, cached: 125_000, tools: { web_search: 10_000 } },
          quirks: { efforts: ['low', 'high'], audio: false },
        },
      ],
    },
    {
      id: 'gpt-oss-20b',
      author: 'openai',
      offers: [
        { provider: 'groq', model: 'openai/gpt-oss-20b', api: 'chat', price: { input: 75_000, output: 300_000 } },
        { provider: 'together', model: 'openai/gpt-oss-20b', api: 'chat', price: { input: 50_000, output: 200_000 } },
      ],
    },
    {
      id: 'deepseek-chat',
      author: 'deepseek',
      offers: [{ provider: 'deepseek', model: 'deepseek-chat', api: 'chat', price: { input: 150_000, output: 600_000 } }],
    },
  ],
  providers: [{ id: 'openai', displayName: 'OpenAI', dataPolicy: 'no_training' }],
}

export interface ListedModel {
  readonly [field: string]: unknown
}

/** A model as models.dev lists it. */
export const listed = (id: string, [input, output]: readonly [number, number], more: ListedModel = {}): ListedModel => ({
  id,
  name: id.toUpperCase(),
  attachment: false,
  reasoning: false,
  temperature: true,
  tool_call: true,
  release_date: '2025-08-07',
  last_updated: '2025-08-07',
  modalities: { input: ['text'], output: ['text'] },
  open_weights: false,
  limit: { context: 400_000, output: 128_000 },
  ...more,
  cost: { input, output, ...(more.cost as object) },
})

/** models.dev/api.json with the models of these providers. */
export const modelsDev = (providers: Readonly<Record<string, readonly ListedModel[]>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(providers).map(([id, models]) => [
      id,
      {
        id,
        name: id,
        env: ['KEY'],
        npm: `@ai-sdk/${id}`,
        doc: 'https://example.com',
        models: Object.fromEntries(models.map(model => [model.id, model])),
      },
    ]),
  )

/** The existing content of the small catalog. */
export const unchanged = {
  openai: [listed('gpt-5', [1.25, 10], { cost: { cache_read: 0.125 } })],
  groq: [listed('openai/gpt-oss-20b', [0.075, 0.3], { base_model: 'openai/gpt-oss-20b' })],
  togetherai: [listed('openai/gpt-oss-20b', [0.05, 0.2], { base_model: 'openai/gpt-oss-20b' })],
  deepseek: [listed('deepseek-chat', [0.15, 0.6])],
}

/** A model as genai-prices lists it. */
export const opinion = (provider: string, id: string, prices: unknown) => ({
  id: provider,
  name: provider,
  api_pattern: '',
  models: [{ id, match: { or: [{ equals: id }, { starts_with: `${id}-20` }] }, prices }],
})

/** A model as OpenRouter lists it. Prices in USD per token. */
export const routed = (id: string, [prompt, completion]: readonly [string, string], pricing: ListedModel = {}) => ({
  id,
  canonical_slug: id,
  name: id,
  created: 1_754_524_800,
  context_length: 131_072,
  architecture: { modality: 'text->text', input_modalities: ['text', 'image'], output_modalities: ['text'], tokenizer: 'Other' },
  pricing: { prompt, completion, ...pricing },
  top_provider: { context_length: 131_072, max_completion_tokens: 32_768, is_moderated: false },
  per_request_limits: null,
  supported_parameters: ['tools', 'structured_outputs', 'temperature'],
})

type Input = Parameters<typeof updateCatalog>[0]

export const update = (sources: Input['sources'], more: Partial<Input> = {}): UpdateResult =>
  updateCatalog({ current, sources, today, ...more })

/** The result of an update that must succeed. */
export function updated(sources: Input['sources'], more: Partial<Input> = {}) {
  const result = update(sources, more)
  if (!result.ok) throw new Error(result.problems.join(' '))
  const offerAt = (provider: string, id: string) => {
    const found = result.catalog.models.flatMap(({ offers }) => offers)
    return found.find(offer => offer.provider === provider && offer.model === id)
  }
  return { ...result, offerAt }
}
