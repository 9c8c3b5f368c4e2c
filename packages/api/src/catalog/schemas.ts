import { capabilities } from '@signalbox/core/protocol'
import * as z from 'zod'

/** What the rows of the catalog give. */
export const catalogSchemas = () => ({
  Model: model(),
  ModelList: z.object({
    object: z.literal('list'),
    data: z.array(model()),
    count: z.int(),
    has_more: z.boolean().meta({ description: 'There is more in the direction in which the pages are turned.' }),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
  }),
  RegistryModelList: z.object({ models: z.array(z.object(registryModel())), count: z.int() }),
  RegistryProviderList: list(registryProvider()),
  DirectoryModelList: list(directoryModel()),
  ByokProviderList: list(byokProvider()),
  ProviderTierList: z.object({ object: z.literal('list'), provider: z.string(), data: z.array(tier()), count: z.int() }),
})

const list = (entry: z.ZodType) => z.object({ object: z.literal('list'), data: z.array(entry), count: z.int() })

const policy = () => z.string().meta({ description: '`zdr`, `no_training`, `may_train` or `unknown`.' })

const price = () => z.number().meta({ description: 'USD per million tokens.' })

function model() {
  const known = price().optional().meta({ description: 'USD per million tokens. Absent where nobody knows it.' })
  return z.object({
    id: z.string().meta({ description: 'Canonical id.' }),
    object: z.literal('model'),
    type: z.literal('model'),
    created: z.int().meta({ description: 'Unix seconds.' }),
    created_at: z.iso.datetime(),
    display_name: z.string(),
    owned_by: z.string().meta({ description: 'The operator of this service.' }),
    context_window: z.int().optional().meta({ description: 'The largest among its providers, in tokens.' }),
    supported_endpoints: z.array(z.enum(['responses', 'chat_completions', 'messages'])),
    providers: z.array(z.object({ name: z.string(), input_price: known, output_price: known, data_policy: policy().optional() })),
  })
}

const registryModel = () => ({
  id: z.string().meta({ description: 'Canonical id.' }),
  family: z.string().optional(),
  display_name: z.string(),
  capabilities: z.object(Object.fromEntries(capabilities.map(name => [`supports_${name}`, z.boolean()]))),
  input_modalities: z.array(z.string()),
  output_modalities: z.array(z.string()),
  author: z.string().optional(),
  providers: z.array(z.string()).meta({ description: 'Ids of those who sell it here.' }),
  has_free_provider: z.boolean(),
})

const directoryModel = () =>
  z.object({
    ...registryModel(),
    aliases: z.array(z.string()),
    context_window: z.int().optional().meta({ description: 'The largest among its providers, in tokens.' }),
    max_output_tokens: z.int().optional().meta({ description: 'The largest among its providers.' }),
    prices: z
      .array(
        z.object({
          provider: z.string(),
          ...rates(),
          long_prompts: z
            .array(z.object({ over_tokens: z.int(), ...rates() }))
            .optional()
            .meta({ description: 'Of prompts longer than so many tokens, whole; the last that applies.' }),
          priority: z.object(rates()).optional().meta({ description: 'Of the faster tier.' }),
        }),
      )
      .meta({ description: 'One for each provider whose price is known.' }),
    released_at: z.iso.datetime().optional(),
    knowledge_cutoff: z.string().optional().meta({ description: 'A month or a day, as in `2025-08` or `2025-08-05`.' }),
    retires_at: z.string().optional().meta({ description: 'The date on which its maker shuts it down.' }),
    open_weights: z.boolean().optional(),
  })

const rates = () => ({
  input_price: price(),
  output_price: price(),
  cached_input_price: price().optional(),
  cache_write_price: price().optional(),
  cache_write_1h_price: price().optional(),
})

const registryProvider = () =>
  z.object({
    id: z.string(),
    display_name: z.string(),
    data_policy: policy(),
    retention_days: z.int().optional(),
    headquarters: z.string().optional().meta({ description: 'Country code.' }),
    docs_url: z.string().optional(),
    regions: z.array(z.string()),
    endpoints: z.array(z.string()).meta({
      description: 'What it speaks itself, by the name of our endpoint; every endpoint reaches every provider all the same.',
    }),
    model_count: z.int(),
  })

const byokProvider = () =>
  z.object({
    provider: z.string(),
    display_name: z.string(),
    key_hint: z.string().optional().meta({ description: 'How to tell which key is meant.' }),
    tiers_url: z.string().meta({ description: 'A path of this service.' }),
  })

const tier = () =>
  z.object({
    tier: z.string().meta({ description: 'A value of `account_tier`.' }),
    display_name: z.string(),
    data_policy: policy(),
    qualification: z.string(),
  })
