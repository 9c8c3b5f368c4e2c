import type { Rates } from '@signalbox/dialects/protocol'
import { type Capability, capabilities, type Model, type Offer } from '@signalbox/dialects/protocol'
import type { Gateway } from '@signalbox/gateway'
import { toUsd } from '@signalbox/gateway'
import type { ProviderRecord } from '@signalbox/workspaces'
import type { ApiReply } from '../api.ts'
import { checkNamed } from '../query.ts'
import type { Call, Site } from '../route.ts'
import { largest, offersHere, onePerProvider } from './offers.ts'
import { viewReply } from './views.ts'

/** A model with its offers at configured providers. */
interface Entry {
  readonly model: Model
  readonly offers: readonly Offer[]
}

export function registryModels({ gateway, site }: Call): ApiReply {
  const view = site.views(gateway.models.version(), 'registry/models', () => {
    const models = entriesOf(gateway).map(registryRecord)
    return { models, count: models.length }
  })
  return viewReply(view)
}

export function directoryModels({ gateway, site, query }: Call): ApiReply {
  const view = site.views(gateway.models.version(), keyOf('directory/models', query), () => {
    checkFilters(gateway, query)
    return listOf(
      entriesOf(gateway)
        .filter(entry => fits(entry, query))
        .map(directoryEntry),
    )
  })
  return viewReply(view)
}

/** Replies with the providers that have a model matching the filters. The fields of a provider do not depend on the filters. */
export function registryProviders({ gateway, site, query }: Call): ApiReply {
  const { provider, capability, author } = query
  const anyModel = capability === undefined && author === undefined
  const view = site.views(gateway.models.version(), keyOf('registry/providers', query), () => {
    checkFilters(gateway, query)
    const entries = entriesOf(gateway)
    const listed = gateway.models
      .providers()
      .filter(({ id }) => provider === undefined || provider === id)
      .filter(({ id }) => anyModel || entries.some(entry => fits(entry, { ...query, provider: id })))
    return listOf(listed.map(record => providerView(record, entries, site)))
  })
  return viewReply(view)
}

/** Throws for an unknown name, because an empty result for a mistyped name would look valid. */
function checkFilters({ models }: Gateway, { provider, author }: Call['query']): void {
  checkNamed(
    'provider',
    provider,
    models.providers().map(({ id }) => id),
  )
  checkNamed('author', author, [...new Set(models.list().map(authorOf))])
}

function entriesOf(gateway: Gateway): readonly Entry[] {
  const offersOf = offersHere(gateway)
  return gateway.models.list().map(model => ({ model, offers: offersOf(model) }))
}

const keyOf = (path: string, { provider, capability, author }: Call['query']): string =>
  JSON.stringify([path, provider, capability, author])

export const listOf = <T>(data: readonly T[]): Readonly<Record<string, unknown>> => ({ object: 'list', data, count: data.length })

const fits = ({ model, offers }: Entry, { provider, capability, author }: Call['query']): boolean =>
  (provider === undefined || offers.some(offer => offer.provider === provider)) &&
  (author === undefined || authorOf(model) === author) &&
  (capability === undefined || capabilities.some(name => name === capability && supports({ model, offers }, name)))

/** The author of a model: its own field, else the first part of an id like "acme/thinker", else its first provider. */
const authorOf = ({ id, author, offers }: Model): string =>
  author ?? (id.includes('/') ? id.slice(0, id.indexOf('/')) : (offers[0]?.provider ?? 'unknown'))

/** The model's own capabilities; if it states none, those of its offers. A model streams unless all offers are `whole_only`. */
function supports({ model, offers }: Entry, capability: Capability): boolean {
  if (model.capabilities !== undefined) return model.capabilities.includes(capability)
  if (capability === 'streaming') return offers.some(({ delivery }) => delivery !== 'whole_only')
  return offers.some(({ abilities }) => abilities?.includes(capability) ?? false)
}

function registryRecord(entry: Entry): Readonly<Record<string, unknown>> {
  const { model, offers } = entry
  const { id } = model
  return {
    id,
    family: model.family ?? id.slice(id.lastIndexOf('/') + 1),
    display_name: model.displayName ?? id,
    capabilities: Object.fromEntries(capabilities.map(name => [`supports_${name}`, supports(entry, name)])),
    input_modalities: model.inputModalities ?? ['text', ...(supports(entry, 'vision') ? ['image'] : [])],
    output_modalities: model.outputModalities ?? ['text'],
    author: authorOf(model),
    providers: onePerProvider(offers).map(({ provider }) => provider),
    has_free_provider: offers.some(({ price }) => price !== undefined && price.input === 0 && price.output === 0),
    ...newestFactsOf(offers),
  }
}

/** The source and date of the offer whose facts were read last. */
function newestFactsOf(offers: readonly Offer[]): Readonly<Record<string, unknown>> {
  const [first] = offers.toSorted((a, b) => ((a.asOf ?? '') > (b.asOf ?? '') ? -1 : 1))
  const { source, asOf } = first ?? {}
  return { source, as_of: asOf }
}

function directoryEntry(entry: Entry): Readonly<Record<string, unknown>> {
  const { model, offers } = entry
  const { created, knowledgeCutoff, retiresAt, successor, openWeights } = model
  const context_window = largest(offers.map(offer => offer.contextWindow))
  const max_output_tokens = largest(offers.map(offer => offer.maxOutputTokens))
  return {
    ...registryRecord(entry),
    aliases: model.aliases ?? [],
    context_window,
    max_output_tokens,
    prices: onePerProvider(offers).flatMap(offer => priceView(offer) ?? []),
    released_at: created === undefined ? undefined : new Date(created * 1000).toISOString(),
    knowledge_cutoff: knowledgeCutoff,
    retires_at: retiresAt,
    successor,
    open_weights: openWeights,
  }
}

function providerView(record: ProviderRecord, entries: readonly Entry[], { routes }: Site): Readonly<Record<string, unknown>> {
  const { id, displayName, dataPolicy, retentionDays, headquarters, docsURL, dialects, source, asOf } = record
  const sold = entries.map(({ offers }) => offers.filter(({ provider }) => provider === id)).filter(offers => offers.length > 0)
  const regions = new Set(sold.flat().flatMap(offer => (offer.regions ?? []).map(({ region }) => region)))
  return {
    id,
    display_name: displayName,
    data_policy: dataPolicy,
    retention_days: retentionDays,
    headquarters,
    docs_url: docsURL,
    regions: [...regions].sort(),
    // Named by the endpoint of the dialect; a dialect without an endpoint here keeps its own name.
    endpoints: dialects.map(name => routes.find(({ dialect, endpoint }) => dialect === name && endpoint !== undefined)?.endpoint ?? name),
    model_count: sold.length,
    source,
    as_of: asOf,
  }
}

const usdOf = (amount: number | undefined): number | undefined => (amount === undefined ? undefined : toUsd(amount))

/** Unknown rates are absent, because a 0 would mean free. */
const ratesView = ({
  input,
  output,
  inputAudio,
  cached,
  cacheWrite,
  cacheWrite1h,
  request,
  tools,
}: Rates): Readonly<Record<string, unknown>> => ({
  input_price: toUsd(input),
  output_price: toUsd(output),
  audio_input_price: usdOf(inputAudio),
  cached_input_price: usdOf(cached),
  cache_write_price: usdOf(cacheWrite),
  cache_write_1h_price: usdOf(cacheWrite1h),
  request_price: usdOf(request),
  tool_prices: tools && Object.fromEntries(Object.entries(tools).map(([tool, price]) => [tool, toUsd(price)])),
})

/** The price of a provider. Undefined if unknown. */
const priceView = ({ provider, price, retiresAt, source, asOf }: Offer): Readonly<Record<string, unknown>> | undefined =>
  price && {
    provider,
    ...ratesView(price),
    long_prompts: price.tiers?.map(({ over, ...rates }) => ({ over_tokens: over, ...ratesView(rates) })),
    priority: price.priority && ratesView(price.priority),
    windows: price.windows?.map(({ days, from, to, ...rates }) => ({ days, from, to, ...ratesView(rates) })),
    changes: price.changes?.map(({ from, price: next }) => ({ from, ...ratesView(next) })),
    surcharges: price.surcharges,
    retires_at: retiresAt,
    source,
    as_of: asOf,
  }
