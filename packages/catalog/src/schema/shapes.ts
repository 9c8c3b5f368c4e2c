import {
  type AccountTier,
  abilities,
  capabilities,
  dataPolicies,
  type HostedToolRates,
  type Model,
  type Offer,
  type OfferRegion,
  type Price,
  type PriceChange,
  type PriceTier,
  type PriceWindow,
  type PriorityRates,
  type ProviderFacts,
  type Rates,
  type Surcharge,
} from '@signalbox/core/protocol'
import * as z from 'zod/v4'
import type { ModelChanges, OfferChanges, Overrides, ProviderChanges } from '../overrides.ts'
import type { Catalog } from '../stored.ts'
import {
  address,
  byName,
  day,
  flag,
  label,
  list,
  moment,
  month,
  name,
  oneOf,
  type Shape,
  section,
  text,
  timeOfDay,
  whole,
} from './fields.ts'
import { quirks } from './quirks.ts'

const rate = () => whole(0, 'whole microdollars per million tokens (2.50 USD is 2500000)')

const toolRate = () => whole(0, 'whole microdollars per call').exactOptional()
const toolRates = {
  web_search: toolRate(),
  web_fetch: toolRate(),
  file_search: toolRate(),
  code_interpreter: toolRate(),
} satisfies Shape<HostedToolRates>

const rates = {
  input: rate(),
  output: rate(),
  input_audio: rate().exactOptional(),
  cached: rate().exactOptional(),
  cache_write: rate().exactOptional(),
  cache_write_1h: rate().exactOptional(),
  request: whole(0, 'whole microdollars per request').exactOptional(),
  tools: section(toolRates).exactOptional(),
} satisfies Shape<Rates>

const tier = section({ over: whole(1, 'a whole number of tokens'), ...rates } satisfies Shape<PriceTier>)
const inOrder = (tiers: readonly PriceTier[]): boolean => tiers.every(({ over }, at) => over > (tiers[at - 1]?.over ?? 0))

const window = section({
  days: list(z.int('1 (Monday) to 7 (Sunday)').min(1).max(7)).exactOptional(),
  from: timeOfDay(),
  to: timeOfDay(),
  ...rates,
} satisfies Shape<PriceWindow>)

const surcharge = section({
  field: name(),
  value: label(),
  percent: whole(100, 'whole percent of the usual rates').max(10_000),
} satisfies Shape<Surcharge>)

const priceFields = {
  ...rates,
  tiers: list(tier).refine(inOrder, 'a list in the order of `over`, each once').exactOptional(),
  priority: section({
    ...rates,
    up_to: whole(1, 'a whole number of tokens').exactOptional(),
  } satisfies Shape<PriorityRates>).exactOptional(),
  windows: list(window).exactOptional(),
  surcharges: list(surcharge).exactOptional(),
}

const change = section({ from: moment(), price: section(priceFields) } satisfies Shape<PriceChange>)
const inTime = (changes: readonly PriceChange[]): boolean =>
  changes.every(({ from }, at) => at === 0 || Date.parse(from) > Date.parse(changes[at - 1]?.from ?? ''))

const price = section({
  ...priceFields,
  changes: list(change).refine(inTime, 'a list in the order of `from`, each once').exactOptional(),
} satisfies Shape<Price>)

const region = section({
  region: name(),
  provider_model_id: name(),
  price: price.exactOptional(),
} satisfies Shape<OfferRegion>)

const offerFields = {
  dialect: name(),
  context_window: whole(1).exactOptional(),
  max_output_tokens: whole(1).exactOptional(),
  max_input_tokens: whole(1).exactOptional(),
  status: oneOf(['beta', 'deprecated']).exactOptional(),
  retires_at: day().exactOptional(),
  source: text().exactOptional(),
  as_of: day().exactOptional(),
  regions: list(region).exactOptional(),
  delivery: oneOf(['both', 'stream_only', 'whole_only']).exactOptional(),
  abilities: list(oneOf(abilities)).exactOptional(),
  data_policy: oneOf(dataPolicies).exactOptional(),
  price: price.exactOptional(),
  quirks: quirks.exactOptional(),
}

const offer = section({ provider: name(), provider_model_id: name(), ...offerFields } satisfies Shape<Offer>)

const modelFields = {
  aliases: list(name()).exactOptional(),
  family: label().exactOptional(),
  display_name: label().exactOptional(),
  author: label().exactOptional(),
  created: whole(0, 'Unix seconds').exactOptional(),
  knowledge_cutoff: month().exactOptional(),
  retires_at: day().exactOptional(),
  successor: name().exactOptional(),
  status: oneOf(['retired']).exactOptional(),
  open_weights: flag().exactOptional(),
  input_modalities: list(name()).exactOptional(),
  output_modalities: list(name()).exactOptional(),
  capabilities: list(oneOf(capabilities)).exactOptional(),
}

const model = section({ id: name(), ...modelFields, offers: list(offer) } satisfies Shape<Model>)

const accountTier = section({
  tier: name(),
  display_name: label(),
  data_policy: oneOf(dataPolicies),
  qualification: text(),
} satisfies Shape<AccountTier>)

const providerFields = {
  display_name: label(),
  data_policy: oneOf(dataPolicies),
  retention_days: whole(0).exactOptional(),
  headquarters: label().exactOptional(),
  docs_url: address().exactOptional(),
  env: list(name()).exactOptional(),
  tiers: list(accountTier).exactOptional(),
  source: text().exactOptional(),
  as_of: day().exactOptional(),
}

const provider = section({ id: name(), ...providerFields } satisfies Shape<ProviderFacts>)

export const catalogSchema = section({
  as_of: day(),
  models: list(model),
  providers: list(provider),
} satisfies Shape<Catalog>)

const { dialect, ...unsureOfOffer } = offerFields
const { display_name, data_policy, ...unsureOfProvider } = providerFields

export const overridesSchema = section({
  models: byName(section(orNull(modelFields) satisfies Shape<ModelChanges>).nullable()).exactOptional(),
  offers: byName(
    byName(section({ dialect: dialect.exactOptional(), ...orNull(unsureOfOffer) } satisfies Shape<OfferChanges>).nullable()),
  ).exactOptional(),
  providers: byName(
    section({
      display_name: display_name.exactOptional(),
      data_policy: data_policy.exactOptional(),
      ...orNull(unsureOfProvider),
    } satisfies Shape<ProviderChanges>).nullable(),
  ).exactOptional(),
  add: section({
    models: list(model).exactOptional(),
    offers: byName(list(offer)).exactOptional(),
    providers: list(provider).exactOptional(),
  }).exactOptional(),
} satisfies Shape<Overrides>)

/** The same fields, where `null` removes an optional one. */
function orNull<Fields extends Readonly<Record<string, z.ZodType>>>(
  fields: Fields,
): { [Name in keyof Fields]: z.ZodNullable<Fields[Name]> } {
  return Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, z.nullable(schema)])) as {
    [Name in keyof Fields]: z.ZodNullable<Fields[Name]>
  }
}
