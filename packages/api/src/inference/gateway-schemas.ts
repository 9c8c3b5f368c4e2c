import { bodyCaps, dataPolicyDemands, dayMs, loggedMetadataCaps } from '@signalbox/dialects/protocol'
import * as z from 'zod/v4'
import { integerField, nonEmpty, optionalFlag, optionalObject, optionalText, textField } from '../schema-fields.ts'

// Fields shared by the inference endpoints. Dialects parse requests field by field, so these schemas only describe them. A property test
// verifies that schemas and dialects accept the same bodies.

/** A sentence in every request schema. */
export const passthrough =
  'Fields that are not listed are passed on to a provider that speaks this format; other providers ignore them, with a warning.'

/** Exactly one of `model` and `gateway.models`. */
export const modelRule = {
  oneOf: [
    { required: ['model'], properties: { model: { type: 'string' } } },
    {
      required: ['gateway'],
      properties: { gateway: { type: 'object', required: ['models'], properties: { models: { type: 'array' } } } },
    },
  ],
}

export const modelField = () =>
  nonEmpty().nullish().meta({ description: 'Id or alias of the model. Required unless `gateway.models` is set.', example: 'gpt-5-mini' })

export const extensionsField = () => optionalObject('Provider-specific parameters, merged into the request that the provider receives.', {})

/** A map of strings with at most `maxProperties` entries. */
const stringMap = (maxProperties: number) => z.record(z.string(), z.string()).meta({ maxProperties })

const loggedMetadata = ({ entries, name, value }: typeof loggedMetadataCaps) =>
  z.record(z.string().max(name), z.string().max(value)).meta({ maxProperties: entries })

export const metadataField = () => stringMap(bodyCaps.metadata).nullish().describe('Strings set by the client, passed to the provider.')

const milliseconds = () => z.int().min(1).max(dayMs).nullish()
const providerIds = () => z.array(nonEmpty()).nullish()
const pricePerMillion = () => z.number().min(0).nullish()

/** The options of this gateway, in the field `gateway`. Other fields are not allowed. */
export const gateway = () =>
  z
    .strictObject({
      models: z.array(nonEmpty()).min(1).nullish().describe('A pool of models to route among, instead of `model`.'),
      metadata: loggedMetadata(loggedMetadataCaps)
        .nullish()
        .describe('Strings that are kept in the request log and never sent to a provider.'),
      routing: routingOptions().nullish().describe('How to choose a provider.'),
    })
    .nullish()
    .describe('Options of the gateway.')

const routingOptions = () =>
  z.strictObject({
    strategy: nonEmpty()
      .nullish()
      .meta({ description: 'Name of the routing strategy. Default: that of the workspace.', example: 'balanced' }),
    tier: z.literal('priority').nullish().describe('`priority`: faster inference at a higher price, if a provider offers it.'),
    timeout_ms: milliseconds().describe('Timeout of one attempt: to the first byte of a stream, otherwise to the end of the response.'),
    deadline_ms: milliseconds().describe('Timeout of the whole request, including retries and fallbacks.'),
    allow_fallbacks: optionalFlag('Whether another provider may be tried after a failure. Default: true.'),
    order: providerIds().describe('Ids of providers to try first, in this order.'),
    only: providerIds().describe('Ids of the only providers that may be used.'),
    ignore: providerIds().describe('Ids of providers that must not be used.'),
    max_price: z
      .strictObject({
        input: pricePerMillion().describe('Maximum price of input, in USD per million tokens.'),
        output: pricePerMillion().describe('Maximum price of output, in USD per million tokens.'),
      })
      .nullish()
      .describe('Excludes providers that charge more.'),
    data_policy: z.enum(dataPolicyDemands).nullish().describe('The data policy that a provider must offer at least. Default: `any`.'),
    hedge: optionalFlag('Whether a second provider may be started while the first is silent; both prompts are billed. Streams only.'),
    byok_first: optionalFlag('Whether the workspace’s own provider keys are used before those of the gateway. Default: true.'),
    strict: optionalFlag('Turns every warning into an error with status 400.'),
  })

/** `routing_metadata` of a response. */
export const routingMetadata = () =>
  z
    .looseObject({
      provider: textField('Id of the provider that answered.', 'groq'),
      provider_model_id: textField('Name of the model at the provider.', 'gpt-5-mini-2026-01'),
      model_canonical: textField('Canonical id of the model.', 'gpt-5-mini'),
      routing_strategy: textField('Strategy that chose the provider.', 'balanced'),
      throughput_tps: z.number().optional().meta({ description: 'Output tokens per second.', example: 84.2 }),
      cost: z
        .object({
          usd: z.number().meta({ description: 'Charged to the workspace, in USD.', example: 0.000023 }),
          byok_usd: z.number().optional().describe('Paid to the provider with the workspace’s own key, in USD at list price.'),
        })
        .optional()
        .describe('Cost of the request. Absent if no price is known.'),
    })
    .meta({ id: 'RoutingMetadata', description: 'The provider that answered, and the cost.' })

export const warnings = () =>
  z
    .array(
      z
        .object({
          code: textField('Code of the warning, such as `unsupported_parameter` or `provider_timeout`.', 'unsupported_parameter'),
          message: textField('What happened.', '`top_k` is not supported by the API of this provider and was left out.'),
          param: z.string().optional().meta({ description: 'Path of the affected field.', example: 'top_k' }),
        })
        .meta({ id: 'Warning', description: 'A parameter that was dropped or clamped, or a failure that a fallback recovered from.' }),
    )
    .optional()
    .describe('Warnings. Absent if there are none.')

export const serviceTierField = () => optionalText('Processing tier, as named by the provider.')

/** Sampling options of Responses and Chat Completions. */
export const samplingFields = () => ({
  temperature: z.number().min(0).max(2).nullish().describe('Sampling temperature.'),
  top_p: z.number().min(0).max(1).nullish().describe('Probability mass of nucleus sampling.'),
  top_k: z.int().nullish().describe('Number of candidate tokens to sample from.'),
  top_logprobs: z.int().min(0).max(20).nullish().describe('Number of alternatives to return for each token.'),
  frequency_penalty: z.number().nullish().describe('Penalty for tokens by how often they occurred.'),
  presence_penalty: z.number().nullish().describe('Penalty for tokens that occurred.'),
})

/** The end user and the cache of Responses and Chat Completions. */
export const clientFields = () => ({
  user: optionalText('Identifier of the end user.'),
  safety_identifier: optionalText('Identifier of the end user for safety policies.'),
  prompt_cache_key: optionalText('Key that groups requests with the same prompt prefix.'),
  service_tier: serviceTierField(),
})

/** A function that the client runs, in Responses and Chat Completions. */
export const functionFields = () => ({
  name: nonEmpty('Name that the model uses to call it.'),
  description: optionalText('What it does, and when to call it.'),
  parameters: optionalObject('JSON schema of its arguments.', {}),
  strict: optionalFlag('Whether arguments must match the schema.'),
})

export const inputDetails = () =>
  z
    .looseObject({
      cached_tokens: integerField('Input tokens read from the prompt cache.', 0),
      cache_write_tokens: z.int().optional().meta({ description: 'Input tokens written to the prompt cache.', example: 0 }),
    })
    .optional()
    .describe('Parts of the input.')

export const outputDetails = () =>
  z
    .looseObject({ reasoning_tokens: integerField('Output tokens of reasoning.', 0) })
    .optional()
    .describe('Parts of the output.')
