import { capabilities } from '@signalbox/dialects/protocol'
import * as z from 'zod/v4'
import { closedObject, integerField, listField, textField } from '../schema-fields.ts'

/** The response bodies of the catalog. */
export const catalogSchemas = () => ({
  Model: modelSchema(),
  ModelList: closedObject('A page of models.', {
    object: z.literal('list').describe('Type of the object.'),
    data: listField('The models, ordered by id.', modelSchema()),
    count: integerField('Number of models on this page.', 1),
    has_more: z.boolean().meta({ description: 'Whether there is another page in the same direction.', example: false }),
    first_id: z.string().nullable().meta({ description: 'Id of the first model; null on an empty page.', example: 'gpt-5-mini' }),
    last_id: z.string().nullable().meta({ description: 'Id of the last model; null on an empty page.', example: 'gpt-5-mini' }),
  }),
  RegistryModelList: closedObject('All models with their capabilities.', {
    models: listField('The models.', z.object(registryModel())),
    count: integerField('Number of models.', 1),
  }),
  RegistryProviderList: listSchema(registryProvider()).describe('Providers.'),
  DirectoryModelList: listSchema(directoryModel()).describe('Models with all known details.'),
  ByokProviderList: listSchema(byokProvider()).describe('Providers for which workspaces can add keys.'),
  ProviderTierList: closedObject('Account tiers of a provider.', {
    object: z.literal('list').describe('Type of the object.'),
    provider: textField('Id of the provider.', 'groq'),
    data: listField('The tiers.', tier()),
    count: integerField('Number of tiers.', 1),
  }),
})

const listSchema = (entry: z.ZodType) =>
  z.object({
    object: z.literal('list').describe('Type of the object.'),
    data: listField('The entries.', entry),
    count: integerField('Number of entries.', 1),
  })

const policy = () => textField('`zdr`, `no_training`, `may_train` or `unknown`.', 'no_training')

const priceSchema = (what: string, example: number) =>
  z.number().meta({ description: `Price of ${what} in USD per million tokens.`, example })

const contextWindow = () =>
  z
    .int()
    .optional()
    .meta({ description: 'Largest context window among its providers, in tokens. Left out if none of them states one.', example: 400_000 })

const modelId = () => textField('Canonical id.', 'gpt-5-mini')
const displayName = (example: string) => textField('Display name.', example)

const modelSchema = () =>
  closedObject('A model that can be called.', {
    id: modelId(),
    object: z.literal('model').describe('Type of the object.'),
    type: z.literal('model').describe('Type of the object, for clients of the Messages API.'),
    created: integerField('Release of the model, in Unix seconds; 0 if unknown.', 1_754_524_800),
    created_at: z.iso.datetime().meta({ description: 'The same time as a date.', example: '2025-08-07T00:00:00.000Z' }),
    display_name: displayName('GPT-5 mini'),
    owned_by: textField('The operator of this service.', 'signalbox'),
    context_window: contextWindow(),
    supported_endpoints: z
      .array(z.enum(['responses', 'chat_completions', 'messages']))
      .meta({ description: 'Endpoints that serve the model.', example: ['responses', 'chat_completions', 'messages'] }),
    providers: listField(
      'Providers of the model. Unknown prices are absent.',
      z.object({
        name: textField('Id of the provider.', 'groq'),
        input_price: priceSchema('input', 0.25).optional(),
        output_price: priceSchema('output', 2).optional(),
        data_policy: policy().optional(),
      }),
    ),
  })

const registryModel = () => ({
  id: modelId(),
  family: textField('Model family.', 'gpt-5'),
  display_name: displayName('GPT-5 mini'),
  capabilities: z
    .object(
      Object.fromEntries(
        capabilities.map(name => [
          `supports_${name}`,
          z.boolean().meta({ description: `Whether it supports ${name.replaceAll('_', ' ')}.`, example: true }),
        ]),
      ),
    )
    .describe('What the model can do.'),
  input_modalities: z.array(z.string()).meta({ description: 'Input modalities.', example: ['text', 'image'] }),
  output_modalities: z.array(z.string()).meta({ description: 'Output modalities.', example: ['text'] }),
  author: textField('Company that trained the model.', 'OpenAI'),
  providers: z.array(z.string()).meta({ description: 'Ids of the providers that offer it here.', example: ['groq'] }),
  has_free_provider: z.boolean().meta({ description: 'Whether one of them charges nothing.', example: false }),
  ...origin(),
})

/** The origin of a registry row. */
const origin = () => ({
  source: z.string().optional().meta({ description: 'Source of its newest facts.', example: 'https://models.dev/api.json' }),
  as_of: z.string().optional().meta({ description: 'Date on which they were read.', example: '2026-11-20' }),
})

const directoryModel = () =>
  z.object({
    ...registryModel(),
    aliases: z.array(z.string()).meta({ description: 'Other ids of the model.', example: ['gpt-5-mini-latest'] }),
    context_window: contextWindow(),
    max_output_tokens: z.int().optional().meta({ description: 'Largest output among its providers, in tokens.', example: 128_000 }),
    prices: listField(
      'One entry for each provider with a known price.',
      z.object({
        provider: textField('Id of the provider.', 'groq'),
        ...rates(),
        long_prompts: z
          .array(
            z.object({
              over_tokens: integerField('The rates apply to prompts longer than this, for all of their tokens.', 200_000),
              ...rates(),
            }),
          )
          .optional()
          .describe('Prices of long prompts. The last matching entry applies.'),
        priority: z.object(rates()).optional().describe('Prices of the faster tier.'),
        windows: z
          .array(
            z.object({
              days: z
                .array(z.int())
                .optional()
                .meta({ description: 'Days on which it begins, 1 for Monday. Absent: every day.', example: [1, 2] }),
              from: textField('Start time in UTC.', '01:00'),
              to: textField('End time in UTC.', '04:00'),
              ...rates(),
            }),
          )
          .optional()
          .describe('Hours with other prices. The prices above are the current ones.'),
        changes: z
          .array(
            z.object({
              from: textField('Date or time from which the price applies.', '2027-01-01'),
              ...rates(),
            }),
          )
          .optional()
          .describe('Announced prices, ordered by date.'),
        surcharges: z
          .array(
            z.object({
              field: textField('Field of the request.', 'inference_geo'),
              value: textField('Value for which the price is higher.', 'us'),
              percent: integerField('Percent of the usual price of tokens.', 110),
            }),
          )
          .optional()
          .describe('Fields of the request that raise the prices of tokens. Several multiply.'),
        retires_at: z.string().optional().meta({ description: 'Last day on which this provider serves it.', example: '2027-01-14' }),
        source: z.string().optional().meta({ description: 'Source of the price.', example: 'https://openai.com/api/pricing' }),
        as_of: z.string().optional().meta({ description: 'Date on which it was read.', example: '2026-11-20' }),
      }),
    ),
    released_at: z.iso.datetime().optional().describe('When the model was released.'),
    knowledge_cutoff: z.string().optional().meta({ description: 'End of its training data: a month or a day.', example: '2025-08' }),
    retires_at: z.string().optional().meta({ description: 'Date on which its author shuts it down.', example: '2027-08-05' }),
    successor: z.string().optional().meta({ description: 'Model that its author names as the replacement.', example: 'gpt-6.1-terra' }),
    open_weights: z.boolean().optional().meta({ description: 'Whether its weights are public.', example: false }),
  })

const rates = () => ({
  input_price: priceSchema('input', 0.25),
  output_price: priceSchema('output', 2),
  audio_input_price: priceSchema('sound in the prompt', 1).optional(),
  cached_input_price: priceSchema('cached input', 0.025).optional(),
  cache_write_price: priceSchema('input that is written to the cache', 0.3).optional(),
  cache_write_1h_price: priceSchema('input that is cached for an hour', 0.5).optional(),
  request_price: z.number().optional().meta({ description: 'Price per request in USD, regardless of length.', example: 0.005 }),
  tool_prices: z
    .record(z.string(), z.number())
    .optional()
    .meta({ description: 'Price per call of each hosted tool, in USD.', example: { web_search: 0.01 } }),
})

const registryProvider = () =>
  z.object({
    id: textField('Id of the provider.', 'groq'),
    display_name: displayName('Groq'),
    data_policy: policy(),
    retention_days: z.int().optional().meta({ description: 'Days for which it retains request data.', example: 30 }),
    headquarters: z.string().optional().meta({ description: 'Country code.', example: 'US' }),
    docs_url: z.string().optional().meta({ description: 'Its documentation.', example: 'https://console.groq.com/docs' }),
    regions: z.array(z.string()).meta({ description: 'Regions that it serves from.', example: ['us'] }),
    endpoints: z.array(z.string()).meta({
      description: 'The API formats that it supports natively, by the names of the endpoints here. Every endpoint reaches every provider.',
      example: ['chat_completions'],
    }),
    model_count: integerField('Number of models that it offers here.', 12),
    ...origin(),
  })

const byokProvider = () =>
  z.object({
    provider: textField('Id of the provider.', 'groq'),
    display_name: displayName('Groq'),
    key_hint: z
      .string()
      .optional()
      .meta({ description: 'Which key of the provider is needed.', example: 'As in the environment variable GROQ_API_KEY' }),
    tiers_url: textField('Path of its account tiers.', '/v1/byok/providers/groq/tiers'),
  })

const tier = () =>
  z.object({
    tier: textField('A value of `account_tier`.', 'paid'),
    display_name: displayName('Paid'),
    data_policy: policy(),
    qualification: textField('Requirement for an account to be in this tier.', 'A payment method is on file.'),
  })
