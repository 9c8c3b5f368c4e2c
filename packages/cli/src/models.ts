import type { Catalog } from '@signalbox/catalog'
import type { Model, Offer, Price, Provider, ProviderFacts } from '@signalbox/core/protocol'
import { catalogFor } from './catalog.ts'
import { wrong } from './fault.ts'
import type { Config } from './schema.ts'
import { simulatedModels } from './simulation.ts'

export interface ModelsOn {
  readonly models: readonly Model[]
  /** What the catalog knows of providers. */
  readonly facts: readonly ProviderFacts[]
  /** Those that are on, with the data policies that the operator knows of. */
  readonly providers: readonly Provider[]
  /** What the operator should hear, one line each. */
  readonly notices: readonly string[]
}

type Known = Pick<Config, 'models' | 'catalog' | 'providers'>

/** What can be asked for: the config's own models, then those of the catalog that a provider serves. A name of the config's wins. */
export function modelsOf({ models, catalog, providers: listed }: Known, providers: readonly Provider[]): ModelsOn {
  checkNames(models)
  const own = models.map((model, at) => ownModel(model, { field: `models[${at}]`, providers }))
  const taken = new Set(models.flatMap(namesOf))
  const known = catalogFor(catalog)
  const sold = [...(known ? soldBy(known, providers) : []), ...simulatedModels.filter(model => serves(model, providers))]
  const facts = known?.providers ?? []
  return {
    models: [...own, ...sold.filter(({ id }) => !taken.has(id)).map(model => withoutNames(model, taken))],
    facts,
    providers: providers.map(provider => withPolicy(provider, { listed, facts })),
    notices: own.flatMap(({ id, offers }) =>
      offers.flatMap(({ provider, price }) =>
        price ? [] : [`${id} has no price at ${provider} and is not routed there; give the offer a \`price\`, of 0 if it is free.`],
      ),
    ),
  }
}

/** What the config says of a provider comes first, then what the catalog says, which may be the operator's own, then its row. */
function withPolicy(provider: Provider, { listed, facts }: Pick<ModelsOn, 'facts'> & { readonly listed: Config['providers'] }): Provider {
  if (listed.some(({ id, data_policy }) => id === provider.id && data_policy !== undefined)) return provider
  const known = facts.find(({ id }) => id === provider.id)
  return known ? { ...provider, data_policy: known.data_policy } : provider
}

type Listed = Config['models'][number]

const namesOf = ({ id, aliases = [] }: { readonly id: string; readonly aliases?: readonly string[] | undefined }): readonly string[] => [
  id,
  ...aliases,
]

/** Two models of one name: a request must mean one thing. */
function checkNames(models: readonly Listed[]): void {
  const seen = new Set<string>()
  for (const [at, model] of models.entries()) {
    for (const [index, name] of namesOf(model).entries()) {
      if (seen.has(name)) {
        const field = index === 0 ? `models[${at}].id` : `models[${at}].aliases[${index - 1}]`
        throw wrong(field, name, 'a name that no other model has')
      }
      seen.add(name)
    }
  }
}

interface Place {
  readonly field: string
  readonly providers: readonly Provider[]
}

function ownModel({ id, aliases, family, display_name, author, offers }: Listed, { field, providers }: Place): Model {
  if (offers.length === 0) throw wrong(`${field}.offers`, 'empty', 'a list of at least one offer')
  return {
    id,
    ...(aliases && { aliases }),
    ...(family !== undefined && { family }),
    ...(display_name !== undefined && { display_name }),
    ...(author !== undefined && { author }),
    offers: offers.map((offer, at) => ownOffer(offer, { field: `${field}.offers[${at}]`, providers })),
  }
}

function ownOffer(offer: Listed['offers'][number], { field, providers }: Place): Offer {
  const { provider: name, provider_model_id, dialect, context_window, max_output_tokens, price, abilities } = offer
  const provider = providers.find(({ id }) => id === name)
  if (!provider) {
    const ids = providers.map(({ id }) => id).join(', ')
    throw wrong(`${field}.provider`, name, `the id of a provider that is on (${ids}), so list it under \`providers\` or set its key`)
  }
  const speaks = provider.dialects.map(each => each.name)
  if (!speaks.includes(dialect)) throw wrong(`${field}.dialect`, dialect, `what "${name}" speaks: ${speaks.join(', ')}`)
  return {
    provider: name,
    provider_model_id,
    dialect,
    ...(context_window !== undefined && { context_window }),
    ...(max_output_tokens !== undefined && { max_output_tokens }),
    ...(abilities && { abilities }),
    ...(price && { price: priceOf(price) }),
  }
}

/** US dollars per million tokens → microdollars per million tokens. */
function priceOf({ input, output, cached, cache_write }: NonNullable<Listed['offers'][number]['price']>): Price {
  const microdollars = (usd: number): number => Math.round(usd * 1_000_000)
  return {
    input: microdollars(input),
    output: microdollars(output),
    ...(cached !== undefined && { cached: microdollars(cached) }),
    ...(cache_write !== undefined && { cache_write: microdollars(cache_write) }),
  }
}

/** What is sold in languages that its very seller speaks here. */
function soldBy({ models }: Catalog, providers: readonly Provider[]): readonly Model[] {
  const spoken = new Set(providers.flatMap(({ id, dialects }) => dialects.map(({ name }) => `${id} ${name}`)))
  return models.flatMap(model => {
    const offers = model.offers.filter(({ provider, dialect }) => spoken.has(`${provider} ${dialect}`))
    return offers.length > 0 ? [{ ...model, offers }] : []
  })
}

const serves = ({ offers }: Model, providers: readonly Provider[]): boolean =>
  offers.every(({ provider }) => providers.some(({ id }) => id === provider))

function withoutNames(model: Model, taken: ReadonlySet<string>): Model {
  const { aliases, ...rest } = model
  return aliases ? { ...rest, aliases: aliases.filter(alias => !taken.has(alias)) } : model
}
