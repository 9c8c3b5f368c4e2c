import { type Catalog, sold } from '@signalbox/catalog'
import { type Model, type Offer, type Provider, type ProviderFacts, withCodeNames } from '@signalbox/dialects/protocol'
import { catalogFor } from './catalog.ts'
import { invalidField } from './fault.ts'
import type { Config } from './schema.ts'
import { simulatedModels } from './simulation.ts'

/** The models that the server offers, and their providers. */
export interface ModelSetup {
  readonly models: readonly Model[]
  /** The catalog's facts about providers. */
  readonly facts: readonly ProviderFacts[]
  /** The enabled providers, with their data policies. */
  readonly providers: readonly Provider[]
  /** Notices for the operator, one line each. */
  readonly notices: readonly string[]
}

type ModelSources = Pick<Config, 'models' | 'catalog' | 'providers'>

/** The config's models, then those of the catalog that a provider serves. A name in the config takes precedence. */
export function modelsOf({ models, catalog, providers: listed }: ModelSources, providers: readonly Provider[]): ModelSetup {
  checkModelNames(models)
  const custom = models.map((model, index) => customModel(model, { field: `models[${index}]`, providers }))
  const taken = new Set(models.flatMap(namesOf))
  const known = catalogFor(catalog)
  const offered = [...(known ? sold(known, { providers }) : []), ...simulatedModels.filter(model => serves(model, providers))]
  const facts = known ? datedFacts(known) : []
  return {
    models: [...custom, ...offered.filter(({ id }) => !taken.has(id)).map(model => withoutNames(model, taken))],
    facts,
    providers: providers.map(provider => withPolicy(provider, { listed, facts })),
    notices: custom.flatMap(({ id, offers }) =>
      offers.flatMap(({ provider, price }) =>
        price ? [] : [`${id} has no price at ${provider} and is not routed there; set \`price\` on the offer, 0 if it is free.`],
      ),
    ),
  }
}

/** The data policy of a provider: from the config, else from the catalog, else the provider's own. */
function withPolicy(provider: Provider, { listed, facts }: Pick<ModelSetup, 'facts'> & { readonly listed: Config['providers'] }): Provider {
  if (listed.some(({ id, data_policy }) => id === provider.id && data_policy !== undefined)) return provider
  const known = facts.find(({ id }) => id === provider.id)
  return known ? { ...provider, dataPolicy: known.dataPolicy } : provider
}

/** Facts without an `asOf` date get that of the catalog. */
const datedFacts = ({ providers, asOf }: Catalog): readonly ProviderFacts[] =>
  providers.every(facts => facts.asOf !== undefined) ? providers : providers.map(facts => ({ asOf, ...facts }))

type ModelConfig = Config['models'][number]

const namesOf = ({ id, aliases = [] }: { readonly id: string; readonly aliases?: readonly string[] | undefined }): readonly string[] => [
  id,
  ...aliases,
]

/** Rejects two models with the same name, because a request must be unambiguous. */
function checkModelNames(models: readonly ModelConfig[]): void {
  const seen = new Set<string>()
  for (const [at, model] of models.entries()) {
    for (const [index, name] of namesOf(model).entries()) {
      if (seen.has(name)) {
        const field = index === 0 ? `models[${at}].id` : `models[${at}].aliases[${index - 1}]`
        throw invalidField(field, name, 'a name that no other model has')
      }
      seen.add(name)
    }
  }
}

interface ConfigContext {
  readonly field: string
  readonly providers: readonly Provider[]
}

function customModel(model: ModelConfig, { field, providers }: ConfigContext): Model {
  if (model.offers.length === 0) throw invalidField(`${field}.offers`, 'empty', 'a list of at least one offer')
  const { offers, ...facts } = model
  return {
    ...withCodeNames(facts),
    offers: offers.map((offer, index) => customOffer(offer, { field: `${field}.offers[${index}]`, providers })),
  }
}

function customOffer({ price, ...offer }: ModelConfig['offers'][number], { field, providers }: ConfigContext): Offer {
  const { provider: name, dialect } = offer
  const provider = providers.find(({ id }) => id === name)
  if (!provider) {
    const ids = providers.map(({ id }) => id).join(', ')
    throw invalidField(
      `${field}.provider`,
      name,
      `the id of an enabled provider (${ids}): list the provider under \`providers\` or set its key`,
    )
  }
  const speaks = provider.dialects.map(each => each.name)
  if (!speaks.includes(dialect)) throw invalidField(`${field}.dialect`, dialect, `a dialect of "${name}": ${speaks.join(', ')}`)
  return { ...withCodeNames(offer), price: price ? withCodeNames(inMicrodollars(price)) : undefined }
}

type PriceConfig = NonNullable<ModelConfig['offers'][number]['price']>

/** Converts US dollars per million tokens to microdollars per million tokens. */
const inMicrodollars = (price: PriceConfig): PriceConfig =>
  Object.fromEntries(Object.entries(price).map(([name, usd]) => [name, Math.round(usd * 1_000_000)])) as PriceConfig

const serves = ({ offers }: Model, providers: readonly Provider[]): boolean =>
  offers.every(({ provider }) => providers.some(({ id }) => id === provider))

function withoutNames(model: Model, taken: ReadonlySet<string>): Model {
  const { aliases, ...rest } = model
  return aliases ? { ...rest, aliases: aliases.filter(alias => !taken.has(alias)) } : model
}
