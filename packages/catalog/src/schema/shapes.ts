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
} from '@signalbox/dialects/protocol'
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
  inputAudio: rate().exactOptional(),
  cached: rate().exactOptional(),
  cacheWrite: rate().exactOptional(),
  cacheWrite1h: rate().exactOptional(),
  request: whole(0, 'whole microdollars per request').exactOptional(),
  tools: section(toolRates).exactOptional(),
} satisfies Shape<Rates>

const tier = section({ over: whole(1, 'a whole number of tokens'), ...rates } satisfies Shape<PriceTier>)
const inOrder = (tiers: readonly PriceTier[]): boolean => tiers.every(({ over }, index) => over > (tiers[index - 1]?.over ?? 0))

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
    upTo: whole(1, 'a whole number of tokens').exactOptional(),
  } satisfies Shape<PriorityRates>).exactOptional(),
  windows: list(window).exactOptional(),
  surcharges: list(surcharge).exactOptional(),
}

const change = section({ from: moment(), price: section(priceFields) } satisfies Shape<PriceChange>)
const inTime = (changes: readonly PriceChange[]): boolean =>
  changes.every(({ from }, index) => index === 0 || Date.parse(from) > Date.parse(changes[index - 1]?.from ?? ''))

const price = section({
  ...priceFields,
  changes: list(change).refine(inTime, 'a list in the order of `from`, each once').exactOptional(),
} satisfies Shape<Price>)

const region = section({
  region: name(),
  model: name(),
  price: price.exactOptional(),
} satisfies Shape<OfferRegion>)

const offerFields = {
  api: name(),
  contextWindow: whole(1).exactOptional(),
  maxOutputTokens: whole(1).exactOptional(),
  maxInputTokens: whole(1).exactOptional(),
  status: oneOf(['beta', 'deprecated']).exactOptional(),
  retiresAt: day().exactOptional(),
  source: text().exactOptional(),
  asOf: day().exactOptional(),
  regions: list(region).exactOptional(),
  delivery: oneOf(['both', 'stream_only', 'whole_only']).exactOptional(),
  abilities: list(oneOf(abilities)).exactOptional(),
  dataPolicy: oneOf(dataPolicies).exactOptional(),
  price: price.exactOptional(),
  quirks: quirks.exactOptional(),
}

const offer = section({ provider: name(), model: name(), ...offerFields } satisfies Shape<Offer>)

const modelFields = {
  aliases: list(name()).exactOptional(),
  family: label().exactOptional(),
  displayName: label().exactOptional(),
  author: label().exactOptional(),
  created: whole(0, 'Unix seconds').exactOptional(),
  knowledgeCutoff: month().exactOptional(),
  retiresAt: day().exactOptional(),
  successor: name().exactOptional(),
  status: oneOf(['retired']).exactOptional(),
  openWeights: flag().exactOptional(),
  inputModalities: list(name()).exactOptional(),
  outputModalities: list(name()).exactOptional(),
  capabilities: list(oneOf(capabilities)).exactOptional(),
}

const model = section({ id: name(), ...modelFields, offers: list(offer) } satisfies Shape<Model>)

const accountTier = section({
  tier: name(),
  displayName: label(),
  dataPolicy: oneOf(dataPolicies),
  qualification: text(),
} satisfies Shape<AccountTier>)

const providerFields = {
  displayName: label(),
  dataPolicy: oneOf(dataPolicies),
  retentionDays: whole(0).exactOptional(),
  headquarters: label().exactOptional(),
  docsURL: address().exactOptional(),
  env: list(name()).exactOptional(),
  tiers: list(accountTier).exactOptional(),
  source: text().exactOptional(),
  asOf: day().exactOptional(),
}

const provider = section({ id: name(), ...providerFields } satisfies Shape<ProviderFacts>)

export const catalogSchema = section({
  asOf: day(),
  models: list(model),
  providers: list(provider),
} satisfies Shape<Catalog>)

const { api, ...unsureOfOffer } = offerFields
const { displayName, dataPolicy, ...unsureOfProvider } = providerFields

export const overridesSchema = section({
  models: byName(section(orNull(modelFields) satisfies Shape<ModelChanges>).nullable()).exactOptional(),
  offers: byName(
    byName(section({ api: api.exactOptional(), ...orNull(unsureOfOffer) } satisfies Shape<OfferChanges>).nullable()),
  ).exactOptional(),
  providers: byName(
    section({
      displayName: displayName.exactOptional(),
      dataPolicy: dataPolicy.exactOptional(),
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
